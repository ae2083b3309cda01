// The edges of the picture: their data set, what runs along them now, and which nodes have none left.

import { linksOf } from "./edge_flows.js";
import { pushedEdge } from "./graph_reasons.js";
import { edgeId, edgeStyle, flowStyle } from "./graph_style.js";

export class EdgeLayer {
  constructor() {
    this.data = new vis.DataSet();
    this.drawn = new Map(); // id -> style as text: what has not changed is not drawn again
    this.traffic = null; // of LinksBar.traffic()
    this.view = null;
    this.chosen = null; // id of the edge whose links are listed
  }

  clear() {
    this.data.clear();
    this.drawn.clear();
    this.chosen = null;
  }

  take(view, traffic) {
    this.view = view;
    this.traffic = traffic;
    this.byId = new Map(view.edges.map((edge, at) => [edgeId(edge), { edge, flow: traffic?.flows[at] }]));
    const gone = this.data.getIds().filter((id) => !this.byId.has(id));
    gone.forEach((id) => this.drawn.delete(id));
    this.data.remove(gone);
    if (!this.byId.has(this.chosen)) this.chosen = null;
  }

  draw(theme, why) {
    const reasoned = ({ edge, flow }) => pushedEdge(this.style(edge, flow, theme), this.view.centre, why);
    const styles = [...this.byId.values()].map((each) => this.marked(reasoned(each), theme));
    const changed = styles.filter((style) => this.drawn.get(style.id) !== JSON.stringify(style));
    changed.forEach((style) => this.drawn.set(style.id, JSON.stringify(style)));
    if (changed.length) this.data.update(changed);
  }

  style(edge, flow, theme) {
    return edge.text ? flowStyle(edge, flow, this.traffic, theme) : edgeStyle(edge, theme);
  }

  /** The edge whose links are listed stands out from all colours of kinds. */
  marked(style, theme) {
    if (style.id !== this.chosen) return style;
    const colour = theme.text;
    return { ...style, width: style.width + 2.5, color: { color: colour, opacity: 1, highlight: colour, hover: colour } };
  }

  /** Nodes at no edge that is shown, while not all links are. */
  quiet() {
    if (!this.traffic?.filtered) return new Set();
    const busy = new Set([this.view.centre]);
    for (const { edge, flow } of this.byId.values()) {
      if (!edge.text || linksOf(flow)) busy.add(edge.from).add(edge.to);
    }
    return new Set(this.view.nodes.map((node) => node.id).filter((id) => !busy.has(id)));
  }

  /** The edge and flow of an id; null for an edge that has no links to tell of. */
  told(id) {
    const found = this.byId?.get(id);
    return found?.edge.text ? found : null;
  }
}
