// The dialog in which a lead gives the selected cases to an analyst, or takes them back.

import { button, el, fill, option, skeleton } from "./elements.js";
import { plural } from "./words.js";

const HINT = "Their queue begins with these cases, and nobody else is asked about them. Cases that have a verdict are left out.";

export function showAssign(app, nodes) {
  const body = el("div", { "data-testid": "assign-dialog" }, skeleton());
  const draw = () => {
    const team = app.state.extras.get("team");
    if (team) fill(body, choice(app, nodes, team));
  };
  app.state.extras.delete("team"); // how many are open changes
  app.want("team", { kind: "team" });
  app.dialogs.show(`Assign ${plural(nodes.length, "case")}`, body, {}, draw);
}

function choice(app, nodes, team) {
  const names = el("datalist", { id: "rf-team" }, team.map(({ name, open }) => option(name, `${open} open`)));
  const field = el("input", {
    class: "rf-input", list: "rf-team", "aria-label": "Analyst", placeholder: "analyst", "data-testid": "assign-to", maxLength: 60,
    autocomplete: "off", onKeydown: (event) => event.key === "Enter" && give(field.value),
  });
  const give = (to) => to.trim() && send(app, nodes, to.trim());
  return [
    el("p", { class: "rf-quiet" }, HINT),
    el("div", { class: "rf-assign" }, field, names, button("rf-button rf-primary", () => give(field.value), { "data-testid": "assign-go" }, "Assign"),
      button("rf-link", () => send(app, nodes, ""), { "data-testid": "assign-back" }, "Take back")),
    el("ul", { class: "rf-team", "data-testid": "assign-team" }, team.map(({ name, open }) =>
      el("li", {}, button("rf-link", () => give(name), { "data-name": name }, name), el("small", {}, ` ${plural(open, "case")} open`)))),
  ];
}

function send(app, nodes, to) {
  app.dialogs.close();
  app.outbox.post({ kind: "assign", nodes, to, analyst: app.analyst });
  app.queue.mark([]);
}
