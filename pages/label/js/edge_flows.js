// What runs along the edges of a view, in a period and without some kinds. No DOM: numbers from the view's cells.
//
// A flow is {sent, back, amount, size, kinds: Map place → links, kind: place of the most frequent or -1}; `size` counts
// amounts without their sign, so that a refund of 10 is as wide as a payment of 10.

const EMPTY = { sent: 0, back: 0, amount: 0, size: 0, kind: -1 };

/** One flow for each edge of the view; `period` is [first, last] place of the periods, or null for all of time. */
export function edgeFlows(view, period = null, off = new Set()) {
  const flows = view.edges.map(() => ({ ...EMPTY, kinds: new Map() }));
  eachCell(view.links, off, (cell, at) => {
    if (!period || (cell.bin[at] >= period[0] && cell.bin[at] <= period[1])) add(flows[cell.edge[at]], cell, at);
  });
  for (const flow of flows) flow.kind = mostFrequent(flow.kinds);
  return flows;
}

function eachCell({ cells, kinds }, off, take) {
  for (let at = 0; at < cells.edge.length; at++) {
    if (!off.has(kinds[cells.kind[at]])) take(cells, at);
  }
}

function add(flow, cell, at) {
  const [count, amount, kind] = [cell.count[at], cell.amount[at] ?? 0, cell.kind[at]];
  flow[cell.back[at] ? "back" : "sent"] += count;
  flow.amount += amount;
  flow.size += Math.abs(amount);
  flow.kinds.set(kind, (flow.kinds.get(kind) || 0) + count);
}

function mostFrequent(kinds) {
  let [best, most] = [-1, 0];
  for (const [kind, count] of kinds) {
    if (count > most || (count === most && kind < best)) [best, most] = [kind, count];
  }
  return best;
}

export const linksOf = (flow) => flow.sent + flow.back;

/** What the width of an edge goes by. */
export const measure = (flow, by) => (by === "amount" ? flow.size : linksOf(flow));

/** Links of each period, both ways. */
export function perPeriod(links, off = new Set()) {
  const counts = new Array(links.starts.length).fill(0);
  eachCell(links, off, (cell, at) => {
    if (cell.bin[at] >= 0) counts[cell.bin[at]] += cell.count[at];
  });
  return counts;
}

/** Links of each kind in all of time. */
export function perKind(links) {
  const counts = links.kinds.map(() => 0);
  eachCell(links, new Set(), (cell, at) => (counts[cell.kind[at]] += cell.count[at]));
  return counts;
}

export const totalLinks = (links) => links.cells.count.reduce((sum, count) => sum + count, 0);

/** From when to when a period goes, in words. */
export function periodText({ starts, ends }, [first, last]) {
  const [from, to] = [starts[first], ends[last]];
  const year = / \d{4}$/.exec(to)?.[0];
  return from === to ? from : `${year && from.endsWith(year) ? from.slice(0, -year.length) : from} – ${to}`;
}

/** The period as the server asks for it: {after, before} in seconds. */
export function periodSeconds({ first, width }, [from, to]) {
  return { after: first + from * width, before: first + (to + 1) * width };
}
