// The keyboard. One listener on the document; silent in text fields, with modifier keys, and under other dialogs.

export const HELP = [
  ["Decide", [
    ["A", "anomalous"], ["N", "normal"], ["U", "unsure"], ["Z", "undo"], ["Shift Z", "redo"],
    ["R", "say why: a reason for the verdict just given"], ["Shift 1 … 9", "the same with one key"],
    ["G", "label the ring around the case"], ["M", "write a note"],
  ]],
  ["Move", [
    ["J", "next case"], ["K", "previous case"], ["B", "back to where you came from"], ["/", "search and jump to any node"],
  ]],
  ["Work", [["T", "retrain"], ["X", "export"], ["?", "this list"]]],
  ["Look", [
    ["W", "why this score"], ["S", "similar nodes"], ["E", "one hop more"],
    ["F", "flow: its links over time; in the table ↑ ↓, Enter opens, Space keeps to one counterparty"],
    ["V", "via whom: how it is connected with another node"],
    ["P", "pin the case or the selection: it stays in the picture"],
    ["L", "list the links of the next edge"], ["Shift L", "of the edge before"],
    ["D", "to the dates: ← → move the period, Shift ← → its end, Space plays, Delete ends it"],
    ["1 … 9", "show or hide a kind of links"],
    ["H", "hide scores, reasons and others’ verdicts on the case (blind mode)"],
  ]],
  ["Mouse", [
    ["Click", "open a row; take a node of the picture in hand (Esc or B: back to the case); list the links of an edge"],
    ["Shift Click", "select a range of rows"],
    ["Ctrl Click", "add a row or node to the selection: a verdict then goes to all of it"],
    ["Double Click", "put a node in the centre"],
    ["Right Click", "mark any node in the picture"],
  ]],
];

export class Keys {
  constructor(app) {
    this.app = app;
    this.actions = {
      a: () => app.verdicts.decide("anomalous"), n: () => app.verdicts.decide("normal"), u: () => app.verdicts.decide("unsure"),
      j: () => app.step(1), k: () => app.step(-1), b: () => app.back(), m: () => app.card.focusNote(), r: () => app.card.reasons.ask(),
      e: () => app.neighbourhood.nextHop(), w: () => app.card.choose("why"), s: () => app.card.choose("similar"),
      f: () => app.card.openActivity(), v: () => app.paths.show(),
      g: () => app.labelGroup(), t: () => app.retrain(), h: () => app.toggleBlind(), x: () => app.leave("export"),
      p: () => app.neighbourhood.togglePin(), d: () => app.neighbourhood.focusPeriod(),
      "/": () => app.queue.search.focus(), "?": () => app.dialogs.help(),
    };
    this.listener = (event) => this.press(event);
    document.addEventListener("keydown", this.listener, true);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (inText(event) || document.querySelector("[role=dialog]:not(.rf-dialog)")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const dialogs = this.app.dialogs;
    if (key === "Escape") {
      if (!this.escape()) return;
    } else if (dialogs.open) {
      if (!dialogs.keys?.[key]) return;
      dialogs.keys[key]();
    } else if (key === "z") {
      if (event.shiftKey) this.app.verdicts.redo();
      else this.app.verdicts.undo();
    } else if (key === "l") {
      this.app.neighbourhood.stepEdge(event.shiftKey ? -1 : 1);
    } else if (event.shiftKey && /^Digit[1-9]$/.test(event.code) && !/\d/.test(key)) {
      this.app.card.reasons.choose(Number(event.code.at(-1)) - 1);
    } else if (key >= "1" && key <= "9") {
      this.app.neighbourhood.bar.toggleKind(Number(key) - 1);
    } else if (this.actions[key]) {
      if (event.repeat && "anu".includes(key)) return; // a key held down is one verdict, not a row of them
      this.actions[key]();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Leave what was opened last; whether there was something. */
  escape() {
    const { dialogs, neighbourhood, queue, state } = this.app;
    if (dialogs.open) dialogs.close();
    else if (neighbourhood.leave()) return true;
    else if (state.marked.size) queue.mark([]);
    else return false;
    return true;
  }

  stop() {
    document.removeEventListener("keydown", this.listener, true);
  }
}

function inText(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT") return true;
  return target.tagName === "INPUT" && !["checkbox", "radio", "button", "range"].includes(target.type);
}
