// What lies over the canvas: tools, legend, hover card, menu. Text from data goes through textContent only.

function make(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== "") made.textContent = text;
  return made;
}

const grouped = (n) => Number(n || 0).toLocaleString("en-US");

/** Zoom, fit and the choice of colours; `choose(mode)` is called when the analyst picks one. */
function toolbar(zoom, fit, choose) {
  const bar = make("div", "gv-bar");
  const select = make("select");
  select.title = "Colour by";
  select.setAttribute("aria-label", "Colour by");
  select.addEventListener("change", () => choose(select.value));
  const button = (text, title, action) => {
    const made = make("button", "", text);
    made.type = "button";
    made.title = title;
    made.setAttribute("aria-label", title);
    made.addEventListener("click", action);
    return made;
  };
  bar.append(
    select,
    button("+", "Zoom in", () => zoom(1.3)),
    button("−", "Zoom out", () => zoom(1 / 1.3)),
    button("⤢", "Fit to view", fit),
  );
  const setModes = (columns, mode, blind) => {
    const modes = [["score", "Colour: score"], ["verdict", "Colour: verdict"]].slice(blind ? 1 : 0);
    for (const column of columns) modes.push([`attribute:${column}`, `Colour: ${column}`]);
    if (select.dataset.modes !== modes.join()) {
      select.dataset.modes = modes.join();
      select.replaceChildren(
        ...modes.map(([value, text]) => {
          const option = make("option", "", text);
          option.value = value;
          return option;
        }),
      );
    }
    select.value = blind && mode === "score" ? "verdict" : mode; // what is shown; the choice comes back after
  };
  return { bar, setModes };
}

/** Verdict shapes, the colour scale or the categories, and how much is not shown. */
function drawLegend(legend, colours, view) {
  const chip = (className, colour, text) => {
    const made = make("span");
    const sign = make("i", className);
    sign.style.background = colour;
    made.append(sign, text);
    return made;
  };
  const parts = [];
  if (colours.ramp) {
    const ramp = make("span");
    const sign = make("i", "gv-ramp");
    sign.style.background = colours.ramp.colours;
    ramp.append(colours.ramp.low, sign, colours.ramp.high);
    parts.push(ramp);
  }
  for (const { text, colour } of colours.chips || []) parts.push(chip("", colour, clip(String(text))));
  const own = !colours.ramp && !colours.chips;
  for (const verdict of ["anomalous", "normal", "unsure", ...(own ? ["none"] : [])]) {
    const colour = own ? PALETTE.verdicts[verdict] : "currentColor";
    parts.push(chip(`gv-${PALETTE.shapes[verdict]}`, colour, PALETTE.words[verdict]));
  }
  if (view.left_out) parts.push(make("span", "gv-note", `${grouped(view.left_out)} more not shown`));
  legend.replaceChildren(...parts);
}

function fillCard(card, node, blind, reasons = []) {
  const facts = [["Verdict", PALETTE.words[node.verdict || "none"]]];
  if (!blind) facts.push(["Score", `percentile ${(node.percentile ?? 0).toFixed(1)}`]);
  facts.push(...reasons);
  facts.push(["Neighbours", node.hidden ? `${grouped(node.degree)} (${grouped(node.hidden)} not shown)` : grouped(node.degree)]);
  facts.push(...Object.entries(node.attributes || {}).filter(([, value]) => value !== node.name).slice(0, 8));
  const list = make("dl");
  for (const [name, value] of facts) list.append(make("dt", "", name), make("dd", "", String(value)));
  const rows = [make("b", "", node.name || node.node_id)];
  if (node.name && node.name !== node.node_id) rows.push(make("span", "gv-note", node.node_id));
  card.replaceChildren(...rows, list);
}

/** Put a box beside a point so that it stays inside the view. */
function placeBeside(box, root, x, y, gap = 14) {
  box.hidden = false;
  const left = x + gap + box.offsetWidth > root.clientWidth ? x - gap - box.offsetWidth : x + gap;
  const top = Math.min(y + gap / 2, root.clientHeight - box.offsetHeight - 6);
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

/** Fill the menu of one node or of a selection; `items` is [[text, action], …]. */
function fillMenu(menu, title, items, close) {
  const buttons = items.map(([text, action]) => {
    const button = make("button", "", text);
    button.type = "button";
    button.setAttribute("role", "menuitem");
    button.addEventListener("click", () => {
      close();
      action();
    });
    return button;
  });
  menu.replaceChildren(make("p", "", title), ...buttons);
  menu.onkeydown = (event) => {
    const focused = buttons.indexOf(menu.getRootNode().activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) buttons[(focused + step + buttons.length) % buttons.length].focus();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return buttons;
}

const inside = (box, at) => at.x >= box.x && at.x <= box.x + box.width && at.y >= box.y && at.y <= box.y + box.height;

/** "+N" beside a node on the canvas; gives the badge's box in canvas units. */
function drawBadge(context, position, size, hidden, theme) {
  const text = `+${hidden > 999 ? `${Math.round(hidden / 1000)}k` : hidden}`;
  context.font = `600 11px ${theme.font}`;
  const width = context.measureText(text).width + 10;
  const box = { x: position.x + size * 0.6, y: position.y - size - 12, width, height: 16 };
  context.beginPath();
  context.roundRect(box.x, box.y, box.width, box.height, 8);
  context.fillStyle = theme.background;
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = theme.text;
  context.stroke();
  context.fillStyle = theme.text;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, box.x + 5, box.y + 8.5);
  return box;
}
