// The why tab: which attributes and neighbours make up the score, and which labelled nodes are closest.

import { closest, rowList } from "./card_sections.js";
import { el, fill, secret, section, skeleton } from "./elements.js";
import { nodeName } from "./marks.js";

const WHY_BARS = 8;
const [OTHER_ATTRIBUTES, OTHER_NODES] = ["other attributes", "other nodes"]; // what the server calls the rest

export function drawWhy(body, app, node) {
  const key = `why:${node}`;
  const found = app.state.extras.get(key);
  for (const next of [node, ...app.state.coming(2)]) {
    if (!app.state.extras.has(`why:${next}`)) app.want(`why:${next}`, { kind: "why", node: next });
  }
  if (!found) fill(body, skeleton());
  else if (found.error) fill(body, el("p", { class: "rf-quiet" }, found.error));
  else fill(body, el("div", { class: "rf-why", "data-testid": "why" }, whySections(found, app)));
}

function whySections(found, app) {
  const parts = whyParts(found);
  const scale = widest([...parts.attributes, ...parts.neighbours]);
  const rest = parts.gap ? `, not assigned ${parts.said(parts.gap)}` : "";
  const sum = `Parts of the score of ${found.model}: ${parts.said(parts.score)}, of which base ${parts.said(parts.base)}${rest}.`;
  const reasons = el("ul", { class: "rf-reasons" }, found.reasons.map((text) => el("li", {}, text)));
  return [
    el("p", { class: "rf-quiet rf-only-blind", "data-testid": "why-hidden" },
      "Blind mode hides what makes up the score. Press H, or the Blind button at the top, to see it."),
    secret(
      found.reasons.length ? section("In short", reasons) : null,
      whyBars("Its attributes", parts.attributes, scale, parts.said),
      whyBars("Its neighbours", parts.neighbours, scale, parts.said, app, found.names),
      edgeBars(found, app),
      unknownShare(found),
      el("p", { class: "rf-basis", "data-testid": "why-sum" }, sum),
    ),
    found.examples.length ? section("Closest labelled nodes", rowList(found.examples, app), el("p", { class: "rf-basis" }, closest(found.examples_space))) : null,
  ];
}

/** What the tab shows, rounded so that base, bars and what is not assigned add up to the score. */
export function whyParts(found) {
  const digits = digitsFor([found.score, found.base, ...[...found.attributes, ...found.neighbours].map((part) => part.value)]);
  const rounded = (value) => Number(value.toFixed(digits)) || 0;
  const round = (parts) => parts.map((part) => ({ ...part, value: rounded(part.value) }));
  const attributes = round(folded(found.attributes, OTHER_ATTRIBUTES));
  const neighbours = round(folded(found.neighbours, OTHER_NODES));
  const [score, base, gap] = [found.score, found.base, found.gap].map(rounded);
  const all = [...attributes, ...neighbours];
  const carrier = all.find((part) => part.other) || all.reduce((most, part) => (Math.abs(part.value) > Math.abs(most.value) ? part : most), all[0]);
  if (carrier) carrier.value = rounded(carrier.value + score - base - gap - all.reduce((sum, part) => sum + part.value, 0));
  return { attributes, neighbours, score, base, gap, said: (value) => signed(value, digits) };
}

const largest = (parts) => [...parts].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));

/** The largest parts, and all others as one that is always last. */
function folded(parts, other) {
  const single = largest(parts.filter((part) => part.name !== other));
  const cut = [...single.slice(WHY_BARS), ...parts.filter((part) => part.name === other)];
  const rest = { name: other, value: cut.reduce((sum, part) => sum + part.value, 0), other: true };
  return [...single.slice(0, WHY_BARS), ...(cut.length ? [rest] : [])];
}

/** Digits after the point that tell small parts of the largest of these values apart. */
function digitsFor(values) {
  const magnitude = Math.floor(Math.log10(Math.max(1e-9, ...values.map(Math.abs))));
  return Math.max(0, Math.min(8, 4 - (magnitude < 0 ? magnitude + 1 : magnitude)));
}

const signed = (value, digits) => `${value < 0 ? "−" : ""}${Math.abs(value).toFixed(digits)}`;

function unknownShare({ edges, edges_unknown: share }) {
  if (!edges.length || share < 0.005) return null;
  return el("p", { class: "rf-basis", "data-testid": "why-unknown" },
    `${Math.round(100 * share)} % of the score was not worked out anew without these edges: on a graph as dense as this it would take too long.`);
}

/** The same for the picture. An edge raises the score when the score would fall without it. */
export function whyInView(found) {
  const values = (parts, sign) => Object.fromEntries(parts.filter((part) => found.names[part.name]).map((part) => [part.name, sign * part.value]));
  return { nodes: values(found.neighbours, 1), edges: values(found.edges, -1) };
}

const widest = (parts) => Math.max(1e-12, ...parts.map((part) => Math.abs(part.value)));

/** Bars to the right raise the score, bars to the left lower it. Parts in `names` are nodes and can be opened. */
function whyBars(title, parts, scale, said, app = null, names = {}) {
  if (!parts.length) return null;
  return section(title, el("ul", { class: "rf-bars" }, parts.map((part) => whyBar(part, scale, said, app, names))));
}

/** What each edge does is no part of the sum: it has digits of its own. */
function edgeBars({ edges, names }, app) {
  const digits = digitsFor(edges.map((part) => part.value)) - 1;
  const shown = largest(edges).slice(0, WHY_BARS).map((part) => ({ ...part, detail: plainNumbers(part.detail, digits) }));
  return whyBars("If the edge were not there", shown, widest(edges), (value) => signed(value, digits), app, names);
}

const plainNumbers = (text, digits) => (text || "").replace(/\d+(\.\d+)?e-\d+/g, (found) => Number(found).toFixed(digits));

function whyBar(part, scale, said, app, names) {
  const raises = part.value >= 0;
  const name = names[part.name] || part.name;
  const told = (part.detail || "").replace(`${name}, `, ""); // the bar has the name already
  const opens = { class: "rf-open-node", title: `Open ${part.name}`, onClick: () => app.open(part.name) };
  return el("li", names[part.name] ? opens : { title: part.detail || part.name },
    names[part.name] ? nodeName(name, part.name) : el("span", { class: "rf-name" }, name),
    el("span", { class: "rf-diverge" }, el("i", {
      class: raises ? "rf-raises" : "rf-lowers",
      style: { [raises ? "left" : "right"]: "50%", width: `${(50 * Math.abs(part.value)) / scale}%` },
    })),
    el("small", {}, `${raises ? "+" : ""}${said(part.value)}`),
    told && el("small", { class: "rf-detail" }, told));
}
