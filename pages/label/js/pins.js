// Nodes that stay in the picture while the analyst walks on; kept while the tab is open.

import { button, el, fill } from "./elements.js";
import { clip } from "./graph_style.js";
import { remembered } from "./remembered.js";

const MOST = 12;

export class Pins {
  constructor(app, onChange) {
    this.app = app;
    this.onChange = onChange;
    this.store = `pins:${app.project.id}`;
    this.nodes = remembered.get("sessionStorage", this.store, []);
    this.names = new Map();
    this.element = el("span", { class: "rf-pins", "data-testid": "pins" });
  }

  has(node) {
    return this.nodes.includes(node);
  }

  /** Pin these nodes, or take their pins out where all of them have one. */
  toggle(nodes) {
    const all = nodes.every((node) => this.has(node));
    const rest = this.nodes.filter((node) => !nodes.includes(node));
    const next = all ? rest : [...rest, ...nodes];
    if (next.length > MOST) {
      this.app.dialogs.toast(`At most ${MOST} nodes can be pinned.`, "info", "pins");
      return;
    }
    this.nodes = next;
    remembered.set("sessionStorage", this.store, next);
    this.onChange();
  }

  draw(nameOf) {
    const pin = (node) => el("span", {},
      button("rf-link", () => this.app.open(node), { title: `Open ${node}` }, clip(nameOf(node))),
      button("rf-link", () => this.toggle([node]), { "aria-label": `Take the pin out of ${nameOf(node)}`, "data-testid": `unpin-${node}` }, "×"));
    fill(this.element, this.nodes.length ? ["Pinned: ", this.nodes.map(pin)] : null);
  }
}
