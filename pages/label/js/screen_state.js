// What the screen knows: the queue, the verdicts, the cases fetched ahead, where the analyst stands.
// It holds no DOM. `effective` verdicts are the server's, overlaid with those given here and not yet confirmed.

export const OTHERS = "others"; // the filter: judged by others, not by this analyst
const AHEAD = 8; // cases fetched ahead
const PER_MESSAGE = 3; // cases asked for at once: a small answer comes back sooner

/** Whether the queue drew a row at random, to measure the queue itself. */
export const isRandomCheck = (row) => row.inclusion_probability !== null;

export class ScreenState {
  constructor() {
    this.rows = [];
    this.queueKey = "";
    this.queueVersion = 0; // of the rows under this key
    this.basis = { run: null, verdicts: 0, enabled: true }; // what the queue is ordered by
    this.which = "unlabelled"; // nodes that the queue shows
    this.reviewing = false; // these have a verdict: all of its rows are cases
    this.own = new Set(); // nodes judged on this screen, by the analyst of now
    this.version = ""; // of the label set that `labels` mirrors
    this.labels = new Map(); // node -> verdict, as the server has it
    this.given = new Map(); // node -> {verdict, seq}: painted here, not yet confirmed
    this.cases = new Map(); // node -> {card, view}
    this.views = new Map(); // key -> neighbourhood other than the plain one
    this.extras = new Map(); // key -> explanation, ring, search result
    this.stale = new Set(); // cases to fetch again: shown until the fresh one is there
    this.taken = {}; // node of the queue -> another analyst who has it before them
    this.by = {}; // node of the queue -> who gave its verdict
    this.current = null; // the case
    this.marked = new Set(); // the selection: a single node of it is in hand instead of the case
    this.asked = null; // row of the current case as it was opened: a new order leaves it a random check
    this.anchor = -1; // position in the queue from which "next" counts
    this.trail = []; // cases looked at before: B goes back
    this.run = null;
  }

  /** The one node that card, keys and highlight are about: the one selected, else the case. */
  get inHand() {
    return this.marked.size === 1 ? [...this.marked][0] : this.current;
  }

  verdict(node) {
    const given = this.given.get(node);
    return given ? given.verdict : this.labels.get(node) || null;
  }

  row(node) {
    return this.rows.find((row) => row.node_id === node) || null;
  }

  position(node) {
    return this.rows.findIndex((row) => row.node_id === node);
  }

  /** The queue as the server orders it. A new order counts from its top, and leaves the current case alone. */
  setQueue(queue) {
    this.which = queue.where.verdict;
    this.reviewing = queue.reviewing;
    this.basis = queue.basis;
    this.choice = queue.choice; // how cases are chosen
    this.remark = queue.remark; // what there is to say of the queue besides its rows
    if (!queue.rows) return false;
    const fresh = queue.key !== this.queueKey;
    this.rows = queue.merge && !fresh ? this.merged(queue.rows) : queue.rows;
    this.queueKey = queue.key;
    this.queueVersion = queue.version;
    if (fresh) this.anchor = -1;
    return fresh ? "order" : "rows";
  }

  /** What colleagues do with the rows of the queue; gives whether that has changed. */
  setColleagues({ taken, by }) {
    const changed = JSON.stringify([taken, by]) !== JSON.stringify([this.taken, this.by]);
    [this.taken, this.by] = [taken, by];
    return changed;
  }

  /** Ranked again: rows down to the current case, decided ones and the very next case stay, the rest follows. */
  merged(ranked) {
    const latest = new Map(ranked.map((row) => [row.node_id, row]));
    const kept = new Set([this.current, ...this.coming(1)]);
    const still = this.rows
      .filter(({ node_id: node }, at) => at <= this.anchor || kept.has(node) || this.verdict(node))
      .map((row) => latest.get(row.node_id) || row);
    const known = new Set(still.map((row) => row.node_id));
    return [...still, ...ranked.filter((row) => !known.has(row.node_id))];
  }

  /** Where the verdicts since the run put a node: {rank, moved}, or null where the run's own place holds. */
  provisional(row) {
    if (!row || !this.basis.verdicts) return null;
    const rank = (this.row(row.node_id) || row).provisional_rank;
    return rank ? { rank, moved: row.rank - rank } : null;
  }

  /** Follow the server's label set: a difference to the version held here, or the whole. Gives changed nodes. */
  setLabels(update, ack, client) {
    const before = new Map(this.given);
    for (const [node, given] of this.given) {
      if (given.seq <= (ack[client] || 0)) this.given.delete(node);
    }
    if (update.base !== null && update.base !== this.version) {
      before.forEach((given, node) => this.given.set(node, given));
      return [];
    }
    const changed = Object.keys(update.changes);
    if (update.base === null) this.labels.clear();
    for (const node of changed) {
      if (update.changes[node]) this.labels.set(node, update.changes[node]);
      else this.labels.delete(node);
    }
    this.version = update.version;
    this.outdate(changed);
    return changed;
  }

  /** These nodes have other verdicts: their cases are to be fetched again, and those that tell of them as neighbours. */
  outdate(nodes) {
    const changed = new Set(nodes);
    changed.forEach((node) => this.stale.add(node));
    this.cases.forEach(({ view }, node) => {
      if (view.nodes.some(({ id }) => changed.has(id))) this.stale.add(node);
    });
  }

  /** A run arrived: everything fetched before describes the old one. */
  setRun(run) {
    if (run === this.run) return false;
    const first = this.run === null;
    this.run = run;
    this.cases.forEach((_, node) => this.stale.add(node));
    this.views.clear();
    this.extras.clear();
    return !first;
  }

  give(nodes, verdict, seq) {
    for (const node of nodes) {
      this.given.set(node, { verdict, seq });
      this.stale.add(node);
    }
  }

  open(node) {
    if (this.current && this.current !== node) {
      this.trail.push(this.current);
      if (this.trail.length > 50) this.trail.shift();
    }
    this.stand(node);
  }

  back() {
    const node = this.trail.pop();
    if (node) this.stand(node);
    return node || null;
  }

  /** Come to a case; that ends the selection. */
  stand(node) {
    this.marked.clear();
    if (node !== this.current) this.asked = this.row(node);
    this.current = node;
    const at = this.position(node);
    if (at >= 0) this.anchor = at;
  }

  /** How the queue chose a node: the row that it was opened or is listed as, the one that was drawn first. */
  offered(node) {
    const rows = [node === this.current ? this.asked : null, this.row(node)].filter(Boolean);
    return rows.find(isRandomCheck) || rows[0] || null;
  }

  /** Cases to come, at most `most`: from the anchor down, then from the top where undecided rows may be left. */
  coming(most) {
    const below = this.rows.slice(this.anchor + 1);
    const order = this.reviewing ? below : [...below, ...this.rows.slice(0, this.anchor + 1)];
    const found = [];
    for (const { node_id: node } of order) {
      if (found.length === most) break;
      if (node !== this.current && (this.reviewing || (!this.verdict(node) && !this.taken[node]))) found.push(node);
    }
    return found;
  }

  neighbourInQueue(step) {
    const at = this.position(this.current);
    const from = at >= 0 ? at : this.anchor;
    const row = this.rows[Math.max(0, Math.min(this.rows.length - 1, from + step))];
    return row ? row.node_id : null;
  }

  /** Rows without a verdict; where a second opinion is asked for, without one of this analyst. */
  waiting() {
    const decided = this.which === OTHERS ? (node) => this.own.has(node) : (node) => this.verdict(node);
    return this.rows.filter((row) => !decided(row.node_id)).length;
  }

  /** Whether the verdict on a case in question, the one in front or one that waits for a second opinion, is only others'. */
  judgedByOthersOnly(node, analyst) {
    const inFront = node === this.current || node === this.inHand;
    if ((!inFront && this.which !== OTHERS) || this.own.has(node)) return false;
    return !this.cases.get(node)?.card.judged_by.includes(analyst);
  }

  /** Who gave the verdict that holds on a node, as far as that is known; "" where it was given here. */
  saidBy(node) {
    if (this.own.has(node) || this.given.has(node)) return "";
    const had = this.verdict(node);
    const last = this.cases.get(node)?.card.events.find((event) => event.kind === "label" && event.verdict === had);
    return (had && (this.by[node] || last?.analyst)) || "";
  }

  /** The colleague whom another verdict on a node would contradict; "" where there is none, or a second opinion is asked for. */
  contradicted(node, verdict, analyst) {
    const by = this.saidBy(node);
    return by !== analyst && this.verdict(node) !== verdict && this.which !== OTHERS ? by : "";
  }

  /** How many nodes of the graph have a verdict. */
  decided() {
    return new Set([...this.labels.keys(), ...this.given.keys()].filter((node) => this.verdict(node))).size;
  }

  /** Nodes to ask for now, of the one in hand, the case and those to come: missing ones first, then stale ones. */
  toFetch() {
    const ahead = [...new Set([this.inHand, this.current, ...this.coming(AHEAD)])].filter(Boolean);
    const missing = ahead.filter((node) => !this.cases.has(node));
    if (this.inHand && missing[0] === this.inHand) return [this.inHand];
    const old = ahead.filter((node) => this.cases.has(node) && this.stale.has(node));
    return [...missing, ...old].slice(0, PER_MESSAGE);
  }

  keep(node, found) {
    this.cases.delete(node);
    this.cases.set(node, { ...found, run: this.basis.run }); // the run that its figures are of
    this.stale.delete(node);
    for (const key of this.cases.keys()) {
      if (this.cases.size <= 60) break;
      if (key !== this.current && key !== this.inHand) this.cases.delete(key);
    }
  }
}
