// The middle pane: the neighbourhood of the current case, with its controls and the way one came.

import { linksOf, measure, totalLinks } from "./edge_flows.js";
import { EdgeList } from "./edge_list.js";
import { button, el, fill, keyButton } from "./elements.js";
import { otherEnd } from "./graph_style.js";
import { createGraphView } from "./graph_view.js";
import { LinksBar } from "./links_bar.js";
import { Pins } from "./pins.js";
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
    this.bar = new LinksBar(() => this.followLinks());
    this.list = new EdgeList(app, this.bar, (by) => this.stepEdge(by));
    this.pins = new Pins(app, () => this.draw());
    this.pin = keyButton("Pin", "P", () => this.togglePin(), { title: "Keep the case or the selection in the picture", "data-testid": "pin" });
    const hops = el("span", { class: "rf-group", title: "Hops around the case (E: one more)" },
      el("small", {}, "hops"), this.hopButtons, el("kbd", {}, "E"));
    const ring = { title: "Label the ring around this case as one", "data-testid": "group" };
    this.element = el(
      "section", { class: "rf-pane rf-neighbourhood", "aria-label": "Neighbourhood" },
      el("div", { class: "rf-head rf-bar-head" },
        keyButton("Back", "B", () => app.back(), { "data-testid": "back" }),
        this.crumbs,
        hops,
        this.pin,
        keyButton("Group", "G", () => app.labelGroup(), ring)),
      this.canvas,
      this.list.element,
      this.bar.element,
      el("div", { class: "rf-foot" }, this.note, this.more, this.pins.element),
    );
    this.graph = createGraphView(this.canvas, {
      onSelect: (nodes) => app.selectInView(nodes),
      onVerdict: (nodes, verdict) => app.verdicts.decide(verdict, nodes),
      onCentre: (node) => app.open(node),
      onExpand: (node) => this.expand(node),
      onCollapse: (node) => this.collapse(node),
      onEdge: (source, target) => this.listLinks(source, target),
      onPin: (node) => this.pins.toggle([node]),
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
    return `view:${node}:${this.hops}:${this.cap}:${this.expanded.join(",")}:${this.pins.nodes.join(",")}`;
  }

  /** The neighbourhood to show: of the case fetched ahead, or asked for with these hops. */
  found(node) {
    const plain = this.plain(node);
    return plain && this.hasPins(plain) ? plain : this.app.state.views.get(this.key(node)) || null;
  }

  /** The neighbourhood fetched ahead, where it has the hops and nodes that are wanted; pins may be missing. */
  plain(node) {
    const asked = this.hops === 1 && this.cap === CAPS[0] && !this.expanded.length;
    return (asked && this.app.state.cases.get(node)?.view) || null;
  }

  hasPins(view) {
    return this.pins.nodes.every((pinned) => view.nodes.some(({ id }) => id === pinned));
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
    const shown = view || (node && this.plain(node));
    this.canvas.classList.toggle("rf-waiting", !shown);
    if (shown) this.show(shown);
    else if (this.shown && this.app.card.tab === "why") this.redraw();
    this.drawPins(); // the picture knows their names
    if (!view) this.ask(node);
  }

  ask(node) {
    if (node && (this.hops > 1 || this.app.state.cases.has(node))) {
      this.app.want(this.key(node), { kind: "view", node, hops: this.hops, cap: this.cap, expanded: this.expanded, pinned: this.pins.nodes });
    }
  }

  show(view) {
    this.shown = view;
    this.shownExpanded = this.expanded;
    this.bar.show(view);
    this.redraw();
    this.list.draw();
    this.canvas.dataset.node = view.centre;
    this.note.textContent = `${plural(view.nodes.length, "node")}, ${plural(view.edges.length, "edge")}${this.linksNote(view)} in view`;
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
    const [selected, pinned, traffic] = [[...app.state.marked], this.pins.nodes, this.bar.traffic()];
    this.graph.show(shown, { blind: app.blind, selected, expanded, why: this.why(), traffic, pinned });
  }

  /** What raises and lowers the score of the case in the picture, while the why tab tells it. */
  why() {
    const { state, card, blind } = this.app;
    const told = this.shown.centre === state.current && state.inHand === state.current;
    const found = card.tab === "why" && !blind && told && state.extras.get(`why:${state.current}`);
    return found && !found.error ? whyInView(found) : null;
  }

  // ---- links -----------------------------------------------------------------------------------------

  linksNote({ links }) {
    if (!links) return "";
    const n = totalLinks(links);
    return `, ${count(n)} ${n === 1 ? links.word : links.words}`;
  }

  /** Another period, other kinds or widths, for the picture that stands and the list under it. */
  followLinks() {
    this.graph.showTraffic(this.bar.traffic());
    this.list.restart();
  }

  listLinks(source, target) {
    this.graph.chooseEdge(source, target);
    this.list.open(source, target);
  }

  /** The links of the next edge of the selected node or the case, the largest first. */
  stepEdge(by) {
    const traffic = this.shown && this.bar.traffic();
    if (!traffic) return;
    const { marked, inHand } = this.app.state;
    const node = marked.size === 1 ? inHand : this.shown.centre;
    const own = this.shown.edges.map((edge, at) => ({ edge, flow: traffic.flows[at] }))
      .filter(({ edge, flow }) => otherEnd(edge, node) !== undefined && linksOf(flow))
      .sort((a, b) => measure(b.flow, traffic.by) - measure(a.flow, traffic.by));
    if (!own.length) return;
    const at = own.findIndex(({ edge }) => this.list.ends?.[0] === edge.from && this.list.ends[1] === edge.to);
    const next = at < 0 ? 0 : (at + by + own.length) % own.length;
    this.listLinks(own[next].edge.from, own[next].edge.to);
  }

  /** Escape: close the list, or else show all of time. Whether there was something to leave. */
  leave() {
    const had = this.list.isOpen || Boolean(this.bar.period);
    if (this.list.isOpen) this.list.close();
    else this.bar.brush.choose(null);
    return had;
  }

  focusPeriod() {
    if (!this.bar.element.hidden) this.bar.brush.focus();
  }

  // ---- pins ------------------------------------------------------------------------------------------

  togglePin() {
    const { marked, current } = this.app.state;
    const nodes = marked.size ? [...marked] : [current].filter(Boolean);
    if (nodes.length) this.pins.toggle(nodes);
  }

  drawPins() {
    const { inHand } = this.app.state;
    this.pin.classList.toggle("rf-on", Boolean(inHand) && this.pins.has(inHand));
    this.pins.draw((node) => this.app.nameOf(node));
  }

  /** What the picture knows of a node; undefined where it is not in it. */
  facts(node) {
    return this.shown?.nodes.find(({ id }) => id === node)?.case;
  }

  // ---- the way one came --------------------------------------------------------------------------------

  drawCrumbs() {
    const { trail, current, inHand } = this.app.state;
    const link = (node) => button("rf-link", () => this.app.open(node), { title: node }, this.app.nameOf(node));
    const before = inHand === current ? trail.slice(-2) : [...trail.slice(-1), current];
    fill(
      this.crumbs,
      before.map((node) => [link(node), el("span", {}, "›")]),
      el("b", { title: inHand || "" }, inHand ? this.app.nameOf(inHand) : ""),
    );
  }

  destroy() {
    this.bar.stop();
    this.graph.destroy();
  }
}
