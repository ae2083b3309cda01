// Dialogs over the panes (help, label a group) and short messages at the bottom.

class Dialogs {
  constructor(app) {
    this.app = app;
    this.box = el("div", { class: "rf-dialog", role: "dialog", "aria-modal": "true", tabIndex: -1 });
    this.element = el("div", { class: "rf-veil", onMousedown: (event) => event.target === this.element && this.close() }, this.box);
    this.toasts = el("div", { class: "rf-toasts", role: "status", "aria-live": "polite", "data-testid": "toasts" });
    this.keys = null; // keys of the open dialog
  }

  get open() {
    return this.element.classList.contains("rf-open");
  }

  show(title, content, keys = {}) {
    this.before = document.activeElement;
    this.keys = keys;
    fill(this.box, el("div", { class: "rf-dialog-head" }, el("h2", {}, title), el("button", { type: "button", class: "rf-link", "aria-label": "Close", onClick: () => this.close() }, "Close")), content);
    this.element.classList.add("rf-open");
    this.box.focus({ preventScroll: true });
  }

  close() {
    this.element.classList.remove("rf-open");
    this.keys = null;
    this.waitingFor = null;
    if (this.before instanceof HTMLElement && this.before.isConnected) this.before.focus({ preventScroll: true });
  }

  help() {
    if (this.open) {
      this.close();
      return;
    }
    this.show("Keys", el("div", { class: "rf-help", "data-testid": "help-dialog" }, HELP.map(([group, lines]) => el("section", {}, el("h3", {}, group),
      el("dl", {}, lines.map(([key, text]) => [el("dt", {}, key.split(" ").map((k) => el("kbd", {}, k))), el("dd", {}, text)]))))), { "?": () => this.close() });
  }

  /** The ring around a case: choose who belongs to it, then one verdict for all: one group, one undo. */
  group(node) {
    const key = `ring:${node}`;
    const ring = this.app.board.extras.get(key);
    this.waitingFor = ring ? null : node;
    if (!ring) {
      this.app.want(key, { kind: "ring", node });
      this.show("Label a group", skeleton());
      return;
    }
    if (ring.error) {
      this.show("Label a group", el("p", {}, ring.error));
      return;
    }
    const boxes = ring.map((row) => el("input", { type: "checkbox", checked: !this.app.board.verdict(row.node_id) || row.node_id === node, value: row.node_id }));
    const decide = (verdict) => {
      const nodes = boxes.filter((box) => box.checked).map((box) => box.value);
      this.close();
      if (nodes.length) this.app.decide(verdict, nodes, "ring");
    };
    const list = el("ul", { class: "rf-ring", "data-testid": "ring" }, ring.map((row, at) => el("li", {}, el("label", {}, boxes[at], el("span", { class: "rf-name" }, row.name), verdictChip(this.app.board.verdict(row.node_id))))));
    const buttons = Object.entries(VERDICTS).map(([verdict, { key: letter, word }]) => el("button", { type: "button", class: `rf-verdict rf-${verdict}`, "data-testid": `group-${verdict}`, onClick: () => decide(verdict) }, verdictShape(verdict, 13), word, el("kbd", {}, letter)));
    this.show("Label a group", [
      el("p", { class: "rf-quiet" }, ring.length > 1 ? "Closely linked nodes around this case. Untick who does not belong; nodes that have a verdict start unticked. One undo takes the whole group back."
        : "No closely linked group was found around this case: only the case itself is listed."),
      list, el("div", { class: "rf-verdicts" }, buttons)], { a: () => decide("anomalous"), n: () => decide("normal"), u: () => decide("unsure") });
  }

  /** Called when answers arrive. */
  refresh() {
    if (this.waitingFor && this.app.board.extras.has(`ring:${this.waitingFor}`)) this.group(this.waitingFor);
  }

  toast(text, level = "info") {
    const made = el("div", { class: `rf-toast rf-${level}` }, text, el("button", { type: "button", class: "rf-link", "aria-label": "Dismiss", onClick: () => made.remove() }, "×"));
    this.toasts.append(made);
    while (this.toasts.children.length > 4) this.toasts.firstChild.remove();
    setTimeout(() => made.remove(), level === "error" ? 15000 : 8000);
  }
}
