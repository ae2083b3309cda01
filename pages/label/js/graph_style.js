// How a node and an edge look: colour by score, verdict or attribute; shape by verdict; never by chance.

import { linksOf, measure } from "./edge_flows.js";
import { PALETTE } from "./palette.js";

const mixed = (a, b, t) => {
  const part = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  const channel = (i) => Math.round(part(a, i) + (part(b, i) - part(a, i)) * t);
  return `rgb(${channel(0)}, ${channel(1)}, ${channel(2)})`;
};

/** Colour at a share 0..1 of a scale [[share, colour], …]. */
function onScale(scale, share) {
  const at = Math.max(0, Math.min(1, share || 0));
  for (let i = 1; i < scale.length; i++) {
    const [low, from] = scale[i - 1];
    const [high, to] = scale[i];
    if (at <= high) return mixed(from, to, (at - low) / (high - low || 1));
  }
  return scale[scale.length - 1][1];
}

const rampOf = (scale) => `linear-gradient(90deg, ${scale.map(([at, colour]) => `${colour} ${at * 100}%`).join(", ")})`;

/** A colouring of the nodes in view: {of(case) → colour, legend: [...]}. */
export function colouring(mode, cases, blind) {
  if (mode === "verdict" || (mode === "score" && blind)) return byVerdict();
  if (mode === "score") {
    return {
      of: (node) => onScale(PALETTE.score, node.percentile / 100),
      ramp: { colours: rampOf(PALETTE.score), low: "low score", high: "high" },
    };
  }
  return byAttribute(mode.replace(/^attribute:/, ""), cases);
}

function byVerdict() {
  return { of: (node) => PALETTE.verdicts[node.verdict || "none"] };
}

function byAttribute(column, cases) {
  const values = cases.map((node) => node.attributes?.[column]).filter((value) => value !== undefined);
  const numbers = values.map(Number);
  if (new Set(values).size > 6 && numbers.every(Number.isFinite)) {
    const low = Math.min(...numbers);
    const high = Math.max(...numbers);
    return {
      of: (node) => {
        const value = node.attributes?.[column];
        return value === undefined ? PALETTE.other : onScale(PALETTE.quantity, (Number(value) - low) / (high - low || 1));
      },
      ramp: { colours: rampOf(PALETTE.quantity), low: `${column} ${low}`, high: String(high) },
    };
  }
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
  const named = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, PALETTE.categories.length);
  const colours = new Map(named.map(([value], i) => [value, PALETTE.categories[i]]));
  const chips = [...colours].map(([text, colour]) => ({ text, colour }));
  if (counts.size > named.length) chips.push({ text: "other", colour: PALETTE.other });
  return { of: (node) => colours.get(node.attributes?.[column]) || PALETTE.other, chips };
}

/** Colours of the page around the view, read from Streamlit's variables: light or dark. */
export function themeOf(element) {
  const style = getComputedStyle(element);
  const read = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  return {
    text: read("--st-text-color", "#31333f"),
    background: read("--st-background-color", "#ffffff"),
    font: read("--st-font", "sans-serif"),
  };
}

const CLIPPED = 20;
export const clip = (text) => (text.length > CLIPPED ? `${text.slice(0, CLIPPED - 1)}…` : text);

let ruler = null; // measures names

/** Ids whose names stand clear of those before them. Entries {id, text, x, y, size, font, must}: what matters first. */
export function namesThatFit(entries, face) {
  ruler ??= document.createElement("canvas").getContext("2d");
  const taken = [];
  const kept = new Set();
  for (const { id, text, x, y, size, font, must } of entries) {
    ruler.font = `${font}px ${face}`;
    const half = ruler.measureText(text).width / 2 + 2;
    const box = { left: x - half, right: x + half, top: y + size, bottom: y + size + 1.25 * font };
    const meets = (other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
    if (!must && taken.some(meets)) continue;
    taken.push(box);
    kept.add(id);
  }
  return kept;
}

/** vis-network options of one node. `at` says what is special about it now. */
export function nodeStyle(node, colour, theme, at) {
  const border = at.centre || at.selected ? theme.text : mixEdge(colour);
  const paint = { background: colour, border };
  const width = at.selected ? 4 : at.centre ? 3 : 1.5;
  return {
    id: node.node_id,
    shape: PALETTE.shapes[node.verdict || "none"],
    size: at.size + (at.centre ? 6 : 0),
    color: { ...paint, highlight: { background: colour, border: theme.text }, hover: { background: colour, border: theme.text } },
    opacity: at.quiet ? 0.2 : 1,
    borderWidth: width,
    borderWidthSelected: 4,
    label: at.named ? clip(node.name) : "",
    font: {
      color: theme.text,
      face: theme.font,
      size: at.centre ? 1.2 * at.font : at.font,
      strokeWidth: 3,
      strokeColor: theme.background,
      vadjust: at.reach - 2,
    },
  };
}

const mixEdge = (colour) => {
  const parts = colour.startsWith("#") ? [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)) : colour.match(/\d+/g).map(Number);
  return `rgb(${parts.map((value) => Math.round(value * 0.62)).join(", ")})`;
};

export const edgeId = (edge) => `${edge.from ?? edge.source}\u001f${edge.to ?? edge.target}`;

/** The end of an edge that is not `node`; undefined for an edge that does not touch it. */
export const otherEnd = ({ from, to }, node) => {
  if (from === node) return to;
  return to === node ? from : undefined;
};

export function edgeStyle(edge, theme) {
  return {
    id: edgeId(edge),
    from: edge.from ?? edge.source,
    to: edge.to ?? edge.target,
    width: edge.width ?? 1.2,
    dashes: false,
    color: { color: theme.text, opacity: 0.26, highlight: PALETTE.accent, hover: theme.text },
  };
}

const DASHES = [false, [9, 5], [3, 4], [14, 5, 3, 5], false, [9, 5], [3, 4], [14, 5, 3, 5]]; // beside the colours: neighbours differ in both

/** Colour and dashes of the kind of links at a place of the view's kinds. */
export function kindLook(at, name) {
  if (name === "other") return { colour: PALETTE.other, dashes: [2, 3] };
  return { colour: PALETTE.categories[at % PALETTE.categories.length], dashes: DASHES[at % DASHES.length] };
}

/** Where a size stands on the way from the smallest to the largest, by logarithm; a factor of less than ten is not the whole way. */
function logShare(size, [low, high]) {
  if (!(size > low)) return 0;
  return Math.min(1, Math.log(size / low) / Math.max(Math.log(10), Math.log(high / low)));
}

const tip = (enabled) => ({ enabled, scaleFactor: 0.5 });

/** An edge with what runs along it: arrows each way, width by the logarithm of amount or count, colour and dashes by kind. */
export function flowStyle(edge, flow, { by, range, coloured, kinds }, theme) {
  const look = coloured && flow.kind >= 0 ? kindLook(flow.kind, kinds[flow.kind]) : { colour: theme.text, dashes: false };
  return {
    ...edgeStyle(edge, theme),
    hidden: !linksOf(flow),
    width: 1.2 + 5 * logShare(measure(flow, by), range),
    dashes: look.dashes,
    arrows: { to: tip(flow.sent > 0), from: tip(flow.back > 0) },
    color: { color: look.colour, opacity: coloured ? 0.8 : 0.42, highlight: PALETTE.accent, hover: theme.text },
  };
}
