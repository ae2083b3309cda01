// The left pane: search, order and filter, the ranked rows, and the bar of a multi-selection.

import { showAssign } from "./assign_dialog.js";
import { button, el, fill, option, scoreBar, secret } from "./elements.js";
import { assignedMark, movedMark, nodeName, provisionalMark, takenChip, verdictChip, VERDICTS, verdictShape } from "./marks.js";
import { isRandomCheck, OTHERS } from "./screen_state.js";
import { SearchField } from "./search_field.js";
import { showTuning } from "./tuning_dialog.js";
import { count, fullName, plural } from "./words.js";

const SCORE_FILTERS = [
  ["", "any score"], ["99-100", "top 1 %"], ["95-100", "top 5 %"], ["75-100", "top quarter"],
  ["25-75", "middle half"], ["0-25", "bottom quarter"],
];
const NEW = "new"; // unlabelled ones that the last update brought or touched
const VERDICT_FILTERS = [
  ["unlabelled", "unlabelled"], ["anomalous", "anomalous"], ["normal", "normal"], ["unsure", "unsure"],
  ["mine", "my labels"], [OTHERS, "judged by others, not by me"], ["any", "all nodes"],
  [NEW, "new with the last update"], ["changed", "judged, and changed since"],
];

const ORDER = "Order of the queue";

export class QueuePane {
  constructor(app) {
    this.app = app;
    this.search = new SearchField(app);
    this.strategy = this.select(ORDER, "strategy", () => this.order());
    this.verdict = this.select("Which nodes", "filter", () => this.filter());
    this.score = this.select("By score", "score-filter", () => this.filter());
    this.column = this.select("By attribute", "column", () => this.columnChosen());
    this.values = el("datalist", { id: "rf-values" });
    this.value = el("input", {
      class: "rf-input", placeholder: "value, > 10", "aria-label": "Attribute value", "data-testid": "value", type: "search",
      title: "A value, or for numbers a range: > 10, <= 1,000",
      list: "rf-values", autocomplete: "off", onChange: () => this.filter(),
    });
    fill(this.verdict, VERDICT_FILTERS.map(([value, text]) => option(value, text)));
    fill(this.score, SCORE_FILTERS.map(([value, text]) => option(value, text)));
    this.attribute = el("div", { class: "rf-two" }, this.column, this.value, this.values);
    this.basis = el("div", { class: "rf-queue-basis", "data-testid": "queue-basis", role: "status" });
    this.audit = button("rf-link rf-audit-line", () => app.leave("train"), { "data-testid": "audit-line" });
    this.rerank = el("input", {
      type: "checkbox", "data-testid": "provisional", disabled: !app.may["change settings"],
      onChange: (event) => {
        app.prefer("provisional", event.target.checked);
        event.target.blur();
      },
    });
    this.line = el("div", { class: "rf-queue-state", "data-testid": "queue-state" });
    this.list = el("ol", { class: "rf-rows", role: "listbox", "aria-label": "Queue", tabIndex: -1, "data-testid": "queue" });
    this.selection = el("div", { class: "rf-selection", "data-testid": "selection" });
    this.element = el(
      "section", { class: "rf-pane rf-queue", "aria-label": "Queue" },
      el("div", { class: "rf-head" }, this.search.element, el("div", { class: "rf-two" }, this.strategy, this.verdict),
        el("div", { class: "rf-three" }, this.score, this.attribute)),
      this.basis, this.audit,
      el("div", { class: "rf-queue-line" }, this.line,
        button("rf-link", () => showTuning(app), { title: "Explore or exploit, random checks, near-duplicates", "data-testid": "tune" }, "Tune"),
        el("label", { title: "Let every verdict move similar cases up or down at once, before the next run" }, this.rerank, "re-rank at once")),
      this.list, this.selection,
    );
    this.items = new Map();
    this.last = null; // row of the last plain click: where a shift-click starts
  }

  select(title, testid, onChange) {
    return el("select", { class: "rf-select", title, "aria-label": title, "data-testid": testid, onChange });
  }

  /** Fill the choices once, and follow what the server says is in force. */
  showChoices(queue, project) {
    if (!this.strategy.options.length) {
      fill(this.strategy, project.strategies.map(({ name, title }) => option(name, title)));
      fill(this.column, option("", "any attribute"), project.columns.map((column) => option(column, column)));
    }
    const where = queue.where;
    const { min_percentile: low, max_percentile: high } = where;
    const inForce = [
      [this.strategy, queue.strategy],
      [this.verdict, where.since ? NEW : where.verdict || "any"],
      [this.score, low === null && high === null ? "" : `${low ?? 0}-${high ?? 100}`],
      [this.column, where.column || ""],
      [this.value, where.value || ""],
    ];
    for (const [field, value] of inForce) {
      if (document.activeElement !== field) field.value = value;
    }
    this.strategy.title = `${ORDER}: ${this.strategy.selectedOptions[0]?.text ?? ""}`; // longer than the menu is wide
    this.value.disabled = !this.column.value;
  }

  /** Say what the rows are ordered by: a run, or a run and the verdicts since. */
  showBasis(active) {
    const { run, verdicts, enabled } = this.app.state.basis;
    if (!this.app.outbox.pending.length) this.rerank.checked = enabled; // else a click may be on its way
    const provisional = verdicts > 0 && !this.app.state.reviewing;
    const shown = [run, verdicts, provisional, active?.number].join();
    if (this.basis.dataset.shown === shown) return;
    this.basis.dataset.shown = shown;
    this.basis.dataset.provisional = provisional ? "yes" : "no";
    if (!provisional) {
      fill(this.basis, run === null ? "Not ranked yet" : `Run ${run}`);
      return;
    }
    fill(
      this.basis, el("b", {}, "Provisional"), `: ${plural(verdicts, "change")} since run ${run} · `,
      active ? `run ${active.number} is on its way` : button("rf-link", () => this.app.retrain(), { "data-testid": "basis-retrain" }, "Retrain"),
    );
  }

  /** The state of the random audit: since when there was no hit, and how many anomalies are left. */
  showAudit({ text, hint, stop }) {
    if (this.audit.textContent !== text) this.audit.textContent = text;
    this.audit.title = `${hint} Click for What is left on the Train page.`;
    this.audit.classList.toggle("rf-stop", stop);
  }

  columnChosen() {
    this.value.disabled = !this.column.value;
    this.value.value = "";
    fill(this.values);
    if (this.column.value) {
      this.app.want(`values:${this.column.value}`, { kind: "values", column: this.column.value });
      setTimeout(() => this.value.focus());
    } else this.filter();
  }

  /** Another choice of nodes: if the case in front is not among them, the first of them comes to the front. */
  filter() {
    this.app.refiltered = true;
    this.order();
  }

  /** Offer the values of the chosen column once they are here. */
  showValues() {
    const found = this.app.state.extras.get(`values:${this.column.value}`);
    if (!found || this.values.children.length === found.length) return;
    fill(this.values, found.map((value) => option(value, "")));
  }

  order() {
    const [low, high] = this.score.value ? this.score.value.split("-").map(Number) : [null, null];
    const column = this.column.value && this.value.value ? this.column.value : null;
    this.app.order(this.strategy.value, {
      verdict: this.verdict.value === NEW ? "unlabelled" : this.verdict.value,
      since: this.verdict.value === NEW ? "last" : null,
      min_percentile: low,
      max_percentile: high,
      column,
      value: column ? this.value.value : null,
    });
  }

  /** Draw all rows: on a new order, which is shown from its top, or when rows were added. */
  draw(fromTop = false) {
    const rows = this.app.state.rows;
    const scroll = this.list.scrollTop;
    this.items.clear();
    fill(this.list, rows.map((row, at) => this.item(row, at)));
    this.list.scrollTop = scroll;
    this.showState();
    this.showCurrent();
    if (fromTop) this.list.scrollTop = 0; // the next case is there, wherever the present one has come to
    this.showSelection();
  }

  item(row) {
    const node = row.node_id;
    const chip = el("span", { class: "rf-chip-place" });
    const place = this.app.state.provisional(row);
    const made = el(
      "li",
      {
        class: "rf-row", role: "option", "data-node": node, title: fullName(row.name, node),
        onClick: (event) => this.clicked(event, node), onDblclick: () => this.app.open(node),
      },
      el("span", { class: "rf-rank" }, secret(row.rank ? count(row.rank) : "–"), row.rank ? secret(place ? provisionalMark(place.moved) : movedMark(row.moved)) : null),
      nodeName(row.name, node),
      chip,
      el("span", { class: "rf-score" }, row.rank ? secret(scoreBar(row.percentile)) : null),
      el("span", { class: "rf-reason" }, row.assigned_by && assignedMark(`assigned to you by ${row.assigned_by}`), isRandomCheck(row) && auditMark(), secret(el("span", { title: row.reason || "" }, row.reason))),
    );
    this.items.set(node, { made, chip });
    fill(chip, this.chip(node));
    return made;
  }

  /** The verdict on a row, with the colleague who gave it, or the one who has the case before them. */
  chip(node) {
    const { taken } = this.app.state;
    const verdict = this.app.shownVerdict(node);
    return !verdict && taken[node] ? takenChip(taken[node]) : verdictChip(verdict, this.app.colleague(node));
  }

  paint(node) {
    const item = this.items.get(node);
    if (item) fill(item.chip, this.chip(node));
    this.showState();
  }

  paintAll() {
    this.items.forEach((item, node) => fill(item.chip, this.chip(node)));
    this.showState();
  }

  showCurrent() {
    const item = this.items.get(this.app.state.inHand);
    for (const old of this.list.querySelectorAll(":scope > .rf-current")) {
      old.classList.remove("rf-current");
      old.setAttribute("aria-selected", "false");
    }
    if (!item) return;
    item.made.classList.add("rf-current");
    item.made.setAttribute("aria-selected", "true");
    keepInView(this.list, item.made);
  }

  showState() {
    const { rows, remark } = this.app.state;
    const waiting = this.app.state.waiting();
    const said = rows.length && `${plural(rows.length, "case")}, ${count(waiting)} to decide`;
    const why = this.app.ranking ? "Ranking the nodes for the first time…" : remark;
    this.line.textContent = [said, why].filter(Boolean).join(". ");
  }

  clicked(event, node) {
    if (event.shiftKey && this.last) {
      const [a, b] = [this.app.state.position(this.last), this.app.state.position(node)].sort((x, y) => x - y);
      this.app.state.rows.slice(Math.max(0, a), b + 1).forEach((row) => this.app.state.marked.add(row.node_id));
      window.getSelection()?.removeAllRanges();
    } else if (event.ctrlKey || event.metaKey) {
      if (this.app.state.marked.has(node)) this.app.state.marked.delete(node);
      else this.app.state.marked.add(node);
      this.last = node;
    } else {
      this.last = node;
      this.app.state.marked.clear();
      this.app.open(node);
    }
    this.app.showSelection();
  }

  mark(nodes) {
    this.app.state.marked = new Set(nodes);
    this.app.showSelection();
  }

  showSelection() {
    this.items.forEach((item, node) => item.made.classList.toggle("rf-marked", this.app.state.marked.has(node)));
    const n = this.app.state.marked.size;
    this.selection.classList.toggle("rf-open", n > 0);
    if (!n) {
      fill(this.selection);
      return;
    }
    fill(
      this.selection, el("b", {}, plural(n, "node")), " selected",
      Object.entries(VERDICTS).map(([verdict, { key, word }]) =>
        button(`rf-button rf-${verdict}`, () => this.app.verdicts.decide(verdict), { title: `Mark all as ${word.toLowerCase()}: one step to undo` },
          verdictShape(verdict, 10), el("kbd", {}, key))),
      this.app.may["assign cases"] && button("rf-link", () => showAssign(this.app, [...this.app.state.marked]), { "data-testid": "assign" }, "Assign…"),
      button("rf-link", () => this.mark([]), {}, "Clear"),
    );
  }
}

function auditMark() {
  return el("em", { class: "rf-audit", title: "Drawn at random, to measure the queue itself" }, "audit");
}

/** Scroll a list by as little as shows the item; never moves the page, as scrollIntoView would. */
function keepInView(list, item) {
  const top = item.offsetTop;
  const lowest = top + item.offsetHeight - list.clientHeight;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (lowest > list.scrollTop) list.scrollTop = lowest;
}
