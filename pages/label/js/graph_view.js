// The neighbourhood of a case on a canvas (vis-network, physics off, positions from Python).
//
//   const graph = createGraphView(element, {
//     onSelect(ids, id),        // after a click; `id` is the node clicked, null on the background
//     onVerdict(ids, verdict),  // from the menu
//     onCentre(id),             // double click, or from the menu
//     onExpand(id),             // the "+N" badge, or from the menu
//     onCollapse(id),           // from the menu of a node that was expanded
//     onColour(mode),           // "score", "verdict" or "attribute:<column>"
//     onEdge(source, target),   // a click on an edge that has links
//     onPin(id),                // from the menu: pin it, or take the pin out
//   });                         // every callback is optional; `element` needs a height
//   graph.show(view, { colourBy, blind, selected, expanded, why, traffic, pinned })
//                               // view: graph_view.network_data(…); why: graph_reasons.js; traffic: LinksBar.traffic()
//   graph.showTraffic(traffic)  // other links of the same view
//   graph.chooseEdge(source, target)   // the edge whose links are listed; without ends none is
//   graph.edge(source, target)  // {x, y} of its middle on the page, null when it is not shown; graph.lines() of all
//   graph.locate(id)            // {x, y} on the page, null when it is not in view; graph.badge(id) of its "+N"
//   graph.named()               // ids that carry their name: those that matter, and others where there is room
//   graph.pushed()              // {nodes, edges} that stand out as reasons; see graph_reasons.js
//   graph.fit(), graph.destroy()
//
// A node that stays in view keeps its place: only another centre draws everything anew.

import { el } from "./elements.js";
import { EdgeLayer } from "./graph_edges.js";
import { drawBadge, drawLegend, drawPin, fillCard, fillEdgeCard, fillMenu, inside, placeBeside, toolbar } from "./graph_overlay.js";
import { namedNodes } from "./graph_names.js";
import { drawPushLegend, drawRings, NO_PUSH, pushesInView, pushesOf, pushFacts, ringReach, shownPushes } from "./graph_reasons.js";
import { colouring, edgeId, nodeStyle, themeOf } from "./graph_style.js";
import { PALETTE } from "./palette.js";
import { count } from "./words.js";

const NAME_SIZE = [11, 22]; // pixels on the screen that a name should have, and most units on the canvas

export function createGraphView(element, callbacks = {}) {
  const [canvas, legend, reasons, card] = ["canvas", "legend", "why", "card"].map((name) => el("div", { class: `gv-${name}` }));
  const menu = el("div", { class: "gv-menu", role: "menu" });
  card.hidden = menu.hidden = reasons.hidden = true;
  const tools = toolbar(zoomBy, () => fit(true), (mode) => {
    state.mode = mode;
    restyle();
    call("onColour", mode);
  });
  const root = el("div", { class: "gv" }, canvas, legend, reasons, tools.bar, card, menu);
  element.append(root);

  const state = {
    view: null,
    cases: new Map(), // id -> facts
    sizes: new Map(),
    selected: new Set(),
    mode: "score",
    blind: false,
    focus: null, // last node under the pointer: its badge is shown
    near: 0, // nodes up to hop 1
    font: 12, // size of names, in canvas units
    named: new Set(), // ids that carry their name
    expanded: new Set(), // ids whose further neighbours were asked for
    placed: new Set(), // ids that stand on the canvas
    pinned: new Set(),
    quiet: new Set(), // ids without a link in the period and of the kinds that are shown
    badges: [], // [{id, x, y, width, height}] in canvas units
    why: NO_PUSH, // what raises and lowers the score of the case
    theme: null,
  };
  let network = null;
  let nodes = null;
  let edges = null;
  let colours = null;
  let waiting = null;

  const call = (name, ...values) => callbacks[name]?.(...values);

  function start() {
    nodes = new vis.DataSet();
    edges = new EdgeLayer();
    network = new vis.Network(canvas, { nodes, edges: edges.data }, {
      physics: false,
      layout: { randomSeed: 1, improvedLayout: false },
      nodes: { chosen: { node: false, label: false }, shapeProperties: { interpolation: false } },
      edges: { smooth: false, selectionWidth: 1.5, hoverWidth: 0.8 },
      interaction: { hover: true, multiselect: false, selectConnectedEdges: true, dragNodes: true, keyboard: false, tooltipDelay: 0 },
    });
    network.on("click", onClick);
    network.on("doubleClick", ({ nodes: [id] }) => id !== undefined && call("onCentre", id));
    network.on("oncontext", onContext);
    network.on("hoverNode", ({ node, pointer }) => onHover(node, pointer.DOM));
    network.on("hoverEdge", ({ edge, pointer }) => onHoverEdge(edge, pointer.DOM));
    ["blurNode", "blurEdge"].forEach((name) => network.on(name, () => (card.hidden = true)));
    network.on("dragStart", hideAll);
    network.on("zoom", () => {
      hideAll();
      readable();
    });
    network.on("beforeDrawing", (context) => state.view && drawRings(context, pushed().nodes, (id) => network.getPosition(id), radius));
    network.on("afterDrawing", drawBadges);
    network.on("animationFinished", readable);
    network.on("resize", () => requestAnimationFrame(() => state.view && readable())); // the zoom follows the size
  }

  function hideAll() {
    card.hidden = menu.hidden = true;
  }

  function onHover(id, at) {
    state.focus = id;
    if (menu.hidden && state.cases.has(id)) {
      fillCard(card, state.cases.get(id), state.blind, pushFacts(state.why, id));
      placeBeside(card, root, at.x, at.y);
    }
    network.redraw();
  }

  function onHoverEdge(id, at) {
    const told = edges.told(id);
    if (!menu.hidden || !told) return;
    fillEdgeCard(card, told, state.view, edges.traffic.filtered);
    placeBeside(card, root, at.x, at.y);
  }

  function onClick({ pointer, nodes: [id], edges: [line], event }) {
    hideAll();
    const badge = state.badges.find((box) => inside(box, pointer.canvas));
    const keys = event.srcEvent || event;
    const many = keys.ctrlKey || keys.shiftKey || keys.metaKey;
    if (badge) {
      select();
      call("onExpand", badge.id);
      return;
    }
    const told = id === undefined && edges.told(line);
    if (told) {
      select();
      call("onEdge", told.edge.from, told.edge.to);
      return;
    }
    if (id === undefined) {
      if (!many) state.selected.clear();
    } else if (!many) {
      state.selected = new Set([id]);
    } else if (!state.selected.delete(id)) {
      state.selected.add(id);
    }
    restyle();
    call("onSelect", [...state.selected], id ?? null);
  }

  function onContext({ pointer, event }) {
    event.preventDefault();
    const id = network.getNodeAt(pointer.DOM);
    hideAll();
    if (id !== undefined) openMenu(id, pointer.DOM);
  }

  function openMenu(id, at) {
    const many = state.selected.has(id) && state.selected.size > 1;
    const ids = many ? [...state.selected] : [id];
    const node = state.cases.get(id);
    const items = ["anomalous", "normal", "unsure"].map((verdict) => [
      `Mark ${PALETTE.words[verdict].toLowerCase()}`,
      () => call("onVerdict", ids, verdict),
    ]);
    if (id !== state.view.centre) items.push(["Centre on this node", () => call("onCentre", id)]);
    if (node.hidden) items.push([`Show more of its neighbours (+${count(node.hidden)})`, () => call("onExpand", id)]);
    if (state.expanded.has(id)) items.push(["Fold its added neighbours away", () => call("onCollapse", id)]);
    items.push([state.pinned.has(id) ? "Take the pin out" : "Pin: keep it in the picture", () => call("onPin", id)]);
    items.push([state.selected.has(id) ? "Take out of the selection" : "Add to the selection", () => {
      if (!state.selected.delete(id)) state.selected.add(id);
      restyle();
      call("onSelect", [...state.selected], id);
    }]);
    const buttons = fillMenu(menu, many ? `${ids.length} selected nodes` : node.name || id, items, () => (menu.hidden = true));
    placeBeside(menu, root, at.x, at.y, 4);
    buttons[0].focus();
  }

  const onOutside = (event) => {
    if (!event.composedPath().includes(menu)) menu.hidden = true;
  };
  window.addEventListener("pointerdown", onOutside);
  canvas.addEventListener("mouseleave", () => (card.hidden = true));

  const radius = (id) => state.sizes.get(id) + (id === state.view.centre ? 6 : 0);
  const reach = (id) => ringReach(state.why.nodes.get(id));
  const pushed = () => pushesInView(state.why, state.view, state.placed);

  /** Badges stand on nodes whose neighbours should be in view but are cut, and on the one pointed at. */
  function drawBadges(context) {
    state.badges = [];
    for (const [id, node] of state.cases) {
      if (!state.placed.has(id)) continue; // vis-network also draws while the data sets are being filled
      if (state.pinned.has(id)) drawPin(context, network.getPosition(id), radius(id), state.theme);
      const wanted = (node.hop < state.view.hops && !state.quiet.has(id)) || id === state.focus || state.selected.has(id);
      if (!wanted || !node.hidden) continue;
      const box = drawBadge(context, network.getPosition(id), state.sizes.get(id), node.hidden, state.theme);
      state.badges.push({ id, ...box });
    }
  }

  function styled(id) {
    const node = state.cases.get(id);
    const centre = id === state.view.centre;
    const selected = state.selected.has(id);
    const quiet = state.quiet.has(id);
    const named = state.named.has(id) && (!quiet || selected);
    const at = { centre, selected, named, quiet, size: state.sizes.get(id), font: state.font, reach: reach(id) };
    return nodeStyle(node, colours.of(node), state.theme, at);
  }

  function restyle() {
    if (!network || !state.view) return;
    state.theme = themeOf(root);
    const cases = [...state.cases.values()];
    const columns = [...new Set(cases.flatMap((node) => Object.keys(node.attributes || {})))];
    if (state.mode.startsWith("attribute:") && !columns.includes(state.mode.slice(10))) state.mode = "score";
    colours = colouring(state.mode, cases, state.blind);
    tools.setModes(columns, state.mode, state.blind);
    drawLegend(legend, colours, state.view);
    state.named = namedNodes(state, (id) => network.getPosition(id), (id) => radius(id) + reach(id));
    state.quiet = edges.quiet();
    nodes.update([...state.cases.keys()].map(styled));
    edges.draw(state.theme, state.why);
    drawPushLegend(reasons, pushed());
    select();
    root.dataset.centre = state.view.centre;
    root.dataset.nodes = state.cases.size;
    root.dataset.selected = [...state.selected].join(" ");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Neighbourhood of ${state.view.centre}: ${state.cases.size} nodes, ${state.view.edges.length} edges`);
  }

  /** Show the selection; an edge whose links are listed stands out alone. */
  function select() {
    const lines = edges.chosen ? [edges.chosen] : [];
    network.setSelection({ nodes: [...state.selected], edges: lines }, { highlightEdges: !lines.length });
  }

  function chooseEdge(source, target) {
    if (!network) return;
    edges.chosen = [[source, target], [target, source]].map(([from, to]) => edgeId({ from, to })).find((id) => edges.told(id)) || null;
    edges.draw(state.theme, state.why);
    select();
  }

  /** Draw what has changed and no more: this is called for every step of a drag. */
  function showTraffic(traffic) {
    if (!network || !state.view) return;
    edges.take(state.view, traffic);
    edges.draw(state.theme, state.why);
    const before = state.quiet;
    state.quiet = edges.quiet();
    const changed = [...state.cases.keys()].filter((id) => before.has(id) !== state.quiet.has(id));
    if (changed.length) nodes.update(changed.map(styled));
    select();
  }

  function takeIn(view) {
    state.view = view;
    state.cases.clear();
    for (const node of view.nodes) {
      const facts = { ...(node.case ?? node) };
      state.cases.set(facts.node_id, facts);
      state.sizes.set(facts.node_id, node.size ?? 12);
    }
    state.near = view.nodes.filter((node) => (node.case ?? node).hop <= 1).length;
    state.selected.forEach((id) => state.cases.has(id) || state.selected.delete(id));
    if (!state.cases.has(state.focus)) state.focus = null;
  }

  function show(view, options = {}) {
    if (options.colourBy) state.mode = options.colourBy;
    if (options.blind !== undefined) state.blind = options.blind;
    state.expanded = new Set(options.expanded || []);
    state.why = pushesOf(options.why);
    state.pinned = new Set(options.pinned || []);
    if (!globalThis.vis?.Network) {
      waiting = [view, options];
      return;
    }
    if (!network) start();
    const moved = state.view?.centre !== view.centre;
    if (moved) {
      hideAll();
      state.selected.clear();
      state.placed.clear();
      edges.clear();
      nodes.clear();
    }
    state.theme = themeOf(root);
    takeIn(view);
    if (options.selected) state.selected = new Set([options.selected].flat().filter((id) => state.cases.has(id)));
    edges.take(view, options.traffic || null);
    const grown = follow(view);
    restyle();
    if (moved || grown) fit(!moved);
  }

  /** Bring the data sets to the nodes and edges of the view; those already there keep their place. */
  function follow(view) {
    const known = new Set(nodes.getIds());
    const fresh = view.nodes.filter((node) => !known.has((node.case ?? node).node_id));
    known.forEach((id) => state.cases.has(id) || state.placed.delete(id));
    nodes.remove([...known].filter((id) => !state.cases.has(id)));
    const place = (node) => ({ id: (node.case ?? node).node_id, x: node.x, y: node.y });
    nodes.add(fresh.map(place));
    nodes.update(view.nodes.filter((node) => node.case?.aside).map(place)); // outside of whatever is there now
    state.placed = new Set(state.cases.keys());
    return fresh.length > 0;
  }

  function zoomBy(factor) {
    network?.moveTo({ scale: network.getScale() * factor, animation: { duration: 120, easingFunction: "easeOutQuad" } });
  }

  function fit(animated = false) {
    network?.fit({ maxZoomLevel: 1.4, animation: animated ? { duration: 180, easingFunction: "easeOutQuad" } : false });
    if (!animated) readable();
  }

  /** Names keep a size that can be read when the picture is small. */
  function readable() {
    const [onScreen, most] = NAME_SIZE;
    const font = Math.round(Math.max(12, Math.min(most, onScreen / network.getScale())));
    if (font === state.font) return;
    state.font = font;
    restyle();
  }

  const onPage = (at) => {
    const dom = network.canvasToDOM(at);
    const box = canvas.getBoundingClientRect();
    return { x: box.left + dom.x, y: box.top + dom.y };
  };

  const locate = (id) => (state.placed.has(id) ? onPage(network.getPosition(id)) : null);

  function edge(source, target) {
    const shown = edges.data.get().find((line) => line.from === source && line.to === target && !line.hidden);
    const [a, b] = [source, target].map((id) => shown && network.getPosition(id));
    return shown ? onPage({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }) : null;
  }

  function badge(id) {
    const box = state.badges.find((drawn) => drawn.id === id);
    return box ? onPage({ x: box.x + box.width / 2, y: box.y + box.height / 2 }) : null;
  }

  const onReady = () => {
    if (waiting && globalThis.vis?.Network) {
      const [view, options] = waiting;
      waiting = null;
      show(view, options);
    }
  };
  window.addEventListener("vis-network-ready", onReady);

  function destroy() {
    window.removeEventListener("vis-network-ready", onReady);
    window.removeEventListener("pointerdown", onOutside);
    network?.destroy();
    root.remove();
  }

  const view = {
    show, showTraffic, chooseEdge, edge, locate, badge, fit, destroy,
    named: () => [...state.named], lines: () => edges.data.get(), quiet: () => [...state.quiet],
    pushed: () => shownPushes(pushed().nodes, edges.data, state.view.centre),
  };
  root.graphView = view;
  return view;
}
