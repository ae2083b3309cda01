// Links over time as bars, and a period on them: dragged, moved by keys, or played.
//
//   const brush = new TimeBrush((period) => …)   // [first, last] places of the periods, null for all of time
//   brush.show(links, counts)                    // links: of a view; counts: links of each period
//
// Drag over the bars for a period, drag the period to move it, its ends to change it; a click outside of it ends it.
// Keys: ← → move, Shift ← → the end alone, Home End to the ends, Space plays, Delete for all of time.

import { periodText } from "./edge_flows.js";
import { button, el, fill, svg } from "./elements.js";
import { count } from "./words.js";

const HEIGHT = 34; // of the bars; one period is one unit wide
const GRIP = 7; // pixels around an end of the period where it can be taken
const FIRST_SHARE = 8; // a period chosen by a key begins as this part of all
const PLAY_MS = 9000; // about what all of time takes
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

export class TimeBrush {
  constructor(onChange) {
    this.onChange = onChange;
    this.period = null;
    this.n = 0;
    this.timer = 0;
    this.play = button("rf-button rf-play", () => this.toggle(), { title: "Play (Space)", "data-testid": "play" });
    this.said = el("span", { class: "rf-period", "data-testid": "period", "aria-live": "off" });
    this.all = button("rf-link", () => this.choose(null), { "data-testid": "all-time", title: "All of time (Delete)" }, "all");
    this.chart = el("div", {
      class: "rf-brush", tabIndex: 0, role: "slider", "aria-label": "Period", "data-testid": "brush",
      title: "Drag for a period. Keys: ← → move, Shift ← → the end, Space plays, Delete ends (D leads here)",
      onPointerdown: (event) => this.grab(event), onKeydown: (event) => this.key(event),
    });
    this.element = el("div", { class: "rf-times" }, this.play, this.chart);
    this.line = el("div", { class: "rf-period-line" }, this.said, this.all);
    this.showPlay();
  }

  show(links, counts) {
    this.links = links;
    this.counts = counts;
    this.n = counts.length;
    if (this.period && this.period[1] >= this.n) this.period = null;
    this.draw();
  }

  /** All of time again, without telling. */
  reset() {
    this.stop();
    this.period = null;
  }

  focus() {
    this.chart.focus();
  }

  /** Take a period, [first, last] or null, and tell. */
  choose(period) {
    if (String(period) === String(this.period)) return;
    this.period = period;
    if (!period) this.stop();
    this.draw();
    this.onChange(period);
  }

  // ---- drawing ---------------------------------------------------------------------------------------

  draw() {
    const most = Math.max(1, ...this.counts);
    const within = (at) => !this.period || (at >= this.period[0] && at <= this.period[1]);
    const bar = (value, at) => {
      const height = value ? Math.max(1.5, (HEIGHT * value) / most) : 0;
      return svg("rect", { x: at + 0.08, y: HEIGHT - height, width: 0.84, height, class: within(at) ? "rf-in" : "rf-out" });
    };
    const bars = this.counts.map(bar).filter((made) => made.getAttribute("height") !== "0");
    const box = { viewBox: `0 0 ${this.n} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" };
    fill(this.chart, svg("svg", box, bars), this.window());
    this.say();
  }

  window() {
    if (!this.period) return null;
    const [first, last] = this.period;
    const style = { left: `${(100 * first) / this.n}%`, width: `${(100 * (last + 1 - first)) / this.n}%` };
    return el("i", { class: "rf-window", style }, el("i", {}), el("i", {}));
  }

  say() {
    const period = this.period || [0, this.n - 1];
    const within = this.counts.slice(period[0], period[1] + 1).reduce((sum, value) => sum + value, 0);
    const told = `${periodText(this.links, period)} · ${count(within)} ${within === 1 ? this.links.word : this.links.words}`;
    this.said.textContent = told;
    this.said.title = told;
    this.all.hidden = !this.period;
    const facts = { valuemin: 0, valuemax: this.n - 1, valuenow: period[0], valuetext: told };
    for (const [name, value] of Object.entries(facts)) this.chart.setAttribute(`aria-${name}`, value);
  }

  showPlay() {
    fill(this.play, this.timer ? "❚❚" : "▶");
    this.play.setAttribute("aria-label", this.timer ? "Pause" : "Play");
    this.play.setAttribute("aria-pressed", String(Boolean(this.timer)));
  }

  // ---- mouse -----------------------------------------------------------------------------------------

  /** The period under a point of the page. */
  at(x) {
    const { left, width } = this.chart.getBoundingClientRect();
    return clamp(Math.floor(((x - left) / width) * this.n), 0, this.n - 1);
  }

  grab(event) {
    if (event.button || !this.n) return;
    this.stop();
    const start = this.at(event.clientX);
    const change = this.gesture(event.clientX, start);
    let moved = false;
    const move = ({ clientX }) => {
      moved ||= Math.abs(clientX - event.clientX) > 3;
      if (moved) this.choose(change(this.at(clientX)));
    };
    const end = () => {
      this.chart.removeEventListener("pointermove", move);
      if (!moved && !this.holds(start)) this.choose(null);
    };
    this.chart.setPointerCapture(event.pointerId);
    this.chart.addEventListener("pointermove", move);
    this.chart.addEventListener("pointerup", end, { once: true });
    this.chart.addEventListener("pointercancel", end, { once: true });
  }

  holds(at) {
    return Boolean(this.period) && at >= this.period[0] && at <= this.period[1];
  }

  /** What a drag from here does, as a function of where it leads: an end, the whole period, or a new one. */
  gesture(x, start) {
    const span = (a, b) => [Math.min(a, b), Math.max(a, b)];
    if (!this.period) return (to) => span(start, to);
    const { left, width } = this.chart.getBoundingClientRect();
    const near = (edge) => Math.abs(x - left - (width * edge) / this.n) <= GRIP;
    const [first, last] = this.period;
    if (near(last + 1)) return (to) => span(first, to);
    if (near(first)) return (to) => span(last, to);
    return this.holds(start) ? (to) => this.shifted([first, last], to - start) : (to) => span(start, to);
  }

  // ---- keys ------------------------------------------------------------------------------------------

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -this.n, End: this.n }[event.key];
    if (step) this.move(step, event.shiftKey);
    else if (event.key === " ") this.toggle();
    else if (event.key === "Delete" || event.key === "Backspace") this.choose(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Move the period, or its end alone; without one begin with the first part of time. */
  move(step, endOnly = false) {
    this.stop();
    const [first, last] = this.period || [0, 0];
    if (!this.period) this.choose(this.begin(step < 0));
    else this.choose(endOnly ? [first, clamp(last + step, first, this.n - 1)] : this.shifted(this.period, step));
  }

  begin(atEnd = false) {
    const length = Math.max(1, Math.round(this.n / FIRST_SHARE));
    return atEnd ? [this.n - length, this.n - 1] : [0, length - 1];
  }

  shifted([first, last], by) {
    const step = clamp(by, -first, this.n - 1 - last);
    return [first + step, last + step];
  }

  // ---- playing ---------------------------------------------------------------------------------------

  /** Let the period run to the end of time, from its beginning if it stands there. */
  toggle() {
    if (this.timer) {
      this.stop();
      return;
    }
    const [first, last] = this.period || this.begin();
    const whole = first === 0 && last === this.n - 1;
    this.choose(last < this.n - 1 ? [first, last] : whole ? this.begin() : [0, last - first]);
    this.timer = setInterval(() => this.advance(), Math.max(70, PLAY_MS / this.n));
    this.showPlay();
  }

  advance() {
    if (this.period[1] >= this.n - 1 || !this.chart.isConnected) this.stop();
    else this.choose(this.shifted(this.period, 1));
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.showPlay();
  }
}
