// What lies over the canvas: tools, legend, hover card, menu. Text from data goes through textContent only.

import { linksOf } from "./edge_flows.js";
import { button, el, fill, option } from "./elements.js";
import { clip } from "./graph_style.js";
import { PALETTE } from "./palette.js";
import { count, short } from "./words.js";

/** Zoom, fit and the choice of colours; `choose(mode)` is called when the analyst picks one. */
export function toolbar(zoom, fit, choose) {
  const select = el("select", { title: "Colour by", "aria-label": "Colour by", onChange: () => choose(select.value) });
  const tool = (text, title, action) => button("", action, { title, "aria-label": title }, text);
  const bar = el(
    "div", { class: "gv-bar" }, select,
    tool("+", "Zoom in", () => zoom(1.3)),
    tool("−", "Zoom out", () => zoom(1 / 1.3)),
    tool("⤢", "Fit to view", fit),
  );
  const setModes = (columns, mode, blind) => {
    const modes = [["score", "Colour: score"], ["verdict", "Colour: verdict"]].slice(blind ? 1 : 0);
    for (const column of columns) modes.push([`attribute:${column}`, `Colour: ${column}`]);
    if (select.dataset.modes !== modes.join()) {
      select.dataset.modes = modes.join();
      fill(select, modes.map(([value, text]) => option(value, text)));
    }
    select.value = blind && mode === "score" ? "verdict" : mode; // what is shown; the choice comes back after
  };
  return { bar, setModes };
}

/** Verdict shapes, the colour scale or the categories, and how much is not shown. */
export function drawLegend(legend, colours, view) {
  const sign = (className, background) => el("i", { class: className, style: { background } });
  const own = !colours.ramp && !colours.chips;
  const verdicts = ["anomalous", "normal", "unsure", ...(own ? ["none"] : [])];
  const verdict = (name) => [sign(`gv-${PALETTE.shapes[name]}`, own ? PALETTE.verdicts[name] : "currentColor"), PALETTE.words[name]];
  fill(
    legend,
    colours.ramp && el("span", {}, colours.ramp.low, sign("gv-ramp", colours.ramp.colours), colours.ramp.high),
    (colours.chips || []).map(({ text, colour }) => el("span", {}, sign("", colour), clip(String(text)))),
    verdicts.map((name) => el("span", {}, verdict(name))),
    view.left_out ? el("span", { class: "gv-note" }, `${count(view.left_out)} more not shown`) : null,
  );
}

export function fillCard(card, node, blind, reasons = []) {
  const facts = [["Verdict", PALETTE.words[node.verdict || "none"]]];
  if (!blind) facts.push(["Score", `percentile ${(node.percentile ?? 0).toFixed(1)}`]);
  facts.push(...reasons);
  facts.push(["Neighbours", node.hidden ? `${count(node.degree)} (${count(node.hidden)} not shown)` : count(node.degree)]);
  facts.push(...Object.entries(node.attributes || {}).filter(([, value]) => value !== node.name).slice(0, 8));
  fill(
    card,
    el("b", {}, node.name || node.node_id),
    node.name && node.name !== node.node_id && el("span", { class: "gv-note" }, node.node_id),
    el("dl", {}, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))])),
  );
}

/** What runs along an edge: all of it in words, what of it is shown now, and its kinds. */
export function fillEdgeCard(card, { edge, flow }, { links }, filtered) {
  const cut = edge.text.indexOf(" · ");
  const [facts, ways] = [edge.text.slice(0, cut), edge.text.slice(cut + 3)];
  const kinds = [...flow.kinds].sort((a, b) => b[1] - a[1]).map(([at, n]) => [links.kinds[at], count(n)]);
  fill(
    card,
    el("b", {}, facts),
    el("span", { class: "gv-note" }, ways),
    filtered && el("p", {}, `Shown now: ${flowText(flow, links)}`),
    links.kinds.length > 1 && el("dl", {}, kinds.map(([name, n]) => [el("dt", {}, name), el("dd", {}, n)])),
  );
}

function flowText(flow, links) {
  const n = linksOf(flow);
  const amount = links.cells.amount.length ? `, ${flow.amount.toLocaleString("en-US", { maximumFractionDigits: 2 })} ${links.unit}` : "";
  return `${count(n)} ${n === 1 ? links.word : links.words}${amount.trimEnd()}`;
}

/** Put a box beside a point so that it stays inside the view. */
export function placeBeside(box, root, x, y, gap = 14) {
  box.hidden = false;
  const left = x + gap + box.offsetWidth > root.clientWidth ? x - gap - box.offsetWidth : x + gap;
  const top = Math.min(y + gap / 2, root.clientHeight - box.offsetHeight - 6);
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

/** Fill the menu of one node or of a selection; `items` is [[text, action], …]. */
export function fillMenu(menu, title, items, close) {
  const item = ([text, action]) => button("", () => {
    close();
    action();
  }, { role: "menuitem" }, text);
  const buttons = items.map(item);
  fill(menu, el("p", {}, title), buttons);
  menu.onkeydown = (event) => {
    const focused = buttons.indexOf(menu.getRootNode().activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) buttons[(focused + step + buttons.length) % buttons.length].focus();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return buttons;
}

export const inside = (box, at) => at.x >= box.x && at.x <= box.x + box.width && at.y >= box.y && at.y <= box.y + box.height;

/** A pin at the upper left of a node. */
export function drawPin(context, { x, y }, size, theme) {
  const [px, py] = [x - 0.75 * size - 3, y - 0.75 * size - 3];
  context.save();
  context.strokeStyle = context.fillStyle = PALETTE.accent;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(px, py);
  context.lineTo(px + 7, py + 7);
  context.stroke();
  context.beginPath();
  context.arc(px, py, 6, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = theme.background;
  context.lineWidth = 1.5;
  context.stroke();
  context.restore();
}

/** "+N" beside a node on the canvas; gives the badge's box in canvas units. */
export function drawBadge(context, position, size, hidden, theme) {
  const text = `+${short(hidden)}`;
  context.font = `600 11px ${theme.font}`;
  const width = context.measureText(text).width + 10;
  const box = { x: position.x + size * 0.6, y: position.y - size - 12, width, height: 16 };
  context.beginPath();
  context.roundRect(box.x, box.y, box.width, box.height, 8);
  context.fillStyle = theme.background;
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = theme.text;
  context.stroke();
  context.fillStyle = theme.text;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, box.x + 5, box.y + 8.5);
  return box;
}
