// The search field: by id, name or attribute; Enter opens the first hit, arrows choose another.

import { el, fill } from "./elements.js";
import { verdictChip } from "./marks.js";

export class SearchField {
  /** `choose(row)` hears which hit was taken; it is opened if nothing else is said. */
  constructor(app, { testid = "search", label = "Search", key = "/", choose = (row) => app.open(row.node_id, row) } = {}) {
    this.app = app;
    this.onChoose = choose;
    this.text = "";
    this.at = 0;
    this.input = el("input", {
      class: "rf-input", type: "search", "aria-label": label, "data-testid": testid,
      placeholder: "Search id, name or attribute", title: "Also column=value, column>10, column<10",
      onInput: debounce(150, () => this.ask()), onKeydown: (event) => this.key(event),
      onFocus: () => this.show(), onBlur: () => setTimeout(() => this.hits.classList.remove("rf-open"), 150),
    });
    this.hits = el("ul", { class: "rf-hits", role: "listbox", "data-testid": testid === "search" ? "hits" : `${testid}-hits` });
    this.element = el("div", { class: "rf-search" }, this.input, key && el("kbd", {}, key), this.hits);
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  key(event) {
    const found = this.found() || [];
    if (event.key === "Escape") {
      this.input.value = "";
      this.text = "";
      this.input.blur();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.at = Math.max(0, Math.min(found.length - 1, this.at + (event.key === "ArrowDown" ? 1 : -1)));
      this.show();
    } else if (event.key === "Enter") {
      this.text = this.input.value.trim();
      if (this.found()?.length) this.choose(this.found()[this.at] || this.found()[0]);
      else {
        this.chooseFirst = true; // the answer is on its way: open its first hit
        this.ask();
      }
    } else return;
    event.stopPropagation();
  }

  ask() {
    this.text = this.input.value.trim();
    this.at = 0;
    if (this.text) this.app.want(`search:${this.text}`, { kind: "search", text: this.text });
    this.show();
  }

  found() {
    return this.text ? this.app.state.extras.get(`search:${this.text}`) : null;
  }

  /** Draw the hits; called again when an answer arrives. */
  show() {
    const found = this.found();
    this.hits.classList.toggle("rf-open", Boolean(this.text) && document.activeElement === this.input);
    if (!this.text) return;
    if (!found) {
      fill(this.hits, el("li", { class: "rf-quiet" }, "Searching…"));
      return;
    }
    if (this.chooseFirst) {
      this.chooseFirst = false;
      if (found.length) {
        this.choose(found[0]);
        return;
      }
    }
    const none = `Nothing with “${this.text}” in its id, name or attributes.`;
    fill(this.hits, found.length ? found.map((row, at) => this.hit(row, at)) : el("li", { class: "rf-quiet" }, none));
  }

  hit(row, at) {
    const node = row.node_id;
    const className = at === this.at ? "rf-row rf-current" : "rf-row";
    return el(
      "li", { class: className, role: "option", "data-node": node, onMousedown: () => this.choose(row) },
      el("span", { class: "rf-name" }, row.name),
      el("code", {}, node === row.name ? "" : node),
      verdictChip(this.app.state.verdict(node)),
    );
  }

  choose(row) {
    this.input.value = "";
    this.text = "";
    this.hits.classList.remove("rf-open");
    this.input.blur();
    this.onChoose(row);
  }
}

function debounce(wait, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), wait);
  };
}
