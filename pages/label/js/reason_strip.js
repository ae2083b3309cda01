// Why a verdict was given: reasons of the project's list, one click or key for the verdict just given.

import { button, el, fill } from "./elements.js";

export class ReasonStrip {
  constructor(app) {
    this.app = app;
    this.chosen = new Map(); // node -> reason given on this screen
    this.element = el("div", { class: "rf-reasons", "data-testid": "reasons" });
  }

  /** The node whose verdict a reason goes to: the one in hand if this analyst has judged it, else the one judged last. */
  target() {
    const { state, verdicts, analyst } = this.app;
    const judged = (node) => node && state.verdict(node) && (state.own.has(node) || state.cases.get(node)?.card.judged_by.includes(analyst));
    return [state.inHand, verdicts.done.at(-1)?.nodes[0]].find(judged) || null;
  }

  /** The reason that a node's verdict has by now. */
  reason(node) {
    if (this.chosen.has(node)) return this.chosen.get(node);
    const own = ({ kind, analyst }) => kind === "label" && analyst === this.app.analyst;
    return this.app.state.cases.get(node)?.card.events.find(own)?.reason || "";
  }

  /** Give the reason at this place of the list; the one that it has is taken away. */
  choose(at) {
    const node = this.target();
    const wanted = this.app.project.reasons[at];
    if (!node || !wanted || !this.app.allowed("label")) return;
    const reason = wanted === this.reason(node) ? "" : wanted;
    this.chosen.set(node, reason);
    this.app.outbox.post({ kind: "reason", node, reason, analyst: this.app.analyst });
    this.app.state.stale.add(node);
    this.shown = "";
    this.draw();
  }

  /** A new verdict has no reason yet. */
  forget(nodes) {
    nodes.forEach((node) => this.chosen.set(node, ""));
  }

  draw() {
    const node = this.target();
    const verdict = node && this.app.state.verdict(node);
    const shown = node ? JSON.stringify([node, verdict, this.reason(node), this.app.project.reasons]) : "";
    if (shown === this.shown) return;
    this.shown = shown;
    fill(this.element, node && [
      el("small", {}, `Why ${verdict}? `, el("b", {}, this.app.nameOf(node)), el("kbd", {}, "R")),
      this.app.project.reasons.map((reason, at) => this.button(node, reason, at)),
    ]);
  }

  button(node, reason, at, onClick = () => this.choose(at)) {
    return button("rf-reason-chip", onClick, {
      "aria-pressed": String(reason === this.reason(node)), "data-reason": reason, title: at < 9 ? `Shift ${at + 1}` : "",
    }, reason);
  }

  /** All reasons with their numbers, as keys. */
  ask() {
    const node = this.target();
    const { dialogs, project, state } = this.app;
    if (!node) {
      dialogs.toast("Give a verdict first: a reason goes with it.", "info", "reason");
      return;
    }
    const pick = (at) => {
      dialogs.close();
      this.choose(at);
    };
    const keys = Object.fromEntries(project.reasons.slice(0, 9).map((_, at) => [String(at + 1), () => pick(at)]));
    const line = (reason, at) => el("li", {}, at < 9 && el("kbd", {}, String(at + 1)), this.button(node, reason, at, () => pick(at)));
    dialogs.show(`Why is ${this.app.nameOf(node)} ${state.verdict(node)}?`,
      el("ol", { class: "rf-reason-list", "data-testid": "reason-list" }, project.reasons.map(line)), keys);
  }
}
