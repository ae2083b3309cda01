// Dialogs over the panes (help, label a group) and short messages at the bottom.

import { button, el, fill, skeleton } from "./elements.js";
import { HELP } from "./keys.js";
import { nodeName, verdictChip, VERDICTS, verdictShape } from "./marks.js";
import { remembered } from "./remembered.js";
import { count } from "./words.js";

const RING_HINT = "Untick who does not belong; nodes that have a verdict start unticked. "
  + "One undo takes the whole group back.";
// How much the nodes beside the case count, all together: [name for the server, words, of m nodes].
const GROUP_RULES = [
  ["one", "as one verdict", () => 1],
  ["root", "in between", (m) => Math.sqrt(m)],
  ["full", "in full", (m) => m],
];
const LONE_HINT = "No group was found around this case: it shares no rare value and no close links. Only the case itself is listed.";

/** How much a verdict on a group counts: the case itself in full, the others together by a rule. */
class GroupCounting {
  constructor(node, chosen) {
    this.node = node;
    this.chosen = chosen;
    const kept = remembered.get("localStorage", "group-rule");
    this.rule = GROUP_RULES.some(([rule]) => rule === kept) ? kept : "root";
    this.buttons = GROUP_RULES.map(([rule, words]) => button("rf-seg", () => this.choose(rule), { "data-testid": `counts-${rule}` }, words));
    this.said = el("span", { "data-testid": "group-counts", "aria-live": "polite" });
    const title = "Nodes that nobody looked at one by one teach the model less";
    this.element = el("div", { class: "rf-counting" }, el("span", { class: "rf-group", title }, el("small", {}, "the others count"), this.buttons), this.said);
    this.draw();
  }

  choose(rule) {
    this.rule = rule;
    remembered.set("localStorage", "group-rule", rule);
    this.draw();
  }

  draw() {
    this.buttons.forEach((made, at) => made.setAttribute("aria-pressed", String(GROUP_RULES[at][0] === this.rule)));
    const others = this.chosen().filter((node) => node !== this.node).length;
    const total = GROUP_RULES.find(([rule]) => rule === this.rule)[2](others);
    const verdicts = total === 1 ? "one" : `${Number(total.toFixed(1))} verdicts`;
    const share = others > 1 ? `the ${count(others)} others together count as ${verdicts}` : "so does the other node";
    this.said.textContent = `The case counts as one verdict${others ? `; ${share}` : ""}.`;
  }
}

export class Dialogs {
  constructor(app) {
    this.app = app;
    this.box = el("div", { class: "rf-dialog", role: "dialog", "aria-modal": "true", tabIndex: -1 });
    this.element = el("div", { class: "rf-veil", onMousedown: (event) => event.target === this.element && this.close() }, this.box);
    this.toasts = el("div", { class: "rf-toasts", role: "status", "aria-live": "polite", "data-testid": "toasts" });
    this.keys = null; // keys of the open dialog
  }

  get open() {
    return this.element.classList.contains("rf-open");
  }

  /** `onAnswers()` is called when answers arrive while the dialog is open. */
  show(title, content, keys = {}, onAnswers = null) {
    this.before = document.activeElement;
    this.keys = keys;
    this.onAnswers = onAnswers;
    const close = button("rf-link", () => this.close(), { "aria-label": "Close" }, "Close");
    fill(this.box, el("div", { class: "rf-dialog-head" }, el("h2", {}, title), close), content);
    this.element.classList.add("rf-open");
    this.box.focus({ preventScroll: true });
  }

  close() {
    this.element.classList.remove("rf-open");
    this.keys = null;
    this.waitingFor = null;
    this.onAnswers = null;
    if (this.before instanceof HTMLElement && this.before.isConnected) this.before.focus({ preventScroll: true });
  }

  help() {
    if (this.open) {
      this.close();
      return;
    }
    const line = ([keys, text]) => [el("dt", {}, keys.split(" ").map((key) => el("kbd", {}, key))), el("dd", {}, text)];
    const group = ([title, lines]) => el("section", {}, el("h3", {}, title), el("dl", {}, lines.map(line)));
    this.show("Keys", el("div", { class: "rf-help", "data-testid": "help-dialog" }, HELP.map(group)), { "?": () => this.close() });
  }

  /** A question with one way on; closing it is the other. */
  ask(title, text, yes, perform) {
    const go = () => {
      this.close();
      perform();
    };
    this.show(title, [el("p", {}, text), el("div", { class: "rf-verdicts" }, button("rf-button rf-primary", go, { "data-testid": "ask-yes" }, yes, el("kbd", {}, "Y")))], { y: go });
  }

  /** The ring around a case: choose who belongs to it, then one verdict for all: one group, one undo. */
  group(node) {
    const key = `ring:${node}`;
    const ring = this.app.state.extras.get(key);
    this.waitingFor = ring ? null : node;
    if (!ring) this.app.want(key, { kind: "ring", node });
    if (!ring) this.show("Label a group", skeleton());
    else if (ring.error) this.show("Label a group", el("p", {}, ring.error));
    else this.chooseGroup(node, ring.members, ring.reason);
  }

  chooseGroup(node, ring, reason) {
    const { state, verdicts } = this.app;
    const boxes = ring.map(({ node_id: id }) => el("input", { type: "checkbox", value: id, checked: id === node || !state.verdict(id) }));
    const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value);
    const counting = new GroupCounting(node, chosen);
    const decide = (verdict) => {
      const nodes = chosen();
      this.close();
      const offers = verdicts.offers(nodes.filter((id) => id === node));
      if (nodes.length) verdicts.decide(verdict, nodes, "ring", { weight: counting.rule, judged: [node], offers });
    };
    const member = (row, i) => el("li", {}, el("label", {},
      boxes[i], nodeName(row.name, row.node_id), verdictChip(state.verdict(row.node_id))));
    const choice = ([verdict, { key, word }]) => button(`rf-verdict rf-${verdict}`, () => decide(verdict), { "data-testid": `group-${verdict}` },
      verdictShape(verdict, 13), word, el("kbd", {}, key));
    this.show("Label a group", [
      reason && el("p", { "data-testid": "ring-reason" }, el("b", {}, "Why these: "), `${reason}.`),
      el("p", { class: "rf-quiet" }, ring.length > 1 ? RING_HINT : LONE_HINT),
      el("ul", { class: "rf-ring", "data-testid": "ring", onChange: () => counting.draw() }, ring.map(member)),
      ring.length > 1 ? counting.element : null,
      el("div", { class: "rf-verdicts" }, Object.entries(VERDICTS).map(choice)),
    ], { a: () => decide("anomalous"), n: () => decide("normal"), u: () => decide("unsure") });
  }

  /** Called when answers arrive. */
  refresh() {
    this.onAnswers?.();
    if (this.waitingFor && this.app.state.extras.has(`ring:${this.waitingFor}`)) this.group(this.waitingFor);
  }

  /** A short message; it takes the place of an earlier one `about` the same. */
  toast(text, level = "info", about = "") {
    const dismiss = button("rf-link", () => made.remove(), { "aria-label": "Dismiss" }, "×");
    const made = el("div", { class: `rf-toast rf-${level}`, "data-about": about }, text, dismiss);
    if (about) this.toasts.querySelector(`[data-about="${about}"]`)?.remove();
    this.toasts.append(made);
    while (this.toasts.children.length > 4) this.toasts.firstChild.remove();
    setTimeout(() => made.remove(), level === "error" ? 15000 : 8000);
  }
}
