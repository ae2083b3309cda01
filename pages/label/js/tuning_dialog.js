// The dialog that says how cases are chosen: explore or exploit, random checks, second opinions, near-duplicates.

import { el, fill, option } from "./elements.js";

const DIAL_WORDS = ["follow the ranking", "mostly follow it", "balanced", "look further", "explore"];
const AUDIT_SHARES = [0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5];
const DIAL_HINT = "While verdicts hit, the default order follows the ranking. When they stop hitting it takes cases from further down, unlike "
  + "the last ones; this says from how far. In the order “Members disagree” it weighs doubt against score.";
const NO_DIAL = "The order that is chosen does not depend on it.";
const AUDIT_HINT = "Drawn at random and marked “audit”. Only they tell how many anomalies are left and how good the top of the list is.";

const OVERLAPS = [0, 0.05, 0.1, 0.2, 0.3, 0.5, 1];
const OVERLAP_HINT = "Asked of a second analyst, who is not told that the case is decided, nor by whom, nor how. The pairs tell how far "
  + "analysts agree (Train page). Otherwise no two analysts get the same case.";

export function showTuning(app) {
  const choice = app.state.choice;
  if (!choice) return;
  const dialled = app.project.strategies.some((each) => each.dialled && each.name === choice.strategy);
  app.dialogs.show("How cases are chosen", [dialPart(app, choice, dialled), auditPart(app, choice), overlapPart(app), duplicatesPart(app, choice)]);
}

function dialPart(app, { dial }, dialled) {
  const word = (value) => DIAL_WORDS[Math.round(value * (DIAL_WORDS.length - 1))];
  const said = el("b", { "data-testid": "dial-word" }, word(dial));
  const range = el("input", {
    type: "range", min: 0, max: 1, step: 0.25, value: dial, disabled: !dialled, "aria-label": "Exploit or explore", "data-testid": "dial",
    onInput: (event) => fill(said, word(Number(event.target.value))),
    onChange: (event) => app.prefer("dial", Number(event.target.value)),
  });
  return tuningPart("Exploit or explore", [el("small", {}, "exploit"), range, el("small", {}, "explore"), said], dialled ? DIAL_HINT : NO_DIAL);
}

function auditPart(app, { audit_share: share }) {
  const offered = [...new Set([...AUDIT_SHARES, share])].sort((a, b) => a - b);
  const field = el("select", {
    class: "rf-select", "aria-label": "Share of random checks", "data-testid": "audit-share",
    onChange: (event) => app.prefer("audit_share", Number(event.target.value)),
  }, offered.map((value) => option(String(value), value ? `${Number((100 * value).toFixed(1))} % of the cases` : "none")));
  field.value = String(share);
  return tuningPart("Random checks", [field], AUDIT_HINT);
}

function overlapPart(app) {
  const offered = [...new Set([...OVERLAPS, app.project.overlap])].sort((a, b) => a - b);
  const field = el("select", {
    class: "rf-select", "aria-label": "Share of second opinions", "data-testid": "overlap",
    onChange: (event) => app.prefer("overlap", Number(event.target.value)),
  }, offered.map((value) => option(String(value), value ? `${Number((100 * value).toFixed(1))} % of decided cases` : "none")));
  field.value = String(app.project.overlap);
  return tuningPart("Second opinions", [field], OVERLAP_HINT);
}

function duplicatesPart(app, { near_duplicates: allowed }) {
  const box = el("input", {
    type: "checkbox", checked: allowed, "data-testid": "near-duplicates",
    onChange: (event) => app.prefer("near_duplicates", event.target.checked),
  });
  const hint = "Otherwise a case that looks like another of the same ten waits: its verdict would teach little.";
  return tuningPart("Near-duplicates", [el("label", {}, box, " may come together")], hint);
}

function tuningPart(title, controls, hint) {
  return el("section", { class: "rf-tuning" }, el("h3", {}, title), el("div", { class: "rf-tuning-line" }, controls), el("p", { class: "rf-quiet" }, hint));
}
