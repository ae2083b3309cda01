"""audit, moved, agreement, second-look."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from gadcore.cli.parser import Commands
from gadcore.cli.show import count, name_beside, out, share, table

if TYPE_CHECKING:
    from gadcore.insight.agreement import Agreement
    from gadcore.insight.moved import Mover
    from gadcore.loop.audit import AuditReport
    from gadcore.workspace import Workspace


def add_commands(commands: Commands) -> None:
    add = commands.add_for_project
    audit = add("audit", show_audit, "precision, anomalies left, when to stop", "audit -p demo -k 50")
    audit.add_argument("-k", type=count, default=100, help="length of the list (default: 100)")
    audit.add_argument(
        "--recall",
        type=share,
        metavar="R",
        help="stop when this part of all anomalies is found for sure; kept for the project (at first: 0.5)",
    )

    moved = add(
        "moved", show_moved, "what rose and fell since the run before, and why", "moved -p demo -n 10"
    )
    moved.add_argument("--run", metavar="RUN", help="number or id of a run (default: the one in use)")
    moved.add_argument("-n", type=count, default=20, help="nodes each way (default: 20)")

    add(
        "agreement",
        show_agreement,
        "how far analysts agree, and what they dispute; settle a dispute with label --settle",
        "agreement -p demo\n  ringfence label -p demo A10434 anomalous --settle",
    )

    second = add(
        "second-look",
        show_second_look,
        "verdicts to look at again; keep or change one with label --settle",
        "second-look -p demo -n 10\n  ringfence label -p demo A10434 normal --settle",
    )
    second.add_argument("-n", type=count, default=20, help="cases (default: 20)")


def show_audit(given: Namespace, project: Workspace) -> None:
    """Estimates from the random checks."""
    if given.recall is not None:
        project.set_preference("least_recall", given.recall)
    report = project.insight.audit(given.k)
    out(given, report, *_audit_lines(report))


def _audit_lines(report: AuditReport) -> list[str]:
    from gadcore.loop.audit import BY_STRATEGY, MEASURED, TUNE

    def in_the_shell(text: str) -> str:
        there = text.replace(BY_STRATEGY, "`queue --strategy audit`")
        return there.replace(f"({TUNE})", "(`queue --audit-share 0.15 --keep` mixes them in)")

    top = f"precision of the top {report.top:,}"
    rows = [
        (top, *_estimate(report.precision, report.precision_interval, ".0%"), report.precision_reason),
        ("anomalies left", *_estimate(report.left, report.left_interval, ",.0f"), report.reason),
        ("recall so far", *_estimate(report.recall, report.recall_interval, ".0%"), report.recall_reason),
    ]
    shown = [(*row[:3], "" if row[1] else in_the_shell(row[3])) for row in rows]
    return [
        f"{report.found:,} anomalies among {report.labelled:,} labels; "
        f"{report.hits:,} hits in {report.draws:,} random checks; "
        f"{report.since_hit:,} labels since the last hit.",
        "",
        table(("figure", "estimate", "95 % interval", "why empty"), shown),
        "",
        in_the_shell(report.hint),
        *([MEASURED] if report.left is not None or report.precision is not None else []),
    ]


def _estimate(value: float | None, interval: tuple[float, float] | None, form: str) -> tuple[str, str]:
    if value is None or interval is None:
        return "", ""
    return format(value, form), " to ".join(format(end, form) for end in interval)


def show_moved(given: Namespace, project: Workspace) -> None:
    """Risers and fallers with their likely causes."""
    found = project.insight.moved(given.run, given.n)
    if found.before is None or found.after is None:
        out(given, found, found.reason)
        return
    head = f"Run {found.before.number} to run {found.after.number}: {found.changes:,} label(s) differ."
    lines = [head, *[text for text in (found.note, found.reason) if text]]
    for word, movers in (("Risen", found.risen), ("Fallen", found.fallen)):
        lines += ["", f"{word}:", _mover_table(movers)]
    out(given, found, *lines)


def _mover_table(movers: list[Mover]) -> str:
    rows = [
        (mover.node_id, name_beside(mover), mover.rank_before, mover.rank_now, mover.verdict, behind(mover))
        for mover in movers
    ]
    return table(("node", "name", "was", "is", "verdict", "labels behind it"), rows)


def behind(mover: Mover) -> str:
    """The labels behind a move, and how far they explain it."""
    said = [
        f"{cause.node_id} {cause.label} ({cause.link}: {cause.effect or f'nearness {cause.nearness:.2f}'})"
        for cause in mover.causes
    ]
    return "; ".join([*said, *([mover.remark] if mover.remark else [])])


def show_agreement(given: Namespace, project: Workspace) -> None:
    """Kappa, pairs of analysts and disputes."""
    found = project.insight.agreement()
    out(given, found, *_agreement_lines(found))


def _agreement_lines(found: Agreement) -> list[str]:
    if found.kappa is None:
        head = found.reason
    else:
        head = f"{found.method}'s kappa {found.kappa:.2f} ({found.words}) on {found.nodes:,} shared nodes."
    judged = _counted(found.analysts) or "none"
    pairs = [(*pair.analysts, pair.nodes, pair.agreed, pair.kappa) for pair in found.pairs]
    disputes = [
        (dispute.node_id, ", ".join(f"{name}: {word}" for name, word in dispute.said.items()))
        for dispute in found.disputed
    ]
    return [
        head,
        f"Nodes judged: {judged}. Disputes settled: {found.settled:,}.",
        *([f"Reasons given: {_counted(found.reasons)}."] if found.reasons else []),
        "",
        table(("analyst", "and", "nodes", "agreed", "kappa"), pairs),
        "",
        "Disputed:",
        table(("node", "verdicts"), disputes),
    ]


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{word} {times:,}" for word, times in counts.items())


def show_second_look(given: Namespace, project: Workspace) -> None:
    """Labelled cases in doubt."""
    found = project.insight.second_look(given.n)
    rows = [(case.node_id, case.verdict, case.analyst, case.rank, "; ".join(case.reasons)) for case in found]
    shown = table(("node", "verdict", "by", "rank", "why"), rows)
    out(given, found, shown if rows else project.insight.nothing_in_doubt())
