// The sections of the node card, each from the record that the server sent.

import { bar, button, el, scoreBar, secret, section, svg } from "./elements.js";
import { movedMark, nodeName, provisionalMark, verdictChip, VERDICTS, verdictShape } from "./marks.js";
import { count, placeOf, plural, when } from "./words.js";

const BANDS = { high: "High", raised: "Raised", usual: "Usual", low: "Low" };

/** The run's own figures; `place` is where verdicts since that run put the node, or null; `old` is the run of figures that are not of the latest. */
export function scorePart(card, place, basis, probability, old = null) {
  const { row } = card;
  if (!row.rank) return section("Score", el("p", { class: "rf-quiet" }, "No run yet: scores appear after the first ranking."));
  const run = old ?? (place && basis.run);
  return section(run ? `Score of run ${run}` : "Score", secret(
    el("div", { class: "rf-line" },
      el("span", { class: `rf-band rf-band-${card.band}` }, BANDS[card.band] || "–"),
      el("b", {}, `rank ${count(row.rank)}`),
      movedMark(row.moved),
      el("span", { class: "rf-quiet" }, placeOf(row.percentile))),
    scoreBar(row.percentile, "rf-wide"),
    el("p", { class: "rf-basis", "data-testid": "probability" }, probability),
    row.reason && el("p", { class: "rf-why-line" }, row.reason),
    place && provisionalLine(place, basis),
    old !== null && el("p", { class: "rf-provisional-line", "data-testid": "older-run" }, `The queue is of run ${basis.run} by now; its figures of this node are on their way.`),
  ));
}

function provisionalLine(place, basis) {
  return el("p", { class: "rf-provisional-line", "data-testid": "provisional-place" },
    el("b", {}, "Provisional"), ` rank ${count(place.rank)} `, provisionalMark(place.moved),
    ` with ${plural(basis.verdicts, "change")} since run ${basis.run}. All else here is what run ${basis.run} found.`);
}

export function historyPart(card) {
  return card.rank_history.length < 2 ? null : section("Rank over runs", secret(sparkline(card.rank_history)));
}

/** Rank over runs; the top of the picture is rank 1, on a logarithmic scale. */
function sparkline(history) {
  const [w, h, pad] = [240, 44, 5];
  const worst = Math.log(Math.max(2, ...history.map(([, rank]) => rank)));
  const points = history.map(([, rank], i) => [
    pad + ((w - 2 * pad) * i) / (history.length - 1),
    pad + ((h - 2 * pad) * Math.log(Math.max(1, rank))) / worst,
  ]);
  const [first, last] = [history[0], history[history.length - 1]];
  const said = ([run, rank]) => `run ${run}: ${count(rank)}`;
  const dots = points.map(([cx, cy], i) => {
    const dot = svg("circle", { cx, cy, r: i === points.length - 1 ? 3.5 : 2 });
    dot.append(svg("title", {}, said(history[i])));
    return dot;
  });
  const line = svg("polyline", { points: points.map((point) => point.join(",")).join(" ") });
  return el("div", { class: "rf-spark" },
    svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Rank in ${said(first)}, in ${said(last)}` }, line, dots),
    el("div", { class: "rf-line rf-quiet" }, el("span", {}, said(first)), el("span", {}, said(last))));
}

export function neighboursPart(card) {
  const names = ["anomalous", "normal", "unsure", "unlabelled"];
  const parts = names.map((name) => [name, card.neighbour_verdicts[name] || 0]).filter(([, n]) => n);
  if (!parts.length) return section("Neighbours", el("p", { class: "rf-quiet" }, "No neighbours: this node stands alone."));
  const stretch = ([name, n]) => el("i", { class: `rf-${name}`, style: { flexGrow: n }, title: `${n} ${name}` });
  const word = ([name, n]) => el("span", {}, verdictShape(VERDICTS[name] ? name : null, 9), ` ${count(n)} ${name}`);
  return section(
    "Neighbours’ verdicts",
    el("div", { class: "rf-stack" }, parts.map(stretch)),
    el("div", { class: "rf-line rf-quiet" }, parts.map(word)),
  );
}

export function attributesPart(card) {
  const shown = card.attributes.filter(({ value, group }) => !group && value !== card.row.name); // the heading says it
  if (!shown.length) return null;
  return section("Attributes against all nodes", attributeList(shown));
}

/** What its links say, by group; groups in which it stands out are open. */
export function fromLinksPart(card) {
  const derived = card.attributes.filter(({ group }) => group);
  if (!derived.length) return null;
  const groups = [...new Set(derived.map(({ group }) => group))];
  const part = (group) => linksGroup(group, derived.filter((attribute) => attribute.group === group));
  return section(`From its ${card.link_words}, against all nodes`, groups.map(part));
}

function linksGroup(group, attributes) {
  const out = attributes.filter(({ percentile }) => extreme(percentile)).length;
  const title = group[0].toUpperCase() + group.slice(1);
  return el("details", { class: "rf-from-links", open: out > 0, "data-testid": `from-links-${group}` },
    el("summary", {}, title, out ? el("small", {}, ` ${out} of ${attributes.length} stand out`) : null),
    attributeList(attributes));
}

const attributeList = (attributes) => el("dl", { class: "rf-attributes" }, attributes.map(attributeLine));
const extreme = (percentile) => percentile >= 95 || percentile <= 5;

/** One attribute: its value, and where that stands among all nodes. */
function attributeLine({ column, value, percentile, share, help }) {
  const rare = (n) => (n < 0.1 ? "<0.1 %" : `${n.toFixed(n < 10 ? 1 : 0)} %`);
  let place = [el("span"), el("span")];
  if (percentile !== null) {
    place = [bar(percentile, extreme(percentile) ? "rf-extreme" : ""), el("small", { title: "Share of nodes with a lower value" }, `P${Math.round(percentile)}`)];
  } else if (share !== null) {
    place = [bar(share, share <= 5 ? "rf-extreme" : ""), el("small", { title: "Share of nodes with this value" }, rare(share))];
  }
  return el("div", {}, el("dt", { title: help ? `${column}: ${help}` : column }, column), el("dd", { title: value }, value), place);
}

/** Who disagrees on the case, and ways to settle it. */
export function disputeLine(card, app) {
  const said = Object.entries(card.disputed).map(([analyst, verdict]) => `${analyst}: ${verdict}`);
  if (!said.length) return null;
  const settle = (verdict) => app.may.settle && button("rf-link", () => app.verdicts.settle(card, verdict), { "data-testid": `settle-${verdict}` }, `settle as ${verdict}`);
  return el("div", { class: "rf-dispute", "data-testid": "dispute" }, el("span", {}, said.join(", ")), settle("anomalous"), settle("normal"));
}

/** What came since the verdict on the case, or with the last update. */
export const newsLine = (card) => (card.news ? el("div", { class: "rf-news", "data-testid": "news" }, card.news) : null);

function eventFacts(event) {
  const source = event.source === "app" ? "" : event.source;
  const counts = event.kind === "label" && event.weight < 1 ? `counts ${Number(event.weight.toFixed(2))}` : "";
  return [event.analyst, when(event.at), source, counts].filter(Boolean).join(" · ");
}

export function eventsPart(card) {
  if (!card.events.length) return null;
  const line = (event) => el("li", {},
    verdictShape(event.verdict, 10),
    el("b", {}, event.kind === "label" ? VERDICTS[event.verdict]?.word || "" : event.kind),
    el("span", { class: "rf-quiet" }, eventFacts(event)),
    event.reason && el("p", { class: "rf-event-reason" }, event.reason),
    event.note && el("p", {}, event.note));
  return section("Label history", el("ul", { class: "rf-events", "data-testid": "events" }, card.events.map(line)));
}

/** Where nodes were found to be alike. */
export const closest = (space) => (space ? `Closest ${space}.` : "");

/** A list of other nodes to open or select. */
export function rowList(rows, app) {
  if (!rows.length) return el("p", { class: "rf-quiet" }, "None.");
  const clicked = (event, row) => {
    if (event.ctrlKey || event.metaKey) app.toggleMark(row.node_id);
    else app.open(row.node_id, row);
  };
  const line = (row) => el("li", { class: "rf-row", "data-node": row.node_id, onClick: (event) => clicked(event, row) },
    nodeName(row.name, row.node_id, { title: row.node_id }),
    verdictChip(app.state.verdict(row.node_id)),
    secret(scoreBar(row.percentile)));
  return el("ul", { class: "rf-rowlist" }, rows.map(line));
}
