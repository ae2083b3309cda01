// Small parts that every pane uses. All text from data goes through textContent: nothing here parses HTML.

const VERDICTS = {
  anomalous: { key: "A", word: "Anomalous", short: "anomalous" },
  normal: { key: "N", word: "Normal", short: "normal" },
  unsure: { key: "U", word: "Unsure", short: "unsure" },
};
const SVG = "http://www.w3.org/2000/svg";

/** Make an element: properties by name ("on…" listens, "data-…" and "aria-…" are attributes), then children. */
function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2).toLowerCase(), value);
    else if (name === "class") made.className = value;
    else if (name === "style") Object.assign(made.style, value);
    else if (name in made && name !== "list" && !name.includes("-")) made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  append(made, children);
  return made;
}

function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/** Replace all children. */
function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  append(made, children);
  return made;
}

/** The sign of a verdict: shape and colour, so that either alone is enough. */
function verdictShape(verdict, size = 12) {
  const shapes = {
    anomalous: () => svg("path", { d: "M6 .6 11.4 6 6 11.4 .6 6Z" }),
    normal: () => svg("rect", { x: 1.2, y: 1.2, width: 9.6, height: 9.6, rx: 1 }),
    unsure: () => svg("path", { d: "M6 1 11.4 10.6H.6Z" }),
  };
  const draw = shapes[verdict] || (() => svg("circle", { cx: 6, cy: 6, r: 4.4, class: "rf-hollow" }));
  return svg(
    "svg",
    { viewBox: "0 0 12 12", width: size, height: size, class: `rf-shape rf-${verdict || "none"}`, "aria-hidden": "true" },
    draw(),
  );
}

/** The name of a node with its id in quiet type where they differ: several nodes may share a name. */
function nodeName(name, id, properties = {}) {
  if (name === id) return el("span", { class: "rf-name", ...properties }, name);
  return el("span", { class: "rf-name rf-with-id", ...properties }, el("span", {}, name), el("small", { class: "rf-id" }, id));
}

/** The same in a sentence. */
const fullName = (name, id) => (name === id ? name : `${name} (${id})`);

function verdictChip(verdict) {
  if (!verdict) return el("span", { class: "rf-chip rf-none", "data-verdict": "" });
  return el(
    "span",
    { class: `rf-chip rf-${verdict}`, "data-verdict": verdict, title: VERDICTS[verdict].word },
    verdictShape(verdict, 10),
    VERDICTS[verdict].word,
  );
}

function button(className, onClick, properties, ...children) {
  return el("button", { type: "button", class: className, onClick, ...properties }, ...children);
}

const option = (value, text, properties = {}) => el("option", { value, ...properties }, text);

/** A small button with its key shown. */
function keyButton(text, key, onClick, properties = {}) {
  return button("rf-button", onClick, properties, text, key && el("kbd", {}, key));
}

function bar(percent, className = "") {
  const width = Math.max(0, Math.min(100, percent || 0));
  return el("span", { class: `rf-bar ${className}` }, el("i", { style: { width: `${width}%` } }));
}

/** A score as its place among all nodes: quiet below the top fifth, loud in the top twentieth. */
function scoreBar(percentile, className = "") {
  const tone = percentile < 80 ? "rf-quiet-score" : percentile < 95 ? "rf-mid-score" : "";
  return bar(percentile, `${tone} ${className}`);
}

/** Wrap what blind mode hides: it keeps its place on the screen and leaves the accessibility tree. */
function secret(...children) {
  return el("span", { class: "rf-secret" }, ...children);
}

const count = (n) => Number(n || 0).toLocaleString("en-US");
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

function decimals(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 10000 || size < 0.001)) return value.toExponential(1);
  return value.toFixed(size >= 100 ? 1 : digits);
}

function when(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso || "";
  const today = new Date().toDateString() === date.toDateString();
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return today ? time : `${date.toLocaleDateString([], { day: "numeric", month: "short" })} ${time}`;
}

/** Places gained or lost since the run before. */
function movedMark(moved) {
  if (moved === null || moved === undefined) return el("span", { class: "rf-moved" });
  if (moved === 0) return el("span", { class: "rf-moved", title: "Same rank as in the run before" }, "=");
  return arrow(moved, "since the run before");
}

/** Places gained or lost by the verdicts since the run; told apart from those that a run brought. */
function provisionalMark(moved) {
  if (!moved) return el("span", { class: "rf-moved" });
  return arrow(moved, "by the verdicts since the run: provisional, until the next one", "rf-provisional");
}

function arrow(moved, since, className = "") {
  const up = moved > 0;
  return el(
    "span",
    { class: `rf-moved ${up ? "rf-up" : "rf-down"} ${className}`, title: `${up ? "Up" : "Down"} ${plural(Math.abs(moved), "place")} ${since}` },
    `${up ? "▲" : "▼"}${short(Math.abs(moved))}`,
  );
}

function short(n) {
  if (n < 1000) return String(n);
  return n < 1e6 ? `${Math.round(n / 1000)}k` : `${Math.round(n / 1e6)}M`;
}

function debounce(wait, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), wait);
  };
}

/** Browser storage that may be switched off: then nothing is remembered, and nothing fails. */
const remembered = {
  get(store, name, fallback = null) {
    try {
      const text = window[store].getItem(`ringfence:${name}`);
      return text === null ? fallback : JSON.parse(text);
    } catch {
      return fallback;
    }
  },
  set(store, name, value) {
    try {
      window[store].setItem(`ringfence:${name}`, JSON.stringify(value));
    } catch {
      /* private mode or full: the screen works without */
    }
  },
};
