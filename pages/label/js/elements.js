// Elements that every pane is made of. All text from data goes through textContent: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: properties by name ("on…" listens, "data-…" and "aria-…" are attributes), then children. */
export function el(tag, properties = {}, ...children) {
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

export function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/** Replace all children. */
export function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

export function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  append(made, children);
  return made;
}

export function button(className, onClick, properties, ...children) {
  return el("button", { type: "button", class: className, onClick, ...properties }, ...children);
}

export const option = (value, text, properties = {}) => el("option", { value, ...properties }, text);

/** A small button with its key shown. */
export function keyButton(text, key, onClick, properties = {}) {
  return button("rf-button", onClick, properties, text, key && el("kbd", {}, key));
}

export function bar(percent, className = "") {
  const width = Math.max(0, Math.min(100, percent || 0));
  return el("span", { class: `rf-bar ${className}` }, el("i", { style: { width: `${width}%` } }));
}

/** A score as its place among all nodes: quiet below the top fifth, loud in the top twentieth. */
export function scoreBar(percentile, className = "") {
  const tone = percentile < 80 ? "rf-quiet-score" : percentile < 95 ? "rf-mid-score" : "";
  return bar(percentile, `${tone} ${className}`);
}

/** Wrap what blind mode hides: it keeps its place on the screen and leaves the accessibility tree. */
export function secret(...children) {
  return el("span", { class: "rf-secret" }, ...children);
}

export function section(title, ...children) {
  return el("section", { class: "rf-section" }, el("h3", {}, title), ...children);
}

export function skeleton() {
  const line = (width) => el("i", { style: { width: `${width}%` } });
  return el("div", { class: "rf-skeleton", "aria-label": "Loading" }, [90, 60, 75, 40, 80, 55].map(line));
}
