// What the tests of the modules share: timers that only run when told, a seeded chance, rows, stand-ins for the app.

globalThis.timers = () => {
  const [set, clear, due] = [globalThis.setTimeout, globalThis.clearTimeout, new Map()];
  let n = 0;
  globalThis.setTimeout = (action, wait = 0) => (due.set(++n, { action, wait }), n);
  globalThis.clearTimeout = (id) => due.delete(id);
  const fire = (most = Infinity) => {
    for (const [id, { action, wait }] of [...due]) {
      if (wait <= most && due.delete(id)) action();
    }
  };
  return { fire, due, end: () => Object.assign(globalThis, { setTimeout: set, clearTimeout: clear }) };
};
globalThis.chance = (seed) => () => {
  seed = (seed * 1664525 + 1013904223) % 4294967296;
  return seed / 4294967296;
};
globalThis.row = (node_id, more = {}) => ({ node_id, name: node_id, rank: 1, inclusion_probability: null, strategy: "top", ...more });
globalThis.queue = (nodes, more = {}) => ({
  key: "q-1", version: 1, where: { verdict: "unlabelled" }, reviewing: false, basis: { run: 1, verdicts: 0 }, merge: false,
  rows: nodes.map((node) => (typeof node === "string" ? row(node) : node)), ...more,
});
globalThis.standing = (ScreenState, nodes, at, more = {}) => {
  const state = new ScreenState();
  state.setQueue(queue(nodes, more));
  if (at) state.open(at);
  return state;
};
globalThis.ids = (state) => state.rows.map((each) => each.node_id);
globalThis.noted = () => {
  const notes = [];
  const listen = (path) => new Proxy(() => {}, {
    get: (_, name) => (name === Symbol.toPrimitive ? () => "" : listen([...path, name])),
    apply: (_, __, values) => void notes.push([path.join("."), ...values]),
  });
  return { app: listen([]), notes };
};

/** A server that performs each number once, behind a line that loses, doubles and reorders messages and answers. */
globalThis.storm = (Outbox, seed) => {
  const [clock, random] = [timers(), chance(seed)];
  const [performed, wire] = [[], []];
  let [last, posted, most] = [0, 0, 0];
  const out = new Outbox("p", () => ({ part: 1 }), () => {});
  out.send = (message) => wire.push({ message: structuredClone(message) });
  const deliver = ({ message, answer }) => {
    if (answer) {
      out.receive(answer.reply, answer.ack);
      return out.flush(); // as the screen does once it has taken the rest of the answer
    }
    for (const event of message.events) {
      if (event.seq <= last) continue;
      performed.push(event.what);
      last = event.seq;
    }
    wire.push({ answer: { reply: { client: message.client, n: message.n }, ack: { [message.client]: last } } });
  };
  for (let step = 0; step < 600; step++) {
    if (posted < 40 && random() < 0.2) out.post({ what: posted++ });
    if (wire.length && random() < 0.6) {
      const at = Math.floor(random() * wire.length);
      const [parcel] = wire.slice(at, at + 1);
      if (random() > 0.2) wire.splice(at, 1); // else it stays, and comes twice
      if (random() > 0.35) deliver(parcel);
    }
    if (random() < 0.1) clock.fire();
    most = Math.max(most, out.pending.length);
  }
  while (posted < 40) out.post({ what: posted++ });
  for (let step = 0; step < 200 && out.pending.length; step++) {
    wire.splice(0).forEach(deliver);
    clock.fire();
  }
  clock.end();
  return { performed, pending: out.pending.length, most };
};

/** An app with a real state and a line that takes notes, in front of the case "a". */
globalThis.desk = ({ ScreenState, Verdicts }, nodes = ["a", "b", "c", "d"]) => {
  const state = standing(ScreenState, nodes, "a");
  const [events, toasts, asked] = [[], [], []];
  const app = {
    state, analyst: "ana", blind: false, allowed: () => true, outbox: { post: (event) => events.push(event) },
    card: { reasons: { forget() {} } }, paint() {}, showSelection() {}, open: (node) => state.open(node), next: () => state.open(state.coming(1)[0]),
    dialogs: { toast: (text) => toasts.push(text), ask: (title, text, yes, perform) => asked.push({ title, perform }) },
  };
  const verdicts = new Verdicts(app);
  const said = () => ["a", "b", "c", "d"].map((node) => state.verdict(node));
  return { state, events, toasts, asked, app, verdicts, said };
};

/** The keyboard of an app that takes notes of what it is asked to do. */
globalThis.keyboard = (Keys) => {
  const { app, notes } = noted();
  const dialogs = { open: false, keys: null, close: () => notes.push(["closed"]), help: () => notes.push(["help"]) };
  const state = { marked: new Set() };
  const queue = { mark: (nodes) => notes.push(["mark", nodes]), search: { focus: () => notes.push(["search"]) } };
  const keys = new Keys(new Proxy({}, { get: (_, name) => ({ dialogs, queue, state })[name] ?? app[name] }));
  const press = (key, more = {}, target = document.body) => {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, composed: true, ...more });
    target.dispatchEvent(event);
    return event.defaultPrevented;
  };
  return { dialogs, state, keys, press, notes };
};
