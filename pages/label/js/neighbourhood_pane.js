// The middle pane: the neighbourhood of the current case, with its controls and the way one came.

import { button, el, fill, keyButton } from "./elements.js";
import { createGraphView } from "./graph_view.js";
import { whyInView } from "./why_tab.js";
import { count, plural } from "./words.js";

const HOPS = [1, 2, 3];
const CAPS = [60, 120, 300];

export class NeighbourhoodPane {
  constructor(app) {
    this.app = app;
    this.hops = 1;
    this.cap = CAPS[0];
    this.expanded = [];
    this.node = null;
    this.hopButtons = HOPS.map((n) => button("rf-seg", () => this.setHops(n), { "data-testid": `hops-${n}` }, String(n)));
    this.more = button("rf-link", () => this.showMore(), { "data-testid": "more" });
    this.crumbs = el("nav", { class: "rf-crumbs", "data-testid": "crumbs", "aria-label": "Where you came from" });
    this.canvas = el("div", { class: "rf-canvas", "data-testid": "graph" });
    this.note = el("span", {});
    const hops = el("span", { class: "rf-group", title: "Hops around the case (E: one more)" },
      el("small", {}, "hops"), this.hopButtons, el("kbd", {}, "E"));
    const ring = { title: "Label the ring around this case as one", "data-testid": "group" };
    this.element = el(
      "section", { class: "rf-pane rf-neighbourhood", "aria-label": "Neighbourhood" },
      el("div", { class: "rf-head rf-bar-head" },
        keyButton("Back", "B", () => app.back(), { "data-testid": "back" }),
        this.crumbs,
        hops,
        keyButton("Group", "G", () => app.labelGroup(), ring)),
      this.canvas,
      el("div", { class: "rf-foot" }, this.note, this.more),
    );
    this.graph = createGraphView(this.canvas, {
      onSelect: (nodes) => app.selectInView(nodes),
      onVerdict: (nodes, verdict) => app.verdicts.decide(verdict, nodes),
      onCentre: (node) => app.open(node),
      onExpand: (node) => this.expand(node),
      onCollapse: (node) => this.collapse(node),
    });
  }

  setHops(n) {
    this.hops = Math.max(1, Math.min(3, n));
    this.draw();
  }

  /** One hop more; from three back to one. */
  nextHop() {
    this.setHops(this.hops === 3 ? 1 : this.hops + 1);
  }

  showMore() {
    this.cap = CAPS[Math.min(CAPS.length - 1, CAPS.indexOf(this.cap) + 1)];
    this.draw();
  }

  /** More neighbours of a node, each time a few more. */
  expand(node) {
    this.expanded = [...this.expanded, node];
    this.draw();
  }

  collapse(node) {
    this.expanded = this.expanded.filter((other) => other !== node);
    this.draw();
  }

  key(node) {
    return `view:${node}:${this.hops}:${this.cap}:${this.expanded.join(",")}`;
  }

  /** The neighbourhood to show: of the case fetched ahead, or asked for with these hops. */
  found(node) {
    const { cases, views } = this.app.state;
    const plain = this.hops === 1 && this.cap === CAPS[0] && !this.expanded.length;
    return (plain ? cases.get(node)?.view : views.get(this.key(node))) || null;
  }

  draw() {
    const node = this.app.state.current;
    if (node !== this.node) {
      this.node = node;
      this.cap = CAPS[0];
      this.expanded = [];
    }
    this.hopButtons.forEach((button, at) => button.setAttribute("aria-pressed", String(this.hops === at + 1)));
    this.drawCrumbs();
    const view = node ? this.found(node) : null;
    this.canvas.classList.toggle("rf-waiting", !view);
    if (view) this.show(view);
    else if (this.shown && this.app.card.tab === "why") this.redraw();
    if (!view) this.ask(node);
  }

  ask(node) {
    if (node && (this.hops > 1 || this.app.state.cases.has(node))) {
      this.app.want(this.key(node), { kind: "view", node, hops: this.hops, cap: this.cap, expanded: this.expanded });
    }
  }

  show(view) {
    this.shown = view;
    this.shownExpanded = this.expanded;
    this.redraw();
    this.canvas.dataset.node = view.centre;
    this.note.textContent = `${plural(view.nodes.length, "node")}, ${plural(view.edges.length, "edge")} in view`;
    const atMost = this.cap === CAPS[CAPS.length - 1];
    this.more.hidden = !view.left_out;
    this.more.textContent = view.left_out ? `+${count(view.left_out)} more` : "";
    this.more.disabled = atMost;
    this.more.title = atMost ? "The view stops here; the search reaches the others" : "Show more of them";
  }

  followVerdicts() {
    for (const node of this.shown.nodes) node.case.verdict = this.app.shownVerdict(node.case.node_id);
  }

  /** New verdicts, selection or blind mode, for the picture that stands. */
  repaint() {
    if (!this.shown || this.shown.centre !== this.app.state.current) return;
    this.redraw();
  }

  redraw() {
    this.followVerdicts();
    const { app, shown, shownExpanded: expanded } = this;
    this.graph.show(shown, { blind: app.blind, selected: [...app.queue.marked], expanded, why: this.why() });
  }

  /** What raises and lowers the score of the case in the picture, while the why tab tells it. */
  why() {
    const { state, card, blind } = this.app;
    const found = card.tab === "why" && !blind && this.shown.centre === state.current && state.extras.get(`why:${state.current}`);
    return found && !found.error ? whyInView(found) : null;
  }

  drawCrumbs() {
    const { trail, current } = this.app.state;
    const link = (node) => button("rf-link", () => this.app.open(node), { title: node }, this.app.nameOf(node));
    fill(
      this.crumbs,
      trail.slice(-2).map((node) => [link(node), el("span", {}, "›")]),
      el("b", { title: current || "" }, current ? this.app.nameOf(current) : ""),
    );
  }

  destroy() {
    this.graph.destroy();
  }
}
