// What the queue is mixed of: how far it leaves the top of the ranking, and how much of it is drawn at random.

const AUDIT_CHOICES = [0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5];
const DIAL_HINT = "Left: the cases that rank highest. Right: when verdicts stop hitting, cases unlike those seen so far";
const NO_DIAL = "This order does not depend on the dial";
const AUDIT_HINT = "Share of the queue drawn at random. The figures on what is left rest on these cases alone";

class Mix {
  constructor(changed) {
    this.dial = el("input", {
      type: "range", min: 0, max: 1, step: 0.25, "aria-label": "Exploit or explore", "data-testid": "dial",
      onChange: (event) => {
        changed();
        event.target.blur();
      },
    });
    this.audit = el("select", { class: "rf-select", title: AUDIT_HINT, "aria-label": "Random audit", "data-testid": "audit-share", onChange: changed });
    fill(this.audit, AUDIT_CHOICES.map(auditOption));
    this.label = el("label", {}, el("small", {}, "exploit"), this.dial, el("small", {}, "explore"));
    this.element = el("div", { class: "rf-mix" }, this.label, this.audit);
  }

  chosen() {
    return { dial: Number(this.dial.value), audit_share: Number(this.audit.value) };
  }

  show({ dial, audit_share: share }, dialled, audited) {
    this.dial.disabled = !dialled;
    this.label.title = dialled ? DIAL_HINT : NO_DIAL;
    this.audit.disabled = !audited;
    if (document.activeElement !== this.dial) this.dial.value = dial;
    if (document.activeElement === this.audit) return;
    if (![...this.audit.options].some(({ value }) => Number(value) === share)) this.audit.append(auditOption(share));
    this.audit.value = String(share);
  }
}

const auditOption = (share) => option(String(share), share ? `audit ${Math.round(100 * share)} %` : "no audit");
