// The right pane: who this is, the three verdicts, and what is known, in three tabs (card, why, similar).

const BANDS = { high: "High", raised: "Raised", usual: "Usual", low: "Low" };
const TABS = [["card", "Card", ""], ["why", "Why", "W"], ["similar", "Similar", "S"]];

class CardPane {
  constructor(app) {
    this.app = app;
    this.tab = "card";
    this.drafts = new Map(); // node -> note being written
    this.who = el("div", { class: "rf-who" });
    this.verdicts = el("div", { class: "rf-verdicts" });
    this.buttons = {};
    for (const [verdict, { key, word }] of Object.entries(VERDICTS)) {
      this.buttons[verdict] = el("button", {
        type: "button", class: `rf-verdict rf-${verdict}`, "data-testid": `mark-${verdict}`, title: `${word} (${key})`,
        onClick: () => app.decide(verdict),
      }, verdictShape(verdict, 13), el("span", {}, word), el("kbd", {}, key));
      this.verdicts.append(this.buttons[verdict]);
    }
    this.tabs = el("div", { class: "rf-tabs", role: "tablist" });
    this.body = el("div", { class: "rf-body", "data-testid": "card-body" });
    this.element = el("section", { class: "rf-pane rf-card", "aria-label": "Node card", "data-testid": "card" },
      el("div", { class: "rf-head" }, this.who, this.verdicts, this.tabs), this.body);
  }

  choose(tab) {
    this.tab = this.tab === tab && tab !== "card" ? "card" : tab;
    this.draw();
  }

  /** Name, id and verdict of the current case: drawn at once, from the row if the rest is not here yet. */
  drawHead() {
    const node = this.app.board.current;
    const found = node ? this.app.board.cases.get(node) : null;
    this.element.dataset.node = node || "";
    this.element.dataset.complete = "no";
    this.drawWho(node, found ? found.card.row : node && this.app.knownRow(node), found);
    this.paint();
  }

  /** Show the current case, as much of it as is here. */
  draw() {
    const node = this.app.board.current;
    const found = node ? this.app.board.cases.get(node) : null;
    this.drawHead();
    this.element.dataset.complete = found ? "yes" : "no";
    fill(this.tabs, TABS.map(([name, text, key]) => el("button", {
      type: "button", role: "tab", class: "rf-tab", "aria-selected": String(this.tab === name), "data-testid": `tab-${name}`,
      onClick: () => this.choose(name),
    }, text, key && el("kbd", {}, key))));
    const same = this.body.dataset.shown === `${node}:${this.tab}`;
    if (same && document.activeElement === this.noteField) return; // a note is being written
    const scroll = this.body.scrollTop;
    if (!node) fill(this.body, el("p", { class: "rf-quiet" }, "Choose a case in the queue, or search with / for any node."));
    else if (this.tab === "why") drawWhy(this.body, this.app, node);
    else if (!found) fill(this.body, skeleton());
    else if (this.tab === "similar") this.drawSimilar(found.card.similar);
    else this.drawCard(node, found.card);
    this.body.scrollTop = same ? scroll : 0;
    this.body.dataset.shown = `${node}:${this.tab}`;
  }

  drawWho(node, row, found) {
    if (!node) {
      fill(this.who, el("h2", {}, "No case"));
      return;
    }
    const name = row ? row.name : node;
    fill(this.who,
      el("h2", { title: name, "data-testid": "case-name" }, name),
      el("div", { class: "rf-ids" }, el("code", { "data-testid": "case-id", title: "Node id" }, node),
        found ? el("span", {}, plural(found.card.degree, "neighbour")) : null, verdictChip(this.app.board.verdict(node))));
  }

  /** Follow the verdict of the current case without drawing the rest again. */
  paint() {
    const node = this.app.board.current;
    const verdict = node ? this.app.board.verdict(node) : null;
    for (const [name, button] of Object.entries(this.buttons)) {
      button.setAttribute("aria-pressed", String(verdict === name));
      button.disabled = !node;
    }
    const chip = this.who.querySelector(".rf-chip");
    if (chip) chip.replaceWith(verdictChip(verdict));
  }

  drawCard(node, card) {
    fill(this.body, this.score(card), this.history(card), this.neighbours(card), this.note(node, card), this.attributes(card), this.events(card));
  }

  score(card) {
    const { row } = card;
    if (!row.rank) return section("Score", el("p", { class: "rf-quiet" }, "No run yet: scores appear after the first ranking."));
    const top = 100 - row.percentile;
    return section("Score", secret(
      el("div", { class: "rf-line" }, el("span", { class: `rf-band rf-band-${card.band}` }, BANDS[card.band] || card.band || "–"),
        el("b", {}, `rank ${count(row.rank)}`), movedMark(row.moved),
        el("span", { class: "rf-quiet" }, `top ${top < 0.1 ? "0.1" : top.toFixed(top < 10 ? 1 : 0)} %`)),
      scoreBar(row.percentile, "rf-wide"),
      el("p", { class: "rf-basis" }, card.probability === null ? `Probability: none yet. ${card.probability_reason}`
        : `Probability about ${Math.round(card.probability * 100)} %. ${card.probability_reason}`),
      row.reason && el("p", { class: "rf-why-line" }, row.reason),
    ));
  }

  history(card) {
    if (card.rank_history.length < 2) return null;
    return section("Rank over runs", secret(sparkline(card.rank_history)));
  }

  neighbours(card) {
    const parts = ["anomalous", "normal", "unsure", "unlabelled"].map((name) => [name, card.neighbour_verdicts[name] || 0]);
    const total = parts.reduce((sum, [, n]) => sum + n, 0);
    if (!total) return section("Neighbours", el("p", { class: "rf-quiet" }, "No neighbours: this node stands alone."));
    return section("Neighbours’ verdicts",
      el("div", { class: "rf-stack" }, parts.filter(([, n]) => n).map(([name, n]) => el("i", { class: `rf-${name}`, style: { flexGrow: n }, title: `${n} ${name}` }))),
      el("div", { class: "rf-line rf-quiet" }, parts.filter(([, n]) => n).map(([name, n]) => el("span", {}, verdictShape(VERDICTS[name] ? name : null, 9), ` ${count(n)} ${name}`))));
  }

  note(node, card) {
    const draft = this.drafts.has(node) ? this.drafts.get(node) : card.note;
    this.noteField = el("textarea", {
      class: "rf-input", rows: 2, placeholder: "Note for the case file", "aria-label": "Note", value: draft, "data-testid": "note",
      onInput: (event) => this.drafts.set(node, event.target.value),
      onKeydown: (event) => this.noteKey(event, node, card), onBlur: () => this.saveNote(node, card),
    });
    return section(el("span", {}, "Note ", el("kbd", {}, "M")), this.noteField);
  }

  noteKey(event, node, card) {
    event.stopPropagation();
    if (event.key === "Escape") {
      this.drafts.delete(node);
      event.target.value = card.note;
      event.target.blur();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      event.target.blur();
    }
  }

  saveNote(node, card) {
    const text = this.drafts.get(node);
    if (text === undefined || text.trim() === card.note) return;
    card.note = text.trim();
    this.drafts.delete(node);
    this.app.saveNote(node, card.note);
  }

  focusNote() {
    if (this.tab !== "card") this.choose("card");
    this.noteField?.focus();
  }

  attributes(card) {
    const shown = card.attributes.filter((attribute) => attribute.value !== card.row.name); // the heading says it
    if (!shown.length) return null;
    return section("Attributes against all nodes", el("dl", { class: "rf-attributes" }, shown.map((attribute) => attributeLine(attribute))));
  }

  events(card) {
    if (!card.events.length) return null;
    return section("Label history", el("ul", { class: "rf-events", "data-testid": "events" }, card.events.map((event) => el("li", {},
      verdictShape(event.verdict, 10), el("b", {}, event.kind === "label" ? VERDICTS[event.verdict]?.word || "" : event.kind),
      el("span", { class: "rf-quiet" }, [event.analyst, when(event.at), event.source === "app" ? "" : event.source].filter(Boolean).join(" · ")),
      event.note && el("p", {}, event.note)))));
  }

  drawSimilar(rows) {
    fill(this.body, el("p", { class: "rf-quiet" }, "Closest in what the model has learnt. Click to open, Ctrl-click to select."), rowList(rows, this.app));
  }
}

function section(title, ...children) {
  return el("section", { class: "rf-section" }, el("h3", {}, title), ...children);
}

function skeleton() {
  return el("div", { class: "rf-skeleton", "aria-label": "Loading" }, [90, 60, 75, 40, 80, 55].map((width) => el("i", { style: { width: `${width}%` } })));
}

/** One attribute: value, and where it stands among all nodes. */
function attributeLine(attribute) {
  const { percentile, share } = attribute;
  const place = percentile !== null
    ? [bar(percentile, percentile >= 95 || percentile <= 5 ? "rf-extreme" : ""), el("small", { title: "Share of nodes with a lower value" }, `P${Math.round(percentile)}`)]
    : share !== null ? [bar(share, share <= 5 ? "rf-extreme" : ""), el("small", { title: "Share of nodes with this value" }, share < 0.1 ? "<0.1 %" : `${share.toFixed(share < 10 ? 1 : 0)} %`)] : [el("span"), el("span")];
  return el("div", {}, el("dt", { title: attribute.column }, attribute.column), el("dd", { title: attribute.value }, attribute.value), place);
}

/** A list of other nodes to open or select. */
function rowList(rows, app) {
  if (!rows.length) return el("p", { class: "rf-quiet" }, "None.");
  return el("ul", { class: "rf-rowlist" }, rows.map((row) => el("li", {
    class: "rf-row", "data-node": row.node_id, onClick: (event) => (event.ctrlKey || event.metaKey ? app.toggleMark(row.node_id) : app.open(row.node_id, row)),
  }, el("span", { class: "rf-name", title: row.node_id }, row.name), verdictChip(app.board.verdict(row.node_id)), secret(scoreBar(row.percentile)))));
}

/** Rank over runs; the top of the picture is rank 1, on a logarithmic scale. */
function sparkline(history) {
  const [w, h, pad] = [240, 44, 5];
  const worst = Math.log(Math.max(2, ...history.map(([, rank]) => rank)));
  const points = history.map(([, rank], at) => [
    pad + ((w - 2 * pad) * at) / (history.length - 1), pad + ((h - 2 * pad) * Math.log(Math.max(1, rank))) / worst]);
  const [first, last] = [history[0], history[history.length - 1]];
  return el("div", { class: "rf-spark" },
    svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Rank ${first[1]} in run ${first[0]}, ${last[1]} in run ${last[0]}` },
      svg("polyline", { points: points.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" ") }),
      points.map(([x, y], at) => {
        const dot = svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: at === points.length - 1 ? 3.5 : 2 });
        dot.append(svg("title", {}, `Run ${history[at][0]}: rank ${history[at][1]}`));
        return dot;
      })),
    el("div", { class: "rf-line rf-quiet" }, el("span", {}, `run ${first[0]}: ${count(first[1])}`), el("span", {}, `run ${last[0]}: ${count(last[1])}`)));
}
