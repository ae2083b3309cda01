// How the case is connected with another node: the shortest ways, ways in the order of time, common neighbours.

import { button, el, fill, section, skeleton } from "./elements.js";
import { nodeName } from "./marks.js";
import { SearchField } from "./search_field.js";
import { count, fullName, plural } from "./words.js";

const OFFERED = 6; // nodes at hand that can be taken without a search

export class PathsDialog {
  constructor(app) {
    this.app = app;
  }

  /** Ask for the other node; the one that is selected, if it is one, is taken at once. */
  show() {
    const { app } = this;
    this.from = app.state.current;
    if (!this.from) return;
    this.other = null;
    this.search = new SearchField(app, { testid: "paths-search", label: "Connected with", key: "", choose: (row) => this.ask(row.node_id, row.name) });
    this.result = el("div", { class: "rf-paths", "data-testid": "paths" });
    const title = `How is ${fullName(app.nameOf(this.from), this.from)} connected with …`;
    app.dialogs.show(title, [this.search.element, this.atHand(), this.result], { v: () => app.dialogs.close() }, () => this.refresh());
    const selected = [...app.state.marked].filter((node) => node !== this.from);
    if (selected.length === 1) this.ask(selected[0]);
    else this.search.focus();
  }

  /** Nodes that one may mean: selected ones, pinned ones, those one came from. */
  atHand() {
    const { state, neighbourhood } = this.app;
    const known = [...state.marked, ...neighbourhood.pins.nodes, ...[...state.trail].reverse()];
    const nodes = [...new Set(known)].filter((node) => node !== this.from).slice(0, OFFERED);
    if (!nodes.length) return null;
    const offer = (node) => button("rf-link", () => this.ask(node), { title: node, "data-testid": `connect-${node}` }, this.app.nameOf(node));
    return el("p", { class: "rf-at-hand" }, el("small", {}, "selected, pinned or seen before:"), nodes.map(offer));
  }

  get key() {
    return `paths:${this.from}:${this.other}`;
  }

  ask(node, name = this.app.nameOf(node)) {
    this.other = node;
    this.search.input.placeholder = fullName(name, node);
    if (!this.app.state.extras.has(this.key)) this.app.want(this.key, { kind: "paths", node: this.from, other: node });
    this.drawn = null;
    this.refresh();
  }

  /** Called when answers arrive. */
  refresh() {
    this.search.show();
    if (!this.other || this.drawn === this.key) return;
    const found = this.app.state.extras.get(this.key);
    if (!found) fill(this.result, skeleton());
    else {
      this.drawn = this.key;
      fill(this.result, found.error ? el("p", {}, found.error) : this.parts(found));
      this.result.querySelector("button")?.focus({ preventScroll: true });
    }
  }

  // ---- the answer --------------------------------------------------------------------------------------

  parts(found) {
    return [
      found.remarks.map((text) => el("p", { class: "rf-quiet" }, text)),
      found.routes.length ? section("Shortest ways", el("div", { class: "rf-routes" }, found.routes.map((route) => this.route(route)))) : null,
      found.in_time.length ? section("In the order of time", el("div", { class: "rf-routes" }, found.in_time.map((route) => this.route(route)))) : null,
      found.common_total ? this.common(found) : null,
    ];
  }

  /** A way from the top down: a node, what runs to the next one, that node, and so on. */
  route({ title, node_ids: nodes, steps }) {
    const stop = (node, name) => el("li", { class: "rf-stop-node" }, this.node(node, name));
    const step = ({ target, target_name: name, text }) => [el("li", { class: "rf-step" }, text), stop(target, name)];
    return el("article", { class: "rf-route", "data-nodes": nodes.join(" ") },
      el("header", {}, el("b", {}, title),
        button("rf-link", () => this.showInPicture(nodes), { "data-testid": "show-route", title: "Pin these nodes in the neighbourhood" }, "Show in the picture")),
      el("ol", {}, stop(steps[0].source, steps[0].source_name), steps.map(step)));
  }

  common({ common, common_total: total, source_name: a, target_name: b }) {
    const line = ({ node_id: node, name, degree, text }) => el("li", {}, this.node(node, name),
      el("small", {}, plural(degree, "neighbour")), el("p", { class: "rf-quiet" }, text));
    const more = total - common.length;
    return section(`Common neighbours of ${a} and ${b}: ${count(total)}`,
      el("ul", { class: "rf-common", "data-testid": "common" }, common.map(line), more ? el("li", { class: "rf-quiet" }, `and ${count(more)} more, with more neighbours`) : null));
  }

  node(node, name) {
    const open = () => {
      this.app.dialogs.close();
      this.app.open(node);
    };
    return button("rf-link rf-open-node", open, { title: `Open ${node}`, "data-node": node }, nodeName(name, node));
  }

  /** Pin the nodes of a way, so that the neighbourhood shows them all; the case is there anyway. */
  showInPicture(nodes) {
    const { pins } = this.app.neighbourhood;
    const fresh = nodes.filter((node) => node !== this.from && !pins.has(node));
    this.app.dialogs.close();
    if (fresh.length) pins.toggle(fresh);
  }
}
