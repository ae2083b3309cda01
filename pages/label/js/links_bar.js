// Below the picture: the kinds of links, each switched on and off, what widths go by, and the period. Hidden without links.

import { edgeFlows, measure, perKind, perPeriod } from "./edge_flows.js";
import { button, el, fill } from "./elements.js";
import { kindLook } from "./graph_style.js";
import { remembered } from "./remembered.js";
import { TimeBrush } from "./time_brush.js";
import { short } from "./words.js";

export class LinksBar {
  /** `onChange()` is called when other links are shown than before, or other widths. */
  constructor(onChange) {
    this.onChange = onChange;
    this.off = new Set(); // names of kinds that are left out; kept from case to case
    this.by = remembered.get("localStorage", "edge-width", "amount");
    this.view = null;
    this.brush = new TimeBrush(() => onChange());
    this.kinds = el("div", { class: "rf-kinds", role: "group", "aria-label": "Kinds" });
    const choice = (by) => button("rf-seg", () => this.setWidth(by), { "data-testid": `width-${by}` }, by);
    this.widths = ["amount", "count"].map(choice);
    this.width = el("span", { class: "rf-group rf-widths", title: "What the width of an edge goes by" }, el("small", {}, "width"), this.widths);
    const line = el("div", { class: "rf-links-line" }, this.brush.line, this.width);
    this.element = el("div", { class: "rf-links", "data-testid": "links-bar", hidden: true }, this.kinds, this.brush.element, line);
  }

  /** Take the links of a view; another case begins with all of time. */
  show(view) {
    const links = view.links;
    this.element.hidden = !links;
    if (this.view?.centre !== view.centre || !this.sameTimes(view)) this.brush.reset();
    this.view = view;
    if (!links) return;
    this.drawKinds(links);
    this.width.hidden = !this.hasAmounts;
    this.widths.forEach((made, at) => made.setAttribute("aria-pressed", String(["amount", "count"][at] === this.widthBy)));
    this.brush.element.hidden = this.brush.line.hidden = links.starts.length < 2;
    this.element.hidden = [this.kinds, this.width, this.brush.element].every((part) => part.hidden);
    this.brush.show(links, perPeriod(links, this.off));
  }

  sameTimes({ links }) {
    const before = this.view?.links;
    return Boolean(before && links) && before.first === links.first && before.width === links.width;
  }

  get hasAmounts() {
    return this.view.links.cells.amount.length > 0;
  }

  get widthBy() {
    return this.hasAmounts ? this.by : "count";
  }

  get period() {
    return this.brush.period;
  }

  /** Whether less than all links are shown. */
  get filtered() {
    return Boolean(this.period) || this.view.links.kinds.some((kind) => this.off.has(kind));
  }

  /** What the picture draws: a flow for each edge, and what it is measured against. Null without links. */
  traffic() {
    if (!this.view?.links) return null;
    const by = this.widthBy;
    const whole = edgeFlows(this.view);
    const sizes = whole.map((flow) => measure(flow, by)).filter((size) => size > 0);
    const range = [Math.min(...sizes), Math.max(...sizes)];
    const flows = this.filtered ? edgeFlows(this.view, this.period, this.off) : whole;
    const { kinds } = this.view.links;
    return { flows, by, range, filtered: this.filtered, kinds, coloured: kinds.length > 1 };
  }

  // ---- kinds and widths --------------------------------------------------------------------------------

  drawKinds(links) {
    const counts = perKind(links);
    const shown = links.kinds.map((name, at) => ({ name, at, links: counts[at] })).filter((kind) => kind.links);
    this.order = shown.map(({ name }) => name);
    this.kinds.hidden = links.kinds.length < 2 || !shown.length;
    fill(this.kinds, shown.map((kind, place) => this.chip(kind, place)));
  }

  chip({ name, at, links }, place) {
    const { colour, dashes } = kindLook(at, name);
    const line = el("i", { style: { borderTop: `3px ${dashes ? "dashed" : "solid"} ${colour}` } });
    const title = `${name}: ${links.toLocaleString("en-US")}. Show or hide (${place + 1})`;
    return button("rf-kind", () => this.toggleKind(place), { title, "aria-pressed": String(!this.off.has(name)), "data-kind": name },
      line, el("span", {}, name), el("small", {}, short(links)));
  }

  /** Show or hide the kind at this place of the bar. */
  toggleKind(place) {
    const name = this.order?.[place];
    if (name === undefined || this.kinds.hidden || this.element.hidden) return;
    const focused = this.kinds.contains(document.activeElement);
    if (!this.off.delete(name)) this.off.add(name);
    this.changed();
    if (focused) this.kinds.children[place]?.focus();
  }

  setWidth(by) {
    this.by = by;
    remembered.set("localStorage", "edge-width", by);
    this.changed();
  }

  changed() {
    this.show(this.view);
    this.onChange();
  }

  stop() {
    this.brush.stop();
  }
}
