// The filter over the table of links: with whom, which way, of which kind, when, how much.

import { button, el, fill, option } from "./elements.js";

const TYPING_MS = 250;
const WAYS = [["", "in and out"], ["in", "in"], ["out", "out"]];
const UNKNOWN = "(unknown)";

export class LinkFilters {
  /** `onChange()` is called when another filter is in force. */
  constructor(onChange) {
    this.onChange = onChange;
    const select = (name, title, choices) => el("select", { class: "rf-select", title, "aria-label": title, "data-testid": `links-${name}`, onChange: () => onChange() }, choices);
    this.direction = select("direction", "Direction", WAYS.map(([value, text]) => option(value, text)));
    this.kind = select("kind", "Kind", []);
    this.counterparty = this.field("counterparty", "Counterparty: an id, or a part of a name", "with");
    this.since = this.field("since", "From: a year, month, day or time, 2025-03-04; or a step", "from");
    this.until = this.field("until", "To the end of: a year, month, day or time, 2025-03-04; or a step", "to");
    this.least = this.field("least", "Least amount", "least");
    this.most = this.field("most", "Largest amount", "most");
    this.all = button("rf-link", () => this.clear(), { "data-testid": "links-clear" }, "Clear");
    this.period = el("span", { class: "rf-pair" }, this.since, this.until);
    this.amounts = el("span", { class: "rf-pair" }, this.least, this.most);
    this.element = el("div", { class: "rf-link-filters", role: "search", "aria-label": "Filter of the links" },
      this.counterparty, this.direction, this.kind, this.period, this.amounts, this.all);
  }

  field(name, title, placeholder) {
    let timer = 0;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.onChange(), TYPING_MS);
    };
    return el("input", { class: "rf-input", title, "aria-label": title, placeholder, autocomplete: "off", spellcheck: false, "data-testid": `links-${name}`, onInput: soon });
  }

  /** Offer what the links of a node have. */
  offer({ columns, kinds }) {
    const has = (key) => columns.some((column) => column.key === key);
    this.kind.hidden = !has("kind");
    this.period.hidden = !has("time");
    this.amounts.hidden = !has("amount");
    if (this.kind.options.length === kinds.length + 1 && kinds.every((kind, at) => this.kind.options[at + 1].text === (kind || UNKNOWN))) return;
    const chosen = this.kind.value;
    fill(this.kind, option("any", "any kind"), kinds.map((kind) => option(`=${kind}`, kind || UNKNOWN)));
    this.kind.value = [...this.kind.options].some(({ value }) => value === chosen) ? chosen : "any";
  }

  /** What is asked for, as the server takes it; what is empty is left out. */
  get where() {
    const texts = Object.entries({ counterparty: this.counterparty, direction: this.direction, since: this.since, until: this.until });
    const sums = Object.entries({ least: this.least, most: this.most }).map(([name, field]) => [name, amountOf(field)]);
    const given = [...texts.map(([name, field]) => [name, field.value.trim() || null]), ...sums];
    if (this.kind.value.startsWith("=")) given.push(["kind", this.kind.value.slice(1)]);
    return Object.fromEntries(given.filter(([, value]) => value !== null));
  }

  get any() {
    return Object.keys(this.where).length > 0;
  }

  set(values) {
    for (const [name, value] of Object.entries(values)) this[name].value = value ?? "";
    this.onChange();
  }

  /** Forget everything without telling anybody: another node begins. */
  reset() {
    for (const name of ["counterparty", "direction", "since", "until", "least", "most"]) this[name].value = "";
    this.kind.value = "any";
  }

  clear() {
    this.reset();
    this.onChange();
  }
}

/** A number as it was typed, thousands set apart or not; null where there is none. */
function amountOf(field) {
  const text = field.value.replace(/[\s,]/g, "").replace("−", "-");
  const value = Number(text);
  field.classList.toggle("rf-wrong", Boolean(text) && !Number.isFinite(value));
  return text && Number.isFinite(value) ? value : null;
}
