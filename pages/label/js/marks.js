// Signs with a meaning of their own, the same in every pane: a verdict, a node's name, places gained or lost.

import { el, svg } from "./elements.js";
import { plural, short, shortId } from "./words.js";

export const VERDICTS = {
  anomalous: { key: "A", word: "Anomalous", short: "anomalous" },
  normal: { key: "N", word: "Normal", short: "normal" },
  unsure: { key: "U", word: "Unsure", short: "unsure" },
};

/** The sign of a verdict: shape and colour, so that either alone is enough. */
export function verdictShape(verdict, size = 12) {
  const shapes = {
    anomalous: () => svg("path", { d: "M6 .6 11.4 6 6 11.4 .6 6Z" }),
    normal: () => svg("rect", { x: 1.2, y: 1.2, width: 9.6, height: 9.6, rx: 1 }),
    unsure: () => svg("path", { d: "M6 1 11.4 10.6H.6Z" }),
  };
  const draw = shapes[verdict] || (() => svg("circle", { cx: 6, cy: 6, r: 4.4, class: "rf-hollow" }));
  return svg(
    "svg",
    { viewBox: "0 0 12 12", width: size, height: size, class: `rf-shape rf-${verdict || "none"}`, "aria-hidden": "true" },
    draw(),
  );
}

/** The name of a node with its id in quiet type where they differ: several nodes may share a name. */
export function nodeName(name, id, properties = {}) {
  if (name === id) return el("span", { class: "rf-name", ...properties }, name);
  return el("span", { class: "rf-name rf-with-id", ...properties }, el("span", {}, name), el("small", { class: "rf-id", title: id }, shortId(id)));
}

/** A verdict as a chip; `by` names somebody else who gave it. */
export function verdictChip(verdict, by = "") {
  if (!verdict) return el("span", { class: "rf-chip rf-none", "data-verdict": "" });
  return el(
    "span",
    { class: `rf-chip rf-${verdict}`, "data-verdict": verdict, title: by ? `${VERDICTS[verdict].word}, said ${by}` : VERDICTS[verdict].word },
    verdictShape(verdict, 10),
    VERDICTS[verdict].word,
    by ? el("small", { "data-by": by }, by) : null,
  );
}

/** Says that a colleague has a case before them. */
export function takenChip(name) {
  return el("span", { class: "rf-chip rf-none", "data-verdict": "", "data-taken": name, title: `${name} has this case before them` }, name);
}

/** Says that a lead has given a case to somebody. */
export function assignedMark(text) {
  return el("em", { class: "rf-assigned", "data-testid": "assigned" }, text);
}

/** Places gained or lost since the run before. */
export function movedMark(moved) {
  if (moved === null || moved === undefined) return el("span", { class: "rf-moved" });
  if (moved === 0) return el("span", { class: "rf-moved", title: "Same rank as in the run before" }, "=");
  return arrow(moved, "since the run before");
}

/** Places gained or lost by the verdicts since the run; told apart from those that a run brought. */
export function provisionalMark(moved) {
  if (!moved) return el("span", { class: "rf-moved" });
  return arrow(moved, "by the verdicts since the run: provisional, until the next one", "rf-provisional");
}

function arrow(moved, since, className = "") {
  const up = moved > 0;
  return el(
    "span",
    { class: `rf-moved ${up ? "rf-up" : "rf-down"} ${className}`, title: `${up ? "Up" : "Down"} ${plural(Math.abs(moved), "place")} ${since}` },
    `${up ? "▲" : "▼"}${short(Math.abs(moved))}`,
  );
}
