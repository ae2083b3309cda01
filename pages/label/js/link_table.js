// A page of links as a table. Arrows move from row to row, Enter opens the counterparty, Space keeps to it.

import { button, el, fill, svg } from "./elements.js";
import { nodeName } from "./marks.js";
import { figure } from "./words.js";

const WAYS = { in: ["↓", "in"], out: ["↑", "out"], self: ["↻", "to itself"] };
const FIRST_DOWN = ["time", "amount"]; // their largest values are asked for first

export class LinkTable {
  /** `open(row)`, `only(row)`, `sort(key, descending)` and `turn(by)` are what one can do on it. */
  constructor(actions) {
    this.actions = actions;
    this.head = el("tr");
    this.body = el("tbody", { onKeydown: (event) => this.key(event), onFocusin: (event) => this.stand(event.target.closest("tr")) });
    this.table = el("table", { class: "rf-links-table", "data-testid": "links", "aria-label": "Links of the case" }, el("thead", {}, this.head), this.body);
    this.element = el("div", { class: "rf-links-scroll" }, this.table);
  }

  show(activity) {
    this.activity = activity;
    this.namesakes = shared(activity.rows);
    fill(this.head, activity.columns.map((column) => this.title(column)));
    const shown = activity.columns.filter(({ key }) => key === "amount").length && activity.rows.some((row) => row.amount % 1);
    fill(this.body, activity.rows.map((row) => this.line(row, shown ? 2 : 0)));
    const first = this.body.firstElementChild;
    if (first) first.tabIndex = 0;
  }

  title({ key, title }) {
    const { sort, descending } = this.activity;
    const [sorted, words] = [sort === key, { direction: "", counterparty: "with" }];
    const turn = () => this.actions.sort(key, sorted ? !descending : FIRST_DOWN.includes(key));
    const state = sorted ? (descending ? "descending" : "ascending") : "none";
    return el("th", { "aria-sort": state, class: `rf-col-${plain(key)}`, scope: "col" },
      button("rf-link", turn, { title: `Sort by ${title}`, "aria-label": `Sort by ${title}`, "data-testid": `sort-${key}` },
        words[key] ?? title, sorted ? (descending ? " ▼" : " ▲") : key === "direction" ? "⇅" : ""));
  }

  line(row, digits) {
    const { columns } = this.activity;
    const made = el("tr", { tabIndex: -1, "data-node": row.node_id, "data-way": row.direction });
    let other = 0;
    made.append(...columns.map(({ key }) => el("td", { class: `rf-col-${plain(key)}` }, this.cell(key, row, digits, () => row.other[other++]))));
    made.row = row;
    return made;
  }

  cell(key, row, digits, nextOther) {
    if (key === "direction") return el("span", { title: WAYS[row.direction][1], class: `rf-way rf-${row.direction}`, "aria-label": WAYS[row.direction][1] }, WAYS[row.direction][0]);
    if (key === "counterparty") return this.who(row);
    if (key === "amount") return row.amount === null ? "" : figure(row.amount, digits);
    if (key === "time" || key === "kind") return row[key];
    const text = nextOther();
    return el("span", { title: text }, text);
  }

  who(row) {
    if (row.direction === "self") return el("span", { class: "rf-quiet" }, "itself");
    const name = button("rf-link rf-open-node", () => this.actions.open(row), { title: `Open ${row.node_id}`, tabIndex: -1 }, nodeName(row.name, this.namesakes.has(row.name) ? row.node_id : row.name));
    const only = button("rf-only", () => this.actions.only(row), { title: `Only with ${row.name} (Space)`, "aria-label": `Only with ${row.name}`, tabIndex: -1 }, funnel());
    return el("span", { class: "rf-whom" }, name, only);
  }

  // ---- keyboard ----------------------------------------------------------------------------------------

  focus() {
    (this.body.querySelector("tr[tabindex='0']") || this.table.querySelector("button"))?.focus();
  }

  get focused() {
    return this.body.contains(document.activeElement);
  }

  stand(line) {
    if (!line) return;
    for (const other of this.body.querySelectorAll("tr[tabindex='0']")) other.tabIndex = -1;
    line.tabIndex = 0;
  }

  key(event) {
    const line = event.target.closest("tr");
    if (!line || event.target !== line) return;
    const act = {
      ArrowDown: () => line.nextElementSibling?.focus(), ArrowUp: () => line.previousElementSibling?.focus(),
      Home: () => this.body.firstElementChild.focus(), End: () => this.body.lastElementChild.focus(),
      PageDown: () => this.actions.turn(1), PageUp: () => this.actions.turn(-1),
      Enter: () => line.row.direction !== "self" && this.actions.open(line.row), " ": () => this.actions.only(line.row),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

/** Names that several nodes of these rows have. */
function shared(rows) {
  const first = new Map();
  const twice = rows.filter(({ name, node_id: node }) => first.set(name, first.get(name) ?? node).get(name) !== node);
  return new Set(twice.map(({ name }) => name));
}

const plain = (key) => (key.startsWith("other:") ? "other" : key);

const funnel = () => svg("svg", { viewBox: "0 0 12 12", width: 11, height: 11, "aria-hidden": "true" }, svg("path", { d: "M1 1.5h10L7.2 6v4.5L4.8 9V6Z" }));
