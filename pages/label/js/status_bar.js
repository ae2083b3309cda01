// The bar on top: labels so far, the model that ranks the queue, retraining, the analyst.

import { bar, button, el, fill, keyButton, option, secret } from "./elements.js";
import { VERDICTS, verdictShape } from "./marks.js";
import { count, decimals, plural } from "./words.js";

const AUTO_CHOICES = [0, 5, 10, 20, 50];

export class StatusBar {
  constructor(app) {
    this.app = app;
    this.title = el("div", { class: "rf-title", "data-testid": "project" });
    this.counts = el("div", { class: "rf-counts", "data-testid": "counts" });
    this.model = el("div", { class: "rf-model", "data-testid": "model" });
    this.progress = el("div", { class: "rf-progress", "data-testid": "progress", role: "status" });
    this.retrain = button("rf-button rf-primary", () => app.retrain(), { "data-testid": "retrain" });
    this.auto = el("select", {
      class: "rf-select", title: "Start a retrain by itself after so many new labels", "aria-label": "Automatic retrain",
      "data-testid": "auto", disabled: !app.may["change settings"], onChange: (event) => app.prefer("auto_retrain", Number(event.target.value)),
    });
    fill(this.auto, AUTO_CHOICES.map((k) => option(String(k), k ? `auto: every ${k}` : "auto: off")));
    this.blind = keyButton("Blind", "H", () => app.toggleBlind(), {
      title: "Hide scores, reasons and, until you have decided, what others said of the case", "aria-pressed": "false", "data-testid": "blind",
    });
    this.analyst = el("input", {
      class: "rf-input rf-analyst", type: "text", maxLength: 60, placeholder: "your name", spellcheck: false, disabled: app.login,
      "aria-label": "Analyst", title: `Recorded with every verdict; ${app.login ? "it is your login" : "remembered by this browser"}`,
      "data-testid": "analyst",
      onChange: (event) => app.setAnalyst(event.target.value),
      onKeydown: (event) => event.key === "Enter" && event.target.blur(),
    });
    this.element = el(
      "header", { class: "rf-status-bar" },
      this.title, this.counts, this.model, this.progress,
      el(
        "div", { class: "rf-tools" }, this.retrain, this.auto, this.blind,
        keyButton("↶", "Z", () => app.verdicts.undo(), { title: "Undo", "aria-label": "Undo", "data-testid": "undo" }),
        keyButton("↷", "⇧Z", () => app.verdicts.redo(), { title: "Redo", "aria-label": "Redo", "data-testid": "redo" }),
        keyButton("Export", "X", () => app.leave("export"), { "data-testid": "export" }),
        keyButton("", "?", () => app.dialogs.help(), { title: "All keys", "aria-label": "All keys", "data-testid": "help" }),
        this.analyst,
      ),
    );
  }

  show(facts, project) {
    this.facts = facts;
    this.title.textContent = project.name;
    this.title.title = `${project.name}: ${plural(project.n_nodes, "node")}, ${plural(project.n_edges, "edge")}`;
    this.showCounts();
    this.showModel(facts.run, facts.doubted);
    this.showProgress(facts.active);
    this.retrain.disabled = Boolean(facts.active);
    this.retrain.title = facts.device ? `Learn from all labels, on ${facts.device}` : "Learn from all labels";
    fill(this.retrain, "Retrain", facts.device && el("small", {}, facts.device.toUpperCase()), el("kbd", {}, "T"));
    const auto = String(facts.auto_retrain || 0);
    if (document.activeElement !== this.auto) {
      const offered = [...this.auto.options].some(({ value }) => value === auto);
      if (!offered) this.auto.append(option(auto, `auto: every ${auto}`));
      this.auto.value = auto;
    }
  }

  /** Labels as painted: what the server has plus what was given here and is on its way. */
  showCounts() {
    if (!this.facts) return;
    const state = this.app.state;
    const now = { ...this.facts.counts };
    state.given.forEach((given, node) => {
      const had = state.labels.get(node) || null;
      if (had === given.verdict) return;
      if (had) now[had] -= 1;
      if (given.verdict) now[given.verdict] += 1;
      if ([had, given.verdict].some((verdict) => verdict === "normal" || verdict === "anomalous")) now.fresh += 1;
    });
    fill(
      this.counts,
      ["anomalous", "normal", "unsure"].map((verdict) =>
        el("span", { class: `rf-count rf-${verdict}`, title: `${VERDICTS[verdict].word} so far`, "data-count": verdict },
          verdictShape(verdict, 11), el("b", {}, count(now[verdict])), el("small", {}, VERDICTS[verdict].short))),
      el("span", { class: "rf-count", title: "Labels that the model in use has not learnt from", "data-count": "fresh" },
        el("b", {}, count(now.fresh)), el("small", {}, "not in the model yet")),
    );
  }

  showModel(run, doubted) {
    if (!run) {
      fill(this.model, el("b", {}, "No model yet"), el("small", {}, "the first ranking needs no label"));
      return;
    }
    const rests = `Estimated on the ${run.anomalous} anomalous and ${run.normal} normal labels, each held out of training in turn; `
      + "in brackets a cautious 90 % interval";
    fill(
      this.model, el("b", {}, `Run ${run.number}`), el("small", {}, run.model),
      secret(el("small", { title: run.auc_text ? rests : "" }, run.auc_text ? `AUC ${run.auc_text}` : "AUC: needs more labels")),
      doubted && button("rf-doubted", () => this.app.leave("train"), {
        title: `Run ${doubted.number}: ${doubted.text}`, "data-testid": "doubted",
      }, doubted.in_use ? "⚠ in trouble" : `⚠ run ${doubted.number} not in use`),
    );
  }

  showProgress(run) {
    this.element.classList.toggle("rf-live", Boolean(run));
    if (!run) {
      fill(this.progress);
      return;
    }
    const share = run.epochs ? (100 * run.epoch) / run.epochs : 0;
    const epoch = run.epochs ? `${run.epoch}/${run.epochs}` : "";
    const loss = run.loss === null ? "" : `loss ${decimals(run.loss)}`;
    fill(
      this.progress,
      el("span", { class: "rf-stage" }, run.stage || run.status), bar(share, "rf-training"),
      el("small", { class: "rf-figures" }, [epoch, loss].filter(Boolean).join(" · ")),
      button("rf-link", () => this.app.cancelRun(run.id), { "data-testid": "cancel" }, "Cancel"),
    );
  }

  showBlind(on) {
    this.blind.setAttribute("aria-pressed", String(on));
    this.blind.classList.toggle("rf-on", on);
  }

  showAnalyst(name) {
    if (document.activeElement !== this.analyst) this.analyst.value = name;
  }
}
