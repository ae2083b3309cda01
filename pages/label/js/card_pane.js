// The right pane: who this is, the three verdicts, and what is known, in tabs (card, why, similar, activity).

import { ActivityTab } from "./activity_tab.js";
import { attributesPart, closest, disputeLine, eventsPart, fromLinksPart, historyPart, neighboursPart, newsLine, rowList, scorePart } from "./card_sections.js";
import { button, el, fill, keyButton, section, skeleton } from "./elements.js";
import { assignedMark, verdictChip, VERDICTS, verdictShape } from "./marks.js";
import { ReasonStrip } from "./reason_strip.js";
import { drawWhy } from "./why_tab.js";
import { plural } from "./words.js";

const TABS = [["card", "Card", ""], ["why", "Why", "W"], ["similar", "Similar", "S"]];
const LINKS_TAB = ["activity", "Activity", "F"]; // of graphs with links

export class CardPane {
  constructor(app) {
    this.app = app;
    this.tab = "card";
    this.drafts = new Map(); // node -> note being written
    this.activity = new ActivityTab(app);
    this.offered = app.project.links ? [...TABS, LINKS_TAB] : TABS;
    this.who = el("div", { class: "rf-who" });
    this.verdicts = el("div", { class: "rf-verdicts" });
    this.buttons = {};
    for (const [verdict, { key, word }] of Object.entries(VERDICTS)) {
      this.buttons[verdict] = el("button", {
        type: "button", class: `rf-verdict rf-${verdict}`, "data-testid": `mark-${verdict}`, title: `${word} (${key})`,
        onClick: () => app.verdicts.decide(verdict),
      }, verdictShape(verdict, 13), el("span", {}, word), el("kbd", {}, key));
      this.verdicts.append(this.buttons[verdict]);
    }
    this.reasons = new ReasonStrip(app);
    this.askPaths = keyButton("Paths", "V", () => app.paths.show(), { title: "How the case is connected with another node", "data-testid": "ask-paths" });
    this.tabs = el("div", { class: "rf-tabs", role: "tablist" });
    this.body = el("div", { class: "rf-body", "data-testid": "card-body" });
    this.element = el("section", { class: "rf-pane rf-card", "aria-label": "Node card", "data-testid": "card" },
      el("div", { class: "rf-head" }, this.who, this.verdicts, this.reasons.element, this.tabs), this.body);
  }

  /** How many nodes a verdict goes to, where these are several; else 0. */
  get several() {
    const { size } = this.app.state.marked;
    return size > 1 ? size : 0;
  }

  /** The node that the card is of: the one in hand; null where several are. */
  shownNode() {
    return this.several ? null : this.app.state.inHand;
  }

  /** Where the card is not of the case: what verdicts go to, and the way back. */
  wayBack() {
    const { current, inHand } = this.app.state;
    if (!current || (!this.several && inHand === current)) return null;
    const to = this.several ? "A verdict goes to all of them." : "A verdict goes to this node.";
    return el("div", { class: "rf-way-back", "data-testid": "way-back" }, to,
      button("rf-link", () => this.app.back(), { title: "Esc or B" }, `Back to ${this.app.nameOf(current)}`));
  }

  choose(tab) {
    this.tab = this.tab === tab && tab !== "card" ? "card" : tab;
    this.draw();
    this.app.neighbourhood.repaint();
  }

  /** The links of the case, with the keyboard in their table; a second time it is left again. */
  openActivity() {
    if (!this.app.project.links) this.app.dialogs.toast("This graph says no more than who is linked with whom.", "info", "activity");
    else {
      this.choose("activity");
      if (this.tab === "activity") this.activity.focusSoon();
    }
  }

  /** Name, id and verdict of the current case: drawn at once, from the row if the rest is not here yet. */
  drawHead() {
    const node = this.shownNode();
    const found = node ? this.app.state.cases.get(node) : null;
    this.element.dataset.node = node || "";
    this.element.dataset.complete = "no";
    this.drawWho(node, found ? found.card.row : node && this.app.knownRow(node), found);
    this.paint();
  }

  /** Show the current case, as much of it as is here. */
  draw() {
    const node = this.shownNode();
    const found = node ? this.app.state.cases.get(node) : null;
    this.drawHead();
    this.element.dataset.complete = found ? "yes" : "no";
    fill(this.tabs, this.offered.map(([name, text, key]) => el("button", {
      type: "button", role: "tab", class: "rf-tab", "aria-selected": String(this.tab === name), "data-testid": `tab-${name}`,
      onClick: () => this.choose(name),
    }, text, key && el("kbd", {}, key))));
    const same = this.body.dataset.shown === `${node}:${this.tab}`;
    if (same && document.activeElement === this.noteField) return; // a note is being written
    const scroll = this.body.scrollTop;
    if (this.several) this.drawSelected();
    else if (!node) fill(this.body, el("p", { class: "rf-quiet" }, "Choose a case in the queue, or search with / for any node."));
    else if (this.tab === "why") drawWhy(this.body, this.app, node);
    else if (this.tab === "activity") this.activity.draw(this.body, node);
    else if (!found) fill(this.body, skeleton());
    else if (this.tab === "similar") this.drawSimilar(found.card);
    else this.drawCard(node, found.card);
    this.body.scrollTop = same ? scroll : 0;
    this.body.dataset.shown = `${node}:${this.tab}`;
  }

  drawWho(node, row, found) {
    if (!node) {
      fill(this.who, el("h2", { "data-testid": "case-name" }, this.several ? `${plural(this.several, "node")} selected` : "No case"), this.wayBack());
      return;
    }
    const name = row ? row.name : node;
    fill(this.who,
      el("h2", { title: name, "data-testid": "case-name" }, name),
      el("div", { class: "rf-ids" }, el("code", { "data-testid": "case-id", title: "Node id" }, node),
        found ? el("span", {}, plural(found.card.degree, "neighbour")) : null, this.askPaths, this.watchButton(node), verdictChip(this.app.shownVerdict(node), this.app.colleague(node)),
        found?.card.assigned_to && !this.app.state.verdict(node) ? assignedMark(`assigned to ${found.card.assigned_to}`) : null),
      this.wayBack(),
      found && !this.app.hidesVerdicts(node) ? disputeLine(found.card, this.app) : null,
      found && !this.app.hidesVerdicts(node) ? newsLine(found.card) : null);
  }

  watchButton(node) {
    const on = this.app.watched.has(node);
    const title = on ? "You hear of it when it rises: click to stop that" : "Hear of it when its rank rises";
    return button("rf-link", () => this.app.watch(node, !on), { title, "aria-pressed": String(on), "data-testid": "watch" }, on ? "★ Watched" : "☆ Watch");
  }

  /** Follow the verdict of the current case without drawing the rest again. */
  paint() {
    const node = this.shownNode();
    const verdict = node ? this.app.shownVerdict(node) : null;
    for (const [name, button] of Object.entries(this.buttons)) {
      button.setAttribute("aria-pressed", String(verdict === name));
      button.disabled = !node && !this.several;
    }
    this.reasons.draw();
    const chip = this.who.querySelector(".rf-chip");
    if (chip) chip.replaceWith(verdictChip(verdict, verdict && this.app.colleague(node)));
  }

  drawCard(node, card) {
    fill(
      this.body,
      this.score(card),
      historyPart(card),
      neighboursPart(card),
      this.note(node, card),
      attributesPart(card),
      fromLinksPart(card),
      this.app.hidesVerdicts(node) ? null : eventsPart(card),
    );
  }

  /** The figures of a run; those fetched before the newest run say so until its own are here. */
  score(card) {
    const { basis, cases } = this.app.state;
    const { run } = cases.get(card.row.node_id);
    if (run !== basis.run) return scorePart(card, null, basis, this.probability(card), run);
    return scorePart(card, this.app.state.provisional(card.row), basis, this.probability(card));
  }

  /** A node's probability and what it rests on, or what is missing for one by now: a card fetched ahead tells what was then. */
  probability(card) {
    if (card.probability_band) return `Probability: ${card.probability_band}. ${card.probability_reason}`;
    return this.app.statusBar.facts?.probability_missing || card.probability_reason;
  }

  paintProbability() {
    const found = this.app.state.cases.get(this.shownNode());
    const line = this.body.querySelector("[data-testid=probability]");
    if (found && line) fill(line, this.probability(found.card));
  }

  note(node, card) {
    const draft = this.drafts.has(node) ? this.drafts.get(node) : card.note;
    this.noteField = el("textarea", {
      class: "rf-input", rows: 2, "aria-label": "Note", "data-testid": "note",
      placeholder: "Note for the case file", value: draft,
      onInput: (event) => this.drafts.set(node, event.target.value),
      onKeydown: (event) => this.noteKey(event, node, card), onBlur: () => this.saveNote(node, card),
    });
    const hint = el("small", { class: "rf-note-hint" }, "Enter saves, Esc discards");
    return section(el("span", {}, "Note ", el("kbd", {}, "M")), this.noteField, hint);
  }

  noteKey(event, node, card) {
    event.stopPropagation();
    if (event.key === "Escape") {
      this.drafts.delete(node);
      event.target.value = card.note;
      event.target.blur();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      event.target.blur();
    }
  }

  saveNote(node, card) {
    const text = this.drafts.get(node);
    if (text === undefined || text.trim() === card.note) return;
    card.note = text.trim();
    this.drafts.delete(node);
    this.app.saveNote(node, card.note);
  }

  focusNote() {
    if (this.tab !== "card") this.choose("card");
    this.noteField?.focus();
  }

  drawSelected() {
    const { state } = this.app;
    const rows = [...state.marked].map((node) => this.app.knownRow(node) || { node_id: node, name: node });
    fill(this.body, rowList(rows, this.app));
  }

  drawSimilar({ similar, similar_space: space }) {
    const hint = `${closest(space)} Click to open, Ctrl-click to select.`;
    fill(this.body, el("p", { class: "rf-quiet", "data-testid": "similar-space" }, hint), rowList(similar, this.app));
  }
}
