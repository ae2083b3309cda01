// The screen as a whole: takes what the server sends, keeps the panes in step, and turns actions into events.

import { CardPane } from "./card_pane.js";
import { Dialogs } from "./dialogs.js";
import { append, el } from "./elements.js";
import { Keys } from "./keys.js";
import { NeighbourhoodPane } from "./neighbourhood_pane.js";
import { Outbox } from "./outbox.js";
import { PathsDialog } from "./paths_dialog.js";
import { QueuePane } from "./queue_pane.js";
import { remembered } from "./remembered.js";
import { ScreenState } from "./screen_state.js";
import { StatusBar } from "./status_bar.js";
import { Verdicts } from "./verdicts.js";
import { fullName } from "./words.js";

const POLL_LIVE_MS = 600; // while a run goes on
const POLL_IDLE_MS = 4000; // news from other analysts
const COMING = 6; // cases that the server is told of, so that nobody else is asked about them
const REFILL_BELOW = 15; // undecided rows left
const NOTHING_LEFT = "Nothing left to decide in this queue. Retrain (T), or choose another order or filter.";

export class Workbench {
  constructor(parent, data) {
    this.project = data.project;
    this.state = new ScreenState();
    this.verdicts = new Verdicts(this);
    this.wanted = new Map(); // key -> question not yet answered
    this.seenNotice = data.notices.length ? data.notices[data.notices.length - 1].id : 0;
    this.seenOpen = 0;
    this.refiltered = false; // the analyst has chosen other nodes, and their queue is on its way
    this.strangers = new Map(); // rows of nodes opened before, or from elsewhere than the queue
    this.blind = remembered.get("localStorage", "blind", false);
    this.login = data.login; // the name of every verdict is that of the login, if there is one
    this.may = data.may;
    this.analyst = (!this.login && remembered.get("localStorage", "analyst", "")) || data.analyst;
    // What one person left unsent must not be sent under the name of the next.
    this.outbox = new Outbox(this.login ? `${data.project.id}:${data.analyst}` : data.project.id, () => this.compose(), (n) => this.showSettled(n));
    this.outbox.onSilence = () => this.login && this.leaveIfOut();
    this.dialogs = new Dialogs(this);
    this.paths = new PathsDialog(this);
    this.watched = new Set(); // nodes whose rise the analyst wants to hear of
    this.queue = new QueuePane(this);
    this.card = new CardPane(this);
    this.statusBar = new StatusBar(this);
    this.root = el("div", { class: "rf-workbench", "data-testid": "workbench" });
    this.neighbourhood = new NeighbourhoodPane(this);
    const panes = el("main", { class: "rf-panes" }, this.queue.element, this.neighbourhood.element, this.card.element);
    append(this.root, [this.statusBar.element, panes, this.dialogs.element, this.dialogs.toasts]);
    this.root.addEventListener("change", (event) => event.target.tagName === "SELECT" && event.target.blur());
    // After a click the button keeps no focus: Space would press it again, for the next case.
    this.root.addEventListener("click", (event) => event.detail && event.target.closest("button")?.blur());
    parent.append(this.root);
    this.keys = new Keys(this);
    this.onGoto = (event) => this.open(event.detail.node);
    window.addEventListener("ringfence:goto", this.onGoto);
    this.onVisible = () => document.visibilityState === "visible" && this.outbox.poke();
    document.addEventListener("visibilitychange", this.onVisible);
    this.onLink = (event) => this.finishFirst(event);
    document.addEventListener("click", this.onLink, true);
    this.applyBlind();
    this.statusBar.showAnalyst(this.analyst);
  }

  /** A link to another page waits until the server has the last verdicts: there they are expected. */
  finishFirst(event) {
    const link = event.target.closest?.("a[href]");
    if (!link) return;
    if (this.outbox.quiet) {
      this.outbox.hold();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.outbox.whenQuiet(() => link.click());
  }

  // ---- from the server -------------------------------------------------------------------------------

  /** Take one payload. Every part can come twice or late: each says what it is a change of. */
  receive(data, send) {
    [this.outbox.send, this.project] = [send, data.project];
    this.outbox.receive(data.reply, data.ack);
    const arrived = this.state.setRun(data.strip.run ? data.strip.run.id : "");
    const changed = this.state.setLabels(data.labels, data.ack, this.outbox.client);
    const requeued = this.state.setQueue(data.queue);
    const moved = this.state.setColleagues(data.queue);
    this.ranking = !data.strip.run && Boolean(data.strip.active);
    this.watched = new Set(data.watched);
    this.takeAnswers(data.answers);
    this.statusBar.show(data.strip, data.project);
    this.card.paintProbability();
    this.queue.showChoices(data.queue, data.project);
    this.queue.showBasis(data.strip.active);
    this.queue.showAudit(data.audit);
    if (requeued) this.queue.draw(requeued === "order");
    else if (changed.length || moved) this.queue.paintAll();
    if (requeued === "order") this.followFilter();
    this.chooseFirst(data);
    this.giveWay();
    if (changed.length || arrived) {
      this.repaint();
      this.announce();
    }
    this.notices(data.notices);
    this.refill(data.queue);
    this.askForMore();
    this.schedule(data.strip);
    this.showSettled(this.outbox.pending.length);
  }

  showSettled(unconfirmed) {
    this.root.dataset.settled = unconfirmed ? "no" : "yes";
  }

  takeAnswers(answers) {
    let current = false;
    for (const [key, value] of Object.entries(answers)) {
      this.wanted.delete(key);
      if (key.startsWith("case:") && value.error) this.refused(key.slice(5), value.error);
      else if (key.startsWith("case:")) this.state.keep(key.slice(5), value);
      else if (key.startsWith("view:")) this.state.views.set(key, value);
      else this.state.extras.set(key, value);
      current ||= [this.state.current, this.state.inHand].some((node) => key.includes(`:${node}`));
    }
    if (current) this.drawSoon();
    if (current && this.blind) this.queue.paint(this.state.current);
    this.queue.search.show();
    this.queue.showValues();
    this.neighbourhood.list.draw();
    this.dialogs.refresh();
  }

  /** A case that is not there, for instance from an old link. */
  refused(node, reason) {
    this.dialogs.toast(reason, "error");
    this.state.rows = this.state.rows.filter((row) => row.node_id !== node);
    if (this.state.current === node) {
      this.state.current = null;
      this.next();
    }
  }

  /** At the start: the case named by the address, else where this tab stood, else the first that waits. */
  chooseFirst(data) {
    if (data.open && data.open.n > this.seenOpen) {
      this.seenOpen = data.open.n;
      this.open(data.open.node);
    }
    if (this.state.current) return;
    const last = remembered.get("sessionStorage", `case:${this.project.id}`);
    const stood = last && !this.state.verdict(last) ? last : null;
    const node = stood || this.state.coming(1)[0] || this.state.rows.find((row) => !this.state.taken[row.node_id])?.node_id;
    if (node) this.open(node);
    else this.drawSoon();
  }

  /** A case that came to the front by its turn, and that a colleague turns out to have, gives way to the next. */
  giveWay() {
    const { current, taken, marked } = this.state;
    if (marked.size) return; // the analyst is at work with it
    if (current && current === this.cameTo && taken[current] && !this.state.verdict(current) && this.state.coming(1).length) this.next();
  }

  followFilter() {
    const { rows, current } = this.state;
    if (this.refiltered && rows.length && !this.state.row(current)) this.open(rows[0].node_id);
    this.refiltered = false;
  }

  notices(notices) {
    for (const notice of notices) {
      if (notice.id <= this.seenNotice) continue;
      this.seenNotice = notice.id;
      this.dialogs.toast(notice.text, notice.level, notice.about);
    }
  }

  /** Ask for more rows before the undecided ones run out; once per version of the queue. */
  refill(queue) {
    const length = `${queue.key}:${queue.version}`;
    const enough = this.state.coming(REFILL_BELOW).length === REFILL_BELOW;
    if (queue.complete || enough || this.askedAt === length) return;
    this.askedAt = length;
    this.outbox.post({ kind: "more" });
  }

  schedule({ active }) {
    clearTimeout(this.poll);
    this.poll = setTimeout(() => {
      if (document.visibilityState === "visible") this.outbox.poke();
    }, active ? POLL_LIVE_MS : POLL_IDLE_MS);
  }

  // ---- to the server ---------------------------------------------------------------------------------

  compose() {
    const cases = this.state.toFetch().map((node) => ({ key: `case:${node}`, kind: "case", node }));
    return {
      project: this.project.id,
      analyst: this.analyst,
      current: this.state.current,
      coming: this.state.coming(COMING),
      labels: this.state.version,
      queue: this.state.queueKey,
      rows: this.state.queueVersion,
      want: [...this.wanted.values(), ...cases],
    };
  }

  want(key, question) {
    if (this.wanted.has(key)) return;
    this.wanted.set(key, { key, ...question });
    if (this.wanted.size > 12) this.wanted.delete(this.wanted.keys().next().value);
    this.outbox.poke();
  }

  askForMore() {
    if (this.wanted.size || this.state.toFetch().length) this.outbox.poke();
    else this.outbox.flush();
  }

  // ---- actions ---------------------------------------------------------------------------------------

  next() {
    const [node] = this.state.coming(1);
    if (node) {
      this.open(node);
      this.cameTo = node;
    } else this.dialogs.toast(this.state.decided() < this.project.n_nodes ? NOTHING_LEFT : "Every node has a verdict.");
  }

  step(by) {
    const node = this.state.neighbourInQueue(by);
    if (node && node !== this.state.current) this.open(node);
  }

  open(node, row = null) {
    if (row) this.strangers.set(node, row);
    this.state.open(node);
    this.moved();
  }

  /** From the selection to the case, from there to the one before. */
  back() {
    if (this.state.marked.size) this.queue.mark([]);
    else if (this.state.back()) this.moved();
  }

  /** The current case changed: show it from what is here, and fetch what will come. */
  moved() {
    const node = this.state.current;
    const row = node && this.knownRow(node);
    if (row) this.strangers.set(node, row); // a new order may drop it, and the trail still names it
    remembered.set("sessionStorage", `case:${this.project.id}`, node);
    this.queue.showSelection();
    this.follow();
  }

  /** Another node is in hand: every pane shows it. */
  follow() {
    this.queue.showCurrent();
    if (this.blind) this.queue.paintAll(); // what is hidden depends on the case in front
    this.card.drawHead();
    this.drawSoon();
    this.askForMore();
    this.announce();
  }

  /** Say where the analyst stands: the map below listens. */
  announce() {
    const detail = { node: this.state.inHand, blind: this.blind, run: this.state.run || "", labels: this.state.version };
    Object.assign(this.root.dataset, { ...detail, case: detail.node || "", blind: detail.blind ? "yes" : "no" });
    window.dispatchEvent(new CustomEvent("ringfence:case", { detail }));
  }

  /** Draw card and picture after the next frame: what a key changes is painted first, cases passed over never. */
  drawSoon() {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => setTimeout(() => {
      this.drawing = false;
      this.card.draw();
      this.neighbourhood.draw();
    }));
  }

  paint(nodes) {
    nodes.forEach((node) => this.queue.paint(node));
    this.repaint();
  }

  repaint() {
    this.card.paint();
    this.statusBar.showCounts();
    this.drawSoon();
  }

  /** The picture's selection is the selection; the case alone is none, as it is what verdicts go to anyway. */
  selectInView(nodes) {
    const own = nodes.length === 1 && nodes[0] === this.state.current;
    this.queue.mark(own ? [] : nodes);
  }

  toggleMark(node) {
    if (!this.state.marked.delete(node)) this.state.marked.add(node);
    this.showSelection();
  }

  showSelection() {
    this.queue.showSelection();
    this.neighbourhood.repaint();
    this.follow();
  }

  labelGroup() {
    if (this.state.marked.size > 1) this.dialogs.toast("The selection is the group: press A, N or U.");
    else if (this.state.inHand) this.dialogs.group(this.state.inHand);
  }

  order(strategy, where) {
    this.outbox.post({ kind: "order", strategy, where });
  }

  /** Go to the login when it has ended; what is unsent is kept, and sent after it. */
  async leaveIfOut() {
    const answer = await fetch("/_stcore/host-config", { cache: "no-store" }).catch(() => null);
    if (answer?.status === 401) window.location.assign(`/login?next=${encodeURIComponent(window.location.pathname + window.location.search)}`);
  }

  /** Whether the person at work may do something; if not, say so. */
  allowed(act) {
    if (!this.may[act]) this.dialogs.toast(`You may not ${act}: your role does not allow it.`, "info", "role");
    return this.may[act];
  }

  saveNote(node, text) {
    if (!this.allowed("label")) return;
    this.outbox.post({ kind: "note", node, text, analyst: this.analyst });
    this.state.stale.add(node);
    this.dialogs.toast(`Note on ${fullName(this.nameOf(node), node)} ${text ? "saved" : "removed"}.`, "info", "note");
  }

  /** Put the node on the watchlist of the analyst, or take it off. */
  watch(node, on) {
    if (!this.allowed("label")) return;
    this.outbox.post({ kind: "watch", node, on, analyst: this.analyst });
    this.watched[on ? "add" : "delete"](node);
    this.card.drawHead();
  }

  retrain() {
    if (!this.statusBar.facts?.active && this.allowed("train")) this.outbox.post({ kind: "retrain" });
  }

  cancelRun(run) {
    if (this.allowed("train")) this.outbox.post({ kind: "cancel", run });
  }

  prefer(key, value) {
    if (this.allowed("change settings")) this.outbox.post({ kind: "prefer", key, value });
  }

  setAnalyst(name) {
    this.analyst = name.trim() || this.analyst;
    remembered.set("localStorage", "analyst", this.analyst);
    document.cookie = `ringfence_analyst=${encodeURIComponent(this.analyst)}; path=/; max-age=31536000; samesite=strict`;
    this.statusBar.showAnalyst(this.analyst);
    this.state.own.clear();
    this.showBlindness();
    this.outbox.poke();
  }

  toggleBlind() {
    this.blind = !this.blind;
    remembered.set("localStorage", "blind", this.blind);
    this.applyBlind();
    this.showBlindness();
    this.announce();
  }

  /** Paint anew what blind mode hides of verdicts. */
  showBlindness() {
    this.queue.paintAll();
    this.card.draw();
    this.neighbourhood.repaint();
  }

  /** Whether blind mode hides the verdict on a case: others gave it, and this analyst is yet to judge. */
  hidesVerdicts(node) {
    return this.blind && this.state.judgedByOthersOnly(node, this.analyst);
  }

  shownVerdict(node) {
    return this.hidesVerdicts(node) ? null : this.state.verdict(node);
  }

  /** The colleague who gave the verdict on a node; "" if it is one's own or nobody's. */
  colleague(node) {
    const by = this.state.saidBy(node);
    return by === this.analyst ? "" : by;
  }

  applyBlind() {
    this.root.classList.toggle("rf-blind", this.blind);
    this.statusBar.showBlind(this.blind);
  }

  leave(page) {
    this.outbox.post({ kind: "leave", page });
    this.outbox.whenQuiet(() => {});
  }

  nameOf(node) {
    return this.knownRow(node)?.name || node;
  }

  /** A row for a node from wherever one is known. */
  knownRow(node) {
    return this.state.row(node) || this.state.cases.get(node)?.card.row || this.strangers.get(node) || this.neighbourhood.facts(node) || null;
  }

  destroy() {
    clearTimeout(this.poll);
    this.keys.stop();
    this.outbox.stop();
    this.neighbourhood.destroy();
    window.removeEventListener("ringfence:goto", this.onGoto);
    document.removeEventListener("visibilitychange", this.onVisible);
    document.removeEventListener("click", this.onLink, true);
    this.root.remove();
  }
}
