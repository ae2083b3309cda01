// Verdicts given on this screen: painted at once, sent, and kept so that an undo can be painted at once too.

import { count, fullName, plural } from "./words.js";

const SELECTION = "selection"; // the source of what was marked together in the queue

export class Verdicts {
  constructor(app) {
    this.app = app;
    this.state = app.state;
    this.done = []; // steps of this visit: {nodes, verdict, before, at, seq}
    this.undone = [];
  }

  /** Give a verdict: to these nodes, to the selection, or to the current case, which then gives way to the next. */
  decide(verdict, nodes = null, source = SELECTION, counts = {}, sure = false) {
    const { state, app } = this;
    const selected = [...state.marked];
    const chosen = nodes || (selected.length ? selected : [state.current]);
    if (!chosen[0] || !app.allowed("label")) return;
    const colleague = chosen.length === 1 && !app.blind && !sure && state.contradicted(chosen[0], verdict, app.analyst);
    if (colleague) {
      app.dialogs.ask(`${colleague} said ${state.verdict(chosen[0])}`, `Say ${verdict} all the same? Both verdicts are kept, and a lead can settle the case.`,
        `Yes, ${verdict}`, () => this.decide(verdict, nodes, source, counts, true));
      return;
    }
    const before = chosen.map((node) => state.verdict(node));
    const step = { nodes: chosen, verdict, before, at: state.current };
    this.done.push(step);
    this.undone = [];
    step.seq = this.give(chosen, verdict, source, counts);
    if (!nodes) state.marked.clear();
    if (chosen.includes(state.current)) app.next();
    app.showSelection();
    if (chosen.length > 1 && before.some((had) => had !== verdict)) app.dialogs.toast(groupWords(verdict, before), "info", "step");
  }

  /** Settle the dispute on a case, which stays in front. */
  settle(card, verdict) {
    const { state, app } = this;
    const node = card.row.node_id;
    if (!app.allowed("settle")) return;
    const step = { nodes: [node], verdict, before: [state.verdict(node)], at: state.current };
    this.done.push(step);
    this.undone = [];
    card.disputed = {};
    step.seq = app.outbox.post({ kind: "settle", node, verdict, analyst: app.analyst });
    state.give([node], verdict, step.seq);
    app.paint([node]);
    app.dialogs.toast(`${fullName(card.row.name, node)} settled as ${verdict}. Z takes it back.`, "info", "step");
  }

  /** Send an event that names its nodes, and paint it; `counts` says how much a group counts. Gives its number. */
  give(nodes, verdict, source, counts) {
    const one = nodes.length === 1 && source === SELECTION;
    const event = one
      ? { kind: "verdict", node: nodes[0], offer: this.offer(nodes[0]) }
      : { kind: "group", nodes, source, offers: this.offers(nodes), ...counts };
    const seq = this.app.outbox.post({ ...event, verdict, analyst: this.app.analyst });
    this.state.give(nodes, verdict, seq);
    nodes.forEach((node) => this.state.own.add(node));
    this.app.card.reasons.forget(nodes);
    this.app.paint(nodes);
    return seq;
  }

  /** As which offer the queue has shown a case: a random check stays one however it is answered. */
  offer(node) {
    return this.state.offered(node)?.offer ?? null;
  }

  /** Of several nodes that were looked at: {node: offer}, of those that the queue has shown. */
  offers(nodes) {
    return Object.fromEntries(nodes.map((node) => [node, this.offer(node)]).filter(([, offer]) => offer !== null));
  }

  undo() {
    this.reverse("undo", this.done, this.undone, (step, i) => step.before[i]);
  }

  redo() {
    this.reverse("redo", this.undone, this.done, (step) => step.verdict);
  }

  /** The server takes back the analyst's last step; if it was done on this screen, paint that without waiting. */
  reverse(kind, from, to, verdictOf) {
    if (!this.app.allowed("label")) return;
    const step = from.pop();
    const seq = this.app.outbox.post({ kind, analyst: this.app.analyst, show: !step, step: step?.seq });
    if (!step) return;
    to.push(step);
    step.nodes.forEach((node, i) => this.state.give([node], verdictOf(step, i), seq));
    step.nodes.forEach((node) => this.state.own[kind === "undo" ? "delete" : "add"](node));
    this.app.paint(step.nodes);
    if (step.at) this.app.open(step.at);
  }
}

/** What a verdict on several nodes did, given the verdicts that they had. */
function groupWords(verdict, before) {
  const others = before.filter((had) => had && had !== verdict).length;
  const same = before.filter((had) => had === verdict).length;
  const parts = [others && `${count(others)} of them had another verdict`, same && `${count(same)} had this one already`];
  return [`${plural(before.length, "node")} marked ${verdict}`, ...parts.filter(Boolean)].join(", ") + ". Z takes all of them back.";
}
