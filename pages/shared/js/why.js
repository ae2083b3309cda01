// The why tab: which attributes and neighbours make up the score, and which labelled nodes are closest.

const WHY_BARS = 8;

function drawWhy(body, app, node) {
  const key = `why:${node}`;
  const found = app.board.extras.get(key);
  if (!found) {
    app.want(key, { kind: "why", node });
    fill(body, skeleton());
    return;
  }
  if (found.error) {
    fill(body, el("p", { class: "rf-quiet" }, found.error));
    return;
  }
  const scale = Math.max(1e-12, ...[...found.attributes, ...found.neighbours].map((part) => Math.abs(part.value)));
  fill(
    body,
    el("div", { class: "rf-why", "data-testid": "why" }, secret(
      found.reasons.length ? section("In short", el("ul", { class: "rf-reasons" }, found.reasons.map((text) => el("li", {}, text)))) : null,
      whyBars("Its attributes", found.attributes, scale),
      whyBars("Its neighbours", found.neighbours, scale, app, found.names),
      whyBars("If the edge were not there", found.edges, scaleOf(found.edges), app, found.names),
      el("p", { class: "rf-basis" }, `Parts of the score of ${found.model}: ${decimals(found.score)}, of which base ${decimals(found.base)}${Math.abs(found.gap) > 1e-6 ? `, not assigned ${decimals(found.gap)}` : ""}.`),
    ),
    found.examples.length ? section("Closest labelled nodes", rowList(found.examples, app)) : null),
  );
}

const scaleOf = (parts) => Math.max(1e-12, ...parts.map((part) => Math.abs(part.value)));

/** Bars to the right raise the score, bars to the left lower it. Parts that are nodes have a name and can be opened. */
function whyBars(title, parts, scale, app = null, names = {}) {
  if (!parts.length) return null;
  const shown = [...parts].sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, WHY_BARS);
  return section(title, el("ul", { class: "rf-bars" }, shown.map((part) => {
    const width = (50 * Math.abs(part.value)) / scale;
    const side = part.value >= 0 ? { left: "50%", width: `${width}%` } : { right: "50%", width: `${width}%` };
    const open = names[part.name] ? { onClick: () => app.open(part.name), class: "rf-open-node", title: `Open ${part.name}` } : { title: part.detail || part.name };
    return el("li", open, el("span", { class: "rf-name" }, names[part.name] || part.name), el("span", { class: "rf-diverge" }, el("i", { class: part.value >= 0 ? "rf-raises" : "rf-lowers", style: side })),
      el("small", {}, `${part.value >= 0 ? "+" : "−"}${decimals(Math.abs(part.value))}`), part.detail && el("small", { class: "rf-detail" }, part.detail));
  })));
}
