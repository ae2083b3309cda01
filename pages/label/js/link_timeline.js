// When links came in (bars up) and went out (bars down). A click or a drag takes a period; so do the arrow keys.

import { button, el, fill, svg } from "./elements.js";
import { count, figure } from "./words.js";

const [WIDTH, HEIGHT, MIDDLE] = [360, 68, 34];

export class LinkTimeline {
  /** `onPeriod(since, until)` hears the period taken, as text; both null when it is given up. */
  constructor(onPeriod, onMeasure) {
    this.onPeriod = onPeriod;
    this.onMeasure = onMeasure;
    this.bars = [];
    this.chosen = null; // [first, last] bar, in the order they were taken
    this.picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", tabindex: 0, role: "group", "data-testid": "timeline" });
    this.picture.addEventListener("pointerdown", (event) => this.press(event));
    this.picture.addEventListener("pointermove", (event) => this.drag(event));
    this.picture.addEventListener("pointerup", () => this.release());
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.said = el("span", { "aria-live": "polite", "data-testid": "timeline-said" });
    this.legend = el("div", { class: "rf-timeline-legend" });
    this.element = el("div", { class: "rf-timeline" }, this.picture, this.legend);
  }

  /** Draw the bars of an activity; `since` and `until` are those of its filter. */
  show(activity, { since, until }) {
    this.activity = activity;
    this.bars = activity.timeline;
    this.element.hidden = !this.bars.length;
    if (!this.pressed) this.chosen = this.placeOf(since, until);
    this.draw();
  }

  /** The bars of a period; null where it begins or ends within a bar. */
  placeOf(since, until) {
    if (!since && !until) return null;
    const first = since ? this.bars.findIndex((bar) => bar.since === since) : 0;
    const last = until ? this.bars.findIndex((bar) => bar.until === until) : this.bars.length - 1;
    return first < 0 || last < 0 ? null : [first, last];
  }

  get range() {
    return this.chosen && [Math.min(...this.chosen), Math.max(...this.chosen)];
  }

  size(bar, way) {
    return (this.activity.by === "amount" ? Math.abs(bar[`amount_${way}`]) : bar[`links_${way}`]) || 0;
  }

  draw() {
    const most = Math.max(1e-12, ...this.bars.flatMap((bar) => [this.size(bar, "in"), this.size(bar, "out")]));
    const step = WIDTH / this.bars.length;
    const [first, last] = this.range || [0, this.bars.length - 1];
    const height = (bar, way) => (this.size(bar, way) ? Math.max(1.5, ((MIDDLE - 2) * this.size(bar, way)) / most) : 0);
    const rect = (at, way, y, h) => svg("rect", { x: at * step + step * 0.1, y, width: step * 0.8, height: h, class: `rf-${way}` });
    const drawn = this.bars.map((bar, at) => {
      const [up, down] = [height(bar, "in"), height(bar, "out")];
      return svg("g", { class: at < first || at > last ? "rf-outside" : "", "data-bar": at },
        svg("title", {}, this.told(bar)),
        svg("rect", { x: at * step, y: 0, width: step, height: HEIGHT, class: "rf-slot" }),
        rect(at, "in", MIDDLE - up, up), rect(at, "out", MIDDLE, down));
    });
    fill(this.picture, drawn, svg("line", { x1: 0, x2: WIDTH, y1: MIDDLE, y2: MIDDLE }));
    this.picture.setAttribute("aria-label", `Timeline per ${this.activity.step}. Arrow keys take a period, with Shift a longer one, Delete gives it up.`);
    this.drawLegend();
  }

  drawLegend() {
    if (!this.bars.length) return;
    const { by, step, columns } = this.activity;
    const measure = (name) => button("rf-seg", () => this.onMeasure(name), { "aria-pressed": String(by === name), "data-testid": `bars-${name}` }, name);
    const amounts = columns.some(({ key }) => key === "amount");
    const range = this.range;
    this.said.textContent = this.period(range || [0, this.bars.length - 1]);
    const sign = (way) => el("span", {}, el("i", { class: `rf-${way}` }), way);
    fill(this.legend,
      el("div", {}, sign("in"), sign("out"), el("span", {}, `per ${step}`),
        amounts && el("span", { class: "rf-group", title: "What the bars and the main counterparties go by" }, measure("amount"), measure("count"))),
      el("div", {}, this.said, range && button("rf-link", () => this.take(null), { "data-testid": "timeline-all" }, "all of it")));
  }

  /** The chosen bars in words. */
  period([first, last]) {
    return first === last ? this.bars[first].text : `${this.bars[first].since} to ${this.bars[last].until}`;
  }

  told(bar) {
    const { word, words, unit } = this.activity;
    const way = (name) => {
      const [n, sum] = [bar[`links_${name}`], bar[`amount_${name}`]];
      return n ? `\n${name}: ${count(n)} ${n === 1 ? word : words}${sum === null ? "" : `, ${figure(sum)} ${unit}`}` : "";
    };
    return `${bar.text}${way("in")}${way("out")}`;
  }

  // ---- taking a period ---------------------------------------------------------------------------------

  barAt(event) {
    const box = this.picture.getBoundingClientRect();
    const at = Math.floor(((event.clientX - box.left) / box.width) * this.bars.length);
    return Math.max(0, Math.min(this.bars.length - 1, at));
  }

  press(event) {
    if (event.button) return;
    const at = this.barAt(event);
    const again = this.chosen && this.chosen[0] === at && this.chosen[1] === at;
    this.pressed = true;
    this.picture.setPointerCapture?.(event.pointerId);
    this.chosen = again ? null : [at, at];
    this.draw();
  }

  drag(event) {
    if (!this.pressed || !this.chosen) return;
    const at = this.barAt(event);
    if (at === this.chosen[1]) return;
    this.chosen = [this.chosen[0], at];
    this.draw();
  }

  release() {
    if (!this.pressed) return;
    this.pressed = false;
    this.take(this.chosen);
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Delete" || event.key === "Backspace") this.take(null);
    else if (step) this.move(step, event.shiftKey);
    else return;
    event.preventDefault();
  }

  move(step, longer) {
    const within = (at) => Math.max(0, Math.min(this.bars.length - 1, at));
    if (!this.chosen) this.take(step > 0 ? [0, 0] : [this.bars.length - 1, this.bars.length - 1]);
    else if (longer) this.take([this.chosen[0], within(this.chosen[1] + step)]);
    else this.take([within(this.chosen[1] + step), within(this.chosen[1] + step)]);
  }

  take(chosen) {
    this.chosen = chosen;
    this.draw();
    const range = this.range;
    this.onPeriod(range ? this.bars[range[0]].since : null, range ? this.bars[range[1]].until : null);
  }
}
