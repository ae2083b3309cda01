// Between the labelling screen and the map below it. The ring around the current case is moved here, at once and
// without drawing the map again; a new drawing is asked for only when it would show something else.

const SOON_MS = 450; // another run, blind mode, or a case that is not among the points drawn
const LATER_MS = 6000; // new verdicts: when the analyst rests, as a drawing takes the browser a while
const LOOK_MS = 500; // how often to look whether the plot moved (it is drawn when Streamlit likes)

class MapLink {
  constructor(opened) {
    this.opened = opened;
    this.at = { node: null, blind: false, run: "", labels: "" };
    this.ring = document.createElement("div");
    this.ring.dataset.testid = "map-current";
    Object.assign(this.ring.style, {
      position: "absolute", left: 0, top: 0, width: "22px", height: "22px", margin: "-11px 0 0 -11px", borderRadius: "50%",
      border: "3.5px solid #009E73", boxShadow: "0 0 0 1.5px #fff", pointerEvents: "none", zIndex: 5, display: "none",
    });
    this.listener = ({ detail }) => this.move(detail);
    window.addEventListener("ringfence:case", this.listener);
    this.look = setInterval(() => this.notice(), LOOK_MS);
    const { case: node, blind, run, labels } = document.querySelector(".rf-workbench")?.dataset ?? {};
    if (node) this.move({ node, blind: blind === "yes", run, labels });
  }

  /** The server drew the map for `data.drawn`; `data.open` is a point clicked there. */
  receive(data, send) {
    this.drawn = data.drawn;
    this.drawn.labels ??= this.at.labels; // the first drawing is of this moment
    this.send = send;
    if (data.open && data.open.n > this.opened) {
      this.opened = data.open.n;
      window.dispatchEvent(new CustomEvent("ringfence:goto", { detail: { node: data.open.node } }));
    }
    this.move(this.at);
  }

  /** Follow the plot: it may have been drawn anew, zoomed or moved. */
  notice() {
    const before = this.traces;
    this.points();
    if (this.traces === before) this.place();
    else this.move(this.at);
  }

  move(at) {
    this.at = at;
    this.place();
    clearTimeout(this.timer);
    const wait = this.patience();
    if (wait !== null) this.timer = setTimeout(() => this.ask(), wait);
  }

  /** How long the map as drawn will do, in ms; null if it shows all that it should. */
  patience() {
    if (!this.drawn || !this.at.node) return null;
    const wanted = this.wanted();
    const differs = (name) => wanted[name] !== this.drawn[name];
    if (wanted.node || differs("blind") || differs("run")) return SOON_MS;
    return differs("labels") || this.drawn.node ? LATER_MS : null;
  }

  /** What the map should show. A node is named only if the points drawn lack it: those of a large graph are a choice. */
  wanted() {
    const { node, blind, run, labels } = this.at;
    const points = this.points();
    return { node: !points || points.has(node) ? null : node, blind, run, labels };
  }

  /** Ask for a new drawing, again and again: Streamlit drops an update that meets one of the other fragment. */
  ask() {
    clearTimeout(this.timer);
    this.send({ ...this.wanted(), sent: Date.now() });
    this.timer = setTimeout(() => this.move(this.at), 2000);
  }

  plot() {
    return document.querySelector('[class*="st-key-label-map-"] .js-plotly-plot');
  }

  /** node -> [x, y] of the points drawn, read once per drawing. */
  points() {
    const traces = this.plot()?._fullData;
    if (!traces) return null;
    if (this.traces !== traces) {
      this.traces = traces;
      this.known = new Map();
      for (const { text, x, y } of traces) {
        if (text && x) Array.from(text, (node, i) => this.known.set(node, [x[i], y[i]]));
      }
    }
    return this.known;
  }

  place() {
    const plot = this.plot();
    const at = this.points()?.get(this.at.node);
    const { xaxis, yaxis } = plot?._fullLayout ?? {};
    const [px, py] = at && xaxis ? [xaxis.c2p(at[0]), yaxis.c2p(at[1])] : [-1, -1];
    const inside = px >= 0 && py >= 0 && px <= xaxis._length && py <= yaxis._length;
    this.ring.style.display = inside ? "block" : "none";
    this.ring.dataset.node = inside ? this.at.node : "";
    if (!inside) return;
    const frame = plot.parentElement;
    if (this.ring.parentElement !== frame) {
      frame.style.position = "relative";
      frame.append(this.ring);
    }
    const [from, to] = [frame.getBoundingClientRect(), plot.getBoundingClientRect()];
    this.ring.style.left = `${to.left - from.left + xaxis._offset + px}px`;
    this.ring.style.top = `${to.top - from.top + yaxis._offset + py}px`;
  }

  destroy() {
    window.removeEventListener("ringfence:case", this.listener);
    clearInterval(this.look);
    clearTimeout(this.timer);
    this.ring.remove();
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const link = (parentElement.link ??= new MapLink(data.open?.n ?? 0));
  link.receive(data, (wanted) => setStateValue("at", wanted));
  return () => {
    if (!parentElement.isConnected) parentElement.link.destroy();
  };
}
