// Which nodes of the picture carry their name.

import { clip, namesThatFit } from "./graph_style.js";

const NAMED_UP_TO = 26; // nodes; beyond, only those that matter carry their name
const FLAGGED = 99; // percentile from which a node matters as much as that

/** Ids with a name: the case, the selection, pins and verdicts always, then flagged nodes, then the others, where they fit. */
export function namedNodes(state, positionOf, reachOf) {
  const few = state.cases.size <= NAMED_UP_TO;
  const entries = [];
  for (const [id, node] of state.cases) {
    const centre = id === state.view.centre;
    const must = centre || state.selected.has(id) || state.pinned.has(id) || Boolean(node.verdict);
    const flagged = !state.blind && node.percentile >= FLAGGED;
    if (!must && !flagged && !few && !(node.hop <= 1 && state.near <= NAMED_UP_TO)) continue;
    const font = centre ? 1.2 * state.font : state.font;
    entries.push({ id, text: clip(node.name), ...positionOf(id), size: reachOf(id), font, must, worth: 2 * must + flagged });
  }
  entries.sort((a, b) => b.worth - a.worth || state.cases.get(a.id).hop - state.cases.get(b.id).hop);
  return namesThatFit(entries, state.theme.font);
}
