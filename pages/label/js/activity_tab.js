// The activity tab: the links of the case as a table with a filter, a timeline and totals. The server filters and sorts.

import { button, el, fill, section, skeleton } from "./elements.js";
import { LinkFilters } from "./link_filters.js";
import { LinkTable } from "./link_table.js";
import { LinkTimeline } from "./link_timeline.js";
import { nodeName } from "./marks.js";
import { remembered } from "./remembered.js";
import { count } from "./words.js";

const PAGE = 200;

export class ActivityTab {
  constructor(app) {
    this.app = app;
    this.node = null;
    this.found = null; // the answer that is shown
    this.order = {}; // sort and descending, as chosen
    this.by = remembered.get("localStorage", "activity-by");
    this.filters = new LinkFilters(() => this.ask());
    this.timeline = new LinkTimeline((since, until) => this.filters.set({ since, until }), (by) => this.setMeasure(by));
    this.table = new LinkTable({
      open: (row) => this.open(row), only: (row) => this.filters.set({ counterparty: row.node_id }),
      sort: (sort, descending) => this.sort({ sort, descending }), turn: (by) => this.turn(by),
    });
    this.totals = el("p", { class: "rf-totals", "data-testid": "totals", role: "status" });
    this.main = el("div");
    this.problem = el("p", { class: "rf-problem", role: "alert" });
    this.pages = el("div", { class: "rf-pages" });
    this.content = el("div", {}, this.timeline.element, this.filters.element, this.problem, this.totals, this.main, this.table.element, this.pages);
    this.element = el("div", { class: "rf-activity", "data-testid": "activity" });
  }

  /** Show the case, as much of it as is here; what was typed and where one stands stay. */
  draw(body, node) {
    if (node !== this.node) this.begin(node);
    if (this.element.parentElement !== body) fill(body, this.element);
    this.take();
    this.takeFile();
  }

  begin(node) {
    this.node = node;
    this.found = null;
    this.focusNext ||= this.table.focused; // Enter opens a counterparty: its table goes on from there
    this.filters.reset();
    fill(this.element, skeleton());
    this.ask();
  }

  // ---- questions and answers ---------------------------------------------------------------------------

  ask(offset = 0) {
    const question = { kind: "activity", node: this.node, where: this.filters.where, ...this.order, by: this.by, offset, n: PAGE };
    const key = `activity:${this.node}:${JSON.stringify(question)}`;
    if (this.asked) this.app.wanted.delete(this.asked);
    this.asked = key;
    this.content.classList.add("rf-waiting");
    this.app.want(key, question);
  }

  take() {
    const answer = this.app.state.extras.get(this.asked);
    if (!answer) return;
    this.app.state.extras.delete(this.asked);
    this.asked = null;
    this.content.classList.remove("rf-waiting");
    this.problem.textContent = answer.error || "";
    if (!answer.error) this.show(answer);
    else if (!this.found) fill(this.element, el("p", { class: "rf-quiet" }, answer.error));
  }

  show(activity) {
    const focused = this.focusNext || this.table.focused;
    this.focusNext = false;
    this.found = activity;
    if (this.content.parentElement !== this.element) fill(this.element, this.content);
    this.filters.offer(activity);
    this.timeline.show(activity, this.filters.where);
    this.drawTotals(activity);
    this.drawMain(activity);
    this.table.show(activity);
    this.drawPages(activity);
    if (focused) this.table.focus();
  }

  /** From the keyboard: as soon as the table is here, arrows move in it. */
  focusSoon() {
    this.focusNext = true;
    if (this.found && !this.asked && this.element.isConnected) this.show(this.found);
  }

  // ---- parts -------------------------------------------------------------------------------------------

  drawTotals({ totals, found, of, words }) {
    const rest = found < of ? ` (of ${count(of)} ${words})` : "";
    fill(this.totals, found || !of ? `${totals.text}${rest}.` : `None of ${count(of)} ${words} pass the filter.`);
    this.filters.all.hidden = !this.filters.any;
  }

  drawMain({ counterparties, by, found }) {
    const line = (party) => el("li", {},
      button("rf-link rf-open-node", () => this.open(party), { title: `Open ${party.node_id}` }, nodeName(party.name, party.node_id)),
      el("small", { title: party.text }, party.text),
      button("rf-link", () => this.filters.set({ counterparty: party.node_id }), { "data-testid": `only-${party.node_id}`, title: `Only with ${party.name}` }, "only"));
    const alone = counterparties.length < 2 && found > 0; // the totals say it already
    fill(this.main, !counterparties.length || alone ? null : section(`Main counterparties by ${by}`, el("ul", { class: "rf-main-parties", "data-testid": "main-parties" }, counterparties.map(line))));
  }

  drawPages({ offset, rows, found, words }) {
    const to = offset + rows.length;
    const save = button("rf-link", () => this.save(), { "data-testid": "links-csv", title: `Download the ${count(found)} ${words} found as a CSV file` }, "Download CSV");
    const turn = (by, text, name, disabled) => button("rf-button", () => this.turn(by), { disabled, "aria-label": `${name} page`, title: `${name} page`, "data-testid": `links-${name.toLowerCase()}` }, text);
    fill(this.pages,
      found > PAGE ? [turn(-1, "‹", "Previous", offset === 0), turn(1, "›", "Next", to >= found)] : null,
      found ? el("span", { "data-testid": "links-shown" }, `${count(offset + 1)}–${count(to)} of ${count(found)}`) : null,
      found ? save : null);
  }

  // ---- actions -----------------------------------------------------------------------------------------

  open({ node_id: node, name }) {
    this.app.open(node, this.app.knownRow(node) || { node_id: node, name, inclusion_probability: null });
  }

  sort(order) {
    this.order = order;
    this.ask();
  }

  setMeasure(by) {
    this.by = by;
    remembered.set("localStorage", "activity-by", by);
    this.ask(this.found.offset);
  }

  /** The next page, or the one before. */
  turn(by) {
    const offset = this.found.offset + by * PAGE;
    if (offset >= 0 && offset < this.found.found) this.ask(offset);
  }

  save() {
    this.file = `activity:${this.node}:csv`;
    this.app.state.extras.delete(this.file);
    this.app.want(this.file, { kind: "activity", node: this.node, where: this.filters.where, csv: true });
  }

  takeFile() {
    const answer = this.file && this.app.state.extras.get(this.file);
    if (!answer) return;
    this.app.state.extras.delete(this.file);
    this.file = null;
    if (answer.error) this.app.dialogs.toast(answer.error, "error");
    else download(`${this.found.words}_${this.node.replace(/[^\w.-]+/g, "_")}.csv`, answer.csv);
  }
}

function download(name, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  link.dispatchEvent(new MouseEvent("click"));
  setTimeout(() => URL.revokeObjectURL(link.href), 60000); // the browser may still be reading it
}
