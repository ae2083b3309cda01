// The why tab: which attributes and neighbours make up the score, and which labelled nodes are closest.

const WHY_BARS = 8;

function drawWhy(body, app, node) {
  const key = `why:${node}`;
  const found = app.board.extras.get(key);
  for (const next of [node, ...app.board.coming(2)]) {
    if (!app.board.extras.has(`why:${next}`)) app.want(`why:${next}`, { kind: "why", node: next });
  }
  if (!found) fill(body, skeleton());
  else if (found.error) fill(body, el("p", { class: "rf-quiet" }, found.error));
  else fill(body, el("div", { class: "rf-why", "data-testid": "why" }, whySections(found, app)));
}

function whySections(found, app) {
  const scale = widest([...found.attributes, ...found.neighbours]);
  const rest = Math.abs(found.gap) > 1e-6 ? `, not assigned ${decimals(found.gap)}` : "";
  const sum = `Parts of the score of ${found.model}: ${decimals(found.score)}, of which base ${decimals(found.base)}${rest}.`;
  const reasons = el("ul", { class: "rf-reasons" }, found.reasons.map((text) => el("li", {}, text)));
  return [
    el("p", { class: "rf-quiet rf-only-blind", "data-testid": "why-hidden" },
      "Blind mode hides what makes up the score. Press H, or the Blind button at the top, to see it."),
    secret(
      found.reasons.length ? section("In short", reasons) : null,
      whyBars("Its attributes", found.attributes, scale),
      whyBars("Its neighbours", found.neighbours, scale, app, found.names),
      whyBars("If the edge were not there", found.edges, widest(found.edges), app, found.names),
      unknownShare(found),
      el("p", { class: "rf-basis" }, sum),
    ),
    found.examples.length ? section("Closest labelled nodes", rowList(found.examples, app), el("p", { class: "rf-basis" }, closest(found.examples_space))) : null,
  ];
}

function unknownShare({ edges, edges_unknown: share }) {
  if (!edges.length || share < 0.005) return null;
  return el("p", { class: "rf-basis", "data-testid": "why-unknown" },
    `${Math.round(100 * share)} % of the score was not worked out anew without these edges: on a graph as dense as this it would take too long.`);
}

/** The same for the picture. An edge raises the score when the score would fall without it. */
function whyInView(found) {
  const values = (parts, sign) => Object.fromEntries(parts.filter((part) => found.names[part.name]).map((part) => [part.name, sign * part.value]));
  return { nodes: values(found.neighbours, 1), edges: values(found.edges, -1) };
}

const widest = (parts) => Math.max(1e-12, ...parts.map((part) => Math.abs(part.value)));

/** Bars to the right raise the score, bars to the left lower it. Parts in `names` are nodes and can be opened. */
function whyBars(title, parts, scale, app = null, names = {}) {
  if (!parts.length) return null;
  const shown = [...parts].sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, WHY_BARS);
  return section(title, el("ul", { class: "rf-bars" }, shown.map((part) => whyBar(part, scale, app, names))));
}

function whyBar(part, scale, app, names) {
  const raises = part.value >= 0;
  const name = names[part.name] || part.name;
  const told = (part.detail || "").replace(`${name}, `, ""); // the bar has the name already
  const opens = { class: "rf-open-node", title: `Open ${part.name}`, onClick: () => app.open(part.name) };
  return el("li", names[part.name] ? opens : { title: part.detail || part.name },
    el("span", { class: "rf-name" }, name),
    el("span", { class: "rf-diverge" }, el("i", {
      class: raises ? "rf-raises" : "rf-lowers",
      style: { [raises ? "left" : "right"]: "50%", width: `${(50 * Math.abs(part.value)) / scale}%` },
    })),
    el("small", {}, `${raises ? "+" : "−"}${decimals(Math.abs(part.value))}`),
    told && el("small", { class: "rf-detail" }, told));
}
