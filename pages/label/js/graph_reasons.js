// What raises and lowers the score of the case: rings around nodes, colours of its edges, and a line that explains them.
// Raising is a full line with a tip that points up, lowering a dashed one with a tip that points down; width goes by size.

import { el, fill } from "./elements.js";
import { otherEnd } from "./graph_style.js";
import { PALETTE } from "./palette.js";

const LEAST_PUSH = 0.02; // share of the largest one below which nothing is drawn
const RING_GAP = 4; // canvas units between a node and its ring
export const NO_PUSH = { nodes: new Map(), edges: new Map() };

/** Map id → {up, share of the largest, value} of {id: value}. */
function pushes(values) {
  const known = Object.entries(values || {});
  const largest = Math.max(1e-12, ...known.map(([, value]) => Math.abs(value)));
  const told = known.map(([id, value]) => [id, { up: value > 0, share: Math.abs(value) / largest, value }]);
  return new Map(told.filter(([, push]) => push.share >= LEAST_PUSH));
}

/** What `why` ({nodes: {id: value}, edges: {other end: value}} or null) says of the case. */
export const pushesOf = (why) => (why ? { nodes: pushes(why.nodes), edges: pushes(why.edges) } : NO_PUSH);

const pushColour = (push) => PALETTE.verdicts[push.up ? "anomalous" : "normal"];
const ringWidth = (push) => 2 + 4 * push.share;
/** How far a ring reaches beyond its node. */
export const ringReach = (push) => (push ? RING_GAP + ringWidth(push) + 1 : 0);

/** What of it concerns the nodes that stand on the canvas and the edges of the case. */
export function pushesInView({ nodes, edges }, view, placed) {
  const lines = new Set(view.edges.map((edge) => otherEnd(edge, view.centre)));
  const within = (map, there) => new Map([...map].filter(([id]) => there.has(id)));
  return { nodes: within(nodes, placed), edges: within(edges, lines) };
}

/** The style of an edge while the reasons are shown: those of the case that count stand out. */
export function pushedEdge(style, centre, why) {
  if (why === NO_PUSH) return style;
  const push = why.edges.get(otherEnd(style, centre));
  if (!push) return { ...style, color: { ...style.color, opacity: 0.14 } };
  const colour = pushColour(push);
  return {
    ...style,
    width: 2 + 6 * push.share,
    dashes: push.up ? false : [9, 6],
    color: { color: colour, opacity: 1, highlight: colour, hover: colour },
  };
}

export function drawRings(context, nodes, positionOf, radiusOf) {
  for (const [id, push] of nodes) drawRing(context, positionOf(id), radiusOf(id), push);
}

/** A ring around a node, under everything else on the canvas, so that names stay readable. */
function drawRing(context, { x, y }, size, push) {
  const width = ringWidth(push);
  const radius = size + RING_GAP + width / 2;
  context.save();
  context.strokeStyle = context.fillStyle = pushColour(push);
  context.lineWidth = width;
  context.setLineDash(push.up ? [] : [7, 5]);
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
  const [base, tip] = push.up ? [y - radius, y - radius - width - 7] : [y - radius - width - 7, y - radius + 1];
  context.beginPath();
  context.moveTo(x - 6, base);
  context.lineTo(x + 6, base);
  context.lineTo(x, tip);
  context.fill();
  context.restore();
}

export function drawPushLegend(line, { nodes, edges }) {
  line.hidden = !nodes.size && !edges.size;
  const chip = (up, text) => el("span", {}, el("i", { class: up ? "gv-up" : "gv-down", style: { borderColor: pushColour({ up }) } }), text);
  fill(line, chip(true, "▲ raises the score"), chip(false, "▼ lowers it"),
    ["ring: the node’s own part", "edge: what removing it undoes", "wider: more"].map((text) => el("span", { class: "gv-note" }, text)));
}

/** Facts of the hover card on what a node and its edge do to the score of the case. */
export function pushFacts({ nodes, edges }, id) {
  const said = (push, noun) => [noun, `${push.up ? "raises" : "lowers"} the score by ${Math.abs(push.value).toPrecision(2)}`];
  return [nodes.has(id) && said(nodes.get(id), "This node"), edges.has(id) && said(edges.get(id), "Its edge")].filter(Boolean);
}

/** What is drawn, as {nodes: {id: "up" | "down"}, edges: {other end: {up, width, dashed}}}; edges as the data set has them. */
export function shownPushes(nodes, lines, centre) {
  const ways = [...nodes].map(([id, push]) => [id, push.up ? "up" : "down"]);
  const hues = [true, false].map((up) => pushColour({ up }));
  const coloured = lines.get().filter((line) => hues.includes(line.color.color));
  const told = ({ color, width, dashes }) => ({ up: color.color === hues[0], width, dashed: Boolean(dashes) });
  return { nodes: Object.fromEntries(ways), edges: Object.fromEntries(coloured.map((line) => [otherEnd(line, centre), told(line)])) };
}
