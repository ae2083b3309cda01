// The links between two nodes as a table under the picture, a page at a time: the server has the others.

import { periodSeconds } from "./edge_flows.js";
import { button, el, fill, skeleton } from "./elements.js";
import { clip } from "./graph_style.js";
import { count } from "./words.js";

const PAGE = 100; // rows that the server sends at once
const REST_MS = 250; // a period that is being dragged or played is asked for when it rests

export class EdgeList {
  constructor(app, bar, step) {
    this.app = app;
    this.bar = bar; // which links are shown
    this.ends = null; // [source, target] of the edge
    this.start = 0;
    const tool = (text, title, action, id) => button("rf-button", action, { title, "aria-label": title, "data-testid": id }, text);
    this.title = el("div", { class: "rf-edge-title" });
    this.range = el("span", { "data-testid": "links-range" });
    this.earlier = tool("‹", "Links before these", () => this.turn(-PAGE), "links-before");
    this.later = tool("›", "Links after these", () => this.turn(PAGE), "links-after");
    this.body = el("div", { class: "rf-edge-rows", tabIndex: 0, "aria-label": "Links" });
    this.element = el("section", { class: "rf-edge", hidden: true, "aria-label": "Links of an edge", "data-testid": "edge-list" },
      el("div", { class: "rf-edge-head" }, this.title,
        tool("↑", "The edge before (Shift L)", () => step(-1), "edge-before"), tool("↓", "The next edge of the node (L)", () => step(1), "edge-next"),
        tool("×", "Close (Esc)", () => this.close(), "edge-close")),
      this.body,
      el("div", { class: "rf-edge-foot" }, this.range, this.earlier, this.later));
  }

  get isOpen() {
    return !this.element.hidden;
  }

  open(source, target) {
    this.ends = [source, target];
    this.start = 0;
    this.element.hidden = false;
    this.body.scrollTop = 0;
    this.draw();
  }

  close() {
    this.ends = null;
    this.element.hidden = true;
    this.app.neighbourhood.graph.chooseEdge();
  }

  turn(by) {
    this.start = Math.max(0, this.start + by);
    this.body.scrollTop = 0;
    this.draw();
  }

  /** Other links are shown than before: their list begins anew. */
  restart() {
    this.start = 0;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.draw(), REST_MS);
  }

  /** Only what the picture shows is listed: the period and kinds go along. */
  question() {
    const { view, period, off } = this.bar;
    const { kinds } = view.links;
    const [source, target] = this.ends;
    const without = kinds.map((name, at) => (off.has(name) ? at : -1)).filter((at) => at >= 0);
    return { kind: "links", source, target, start: this.start, without, ...(period ? periodSeconds(view.links, period) : {}) };
  }

  draw() {
    if (!this.isOpen) return;
    const { view } = this.bar;
    const edge = view?.edges.find(({ from, to }) => this.ends.includes(from) && this.ends.includes(to));
    if (!edge?.text) {
      this.close();
      return;
    }
    this.ends = [edge.from, edge.to];
    const question = this.question();
    const key = `links:${JSON.stringify(question)}`;
    const page = this.app.state.extras.get(key);
    fill(this.title, el("b", { title: edge.text, "data-testid": "edge-text" }, edge.text));
    this.element.dataset.complete = page ? "yes" : "no";
    if (!page) this.wait(key, question);
    else if (page !== this.page) this.show(page, view.links);
  }

  /** Rows that stand there stay until the next ones come. */
  wait(key, question) {
    if (!this.body.childElementCount) fill(this.body, skeleton());
    this.app.want(key, question);
  }

  show(page, links) {
    this.page = page;
    if (page.error) {
      fill(this.body, el("p", {}, page.error));
      return;
    }
    const last = page.start + page.rows.length;
    this.range.textContent = this.rangeText(page, last, links);
    this.earlier.hidden = this.later.hidden = page.total <= PAGE;
    this.earlier.disabled = !page.start;
    this.later.disabled = last >= page.total;
    fill(this.body, page.rows.length ? this.table(page) : null);
  }

  rangeText({ total, start }, last, { word, words }) {
    if (!total) return `No ${words} in what is shown`;
    return total > PAGE ? `${count(start + 1)}–${count(last)} of ${count(total)} ${words}` : `${count(total)} ${total === 1 ? word : words}`;
  }

  /** Columns that say nothing on this page are left out. */
  table({ rows, columns }) {
    const way = (row) => `${clip(this.app.neighbourhood.nameIn(row.source))} → ${clip(this.app.neighbourhood.nameIn(row.target))}`;
    const all = [
      ["Time", (row) => row.time], ["From → to", way], ["Amount", (row) => row.amount, "rf-number"], ["Kind", (row) => row.kind],
      ...columns.map((name, at) => [name, (row) => row.other[at]]),
    ];
    const used = all.filter(([, read]) => rows.some(read));
    const head = el("tr", {}, used.map(([name, , style]) => el("th", { class: style || "", scope: "col" }, name)));
    const line = (row) => el("tr", {}, used.map(([, read, style]) => el("td", { class: style || "", title: read(row) }, read(row))));
    return el("table", {}, el("thead", {}, head), el("tbody", {}, rows.map(line)));
  }
}
