"""label, group, undo, redo, note, labels import, labels export."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from gadcore.cli.parser import Commands
from gadcore.cli.show import name_beside, number, out, table

if TYPE_CHECKING:
    from gadcore.graph.labels import LabelEvent, Verdict
    from gadcore.records import ProposedGroup
    from gadcore.workspace import Workspace


def add_commands(commands: Commands) -> None:
    add = commands.add_for_project
    label = add("label", record, "record a verdict", "label -p demo A10434 anomalous")
    label.add_argument("nodes", nargs="+", metavar="NODE", help="node id, or several")
    label.add_argument("verdict", type=_verdict, help="normal, anomalous or unsure (also n, a, u)")
    label.add_argument("--note", default="", help="why, in your own words")
    label.add_argument("--reason", default="", help="why, from the list of the project (see team)")
    counts = label.add_mutually_exclusive_group()
    counts.add_argument(
        "--group",
        choices=("one", "root", "full"),
        default="full",
        help="several nodes, not looked at one by one, count together as one verdict, as √m, or in full "
        "(default: full)",
    )
    counts.add_argument("--weight", type=number, help="how much the verdict counts for each node (0 to 1)")
    counts.add_argument(
        "--settle",
        action="store_true",
        help="settle a dispute between analysts (see agreement), or a case of second-look",
    )
    label.add_argument(
        "--strategy",
        help="the queue that the case came from (default: the project's, and the random checks of all that "
        "were shown). A verdict on a random check counts for the audit; other nodes never do, nor do groups "
        "that count less than in full",
    )
    label.add_argument("--analyst", help="who (default: GAD_ANALYST or the login name)")

    group = add("group", show_group, "the group around a node, and why it is one", "group -p demo A10434")
    group.add_argument("node", metavar="NODE")
    group.add_argument(
        "--label",
        type=_verdict,
        metavar="VERDICT",
        help="record this verdict for the whole group, as one event",
    )
    group.add_argument(
        "--group",
        choices=("one", "root", "full"),
        default="root",
        help="what all nodes but NODE count as together: one verdict, √m, or in full (default: root)",
    )
    group.add_argument("--note", default="", help="why")
    group.add_argument("--analyst", help="who (default: GAD_ANALYST or the login name)")

    for name, summary in (("undo", "take back your last verdict"), ("redo", "restore what was taken back")):
        parser = add(name, toggle, summary, f"{name} -p demo")
        parser.add_argument("--analyst", help="whose (default: GAD_ANALYST or the login name)")
        parser.set_defaults(kind=name)

    note = add("note", write_note, "write a note on a node", "note -p demo A10434 'ask K'")
    note.add_argument("node", metavar="NODE")
    note.add_argument("text")
    note.add_argument("--analyst", help="who (default: GAD_ANALYST or the login name)")

    files = add("labels", label_file, "read or write a label file", "labels import labels.csv -p demo")
    files.add_argument("action", choices=("import", "export"))
    files.add_argument("file", help="columns node_id and label; .csv, .tsv, .parquet or .jsonl")
    files.add_argument("--analyst", help="who (default: GAD_ANALYST or the login name)")


def _verdict(text: str) -> Verdict:
    from gadcore.errors import LabelError
    from gadcore.graph.labels import Verdict

    try:
        return Verdict.parse(text)
    except LabelError as error:
        raise ArgumentTypeError(str(error)) from None


def record(given: Namespace, project: Workspace) -> None:
    """Record one verdict for one node or several (one group, one undo)."""
    common = {"analyst": given.analyst, "note": given.note, "reason": given.reason, "source": "cli"}
    if given.settle:
        _settle(given, project)
        return
    if given.weight is None and given.group == "full":
        events = project.verdicts.record_each(given.nodes, given.verdict, strategy=given.strategy, **common)
        kept: list[str] = []
    else:
        weight = given.group if given.weight is None else given.weight
        group = project.verdicts.record_group(given.nodes, given.verdict, weight=weight, **common)
        events, kept = group, group.kept
    counts = project.verdicts.counts()
    done = _done(events) + _together(events) + _checked(events)
    out(given, {"events": events, "kept": kept, "counts": counts}, done, *_kept_line(kept), _counted(counts))


def _settle(given: Namespace, project: Workspace) -> None:
    """Settle nodes one by one, and say of which this ended a dispute."""
    from gadcore.insight.agreement import ADJUDICATION

    events = [
        project.verdicts.settle(
            node, given.verdict, analyst=given.analyst, note=given.note, reason=given.reason
        )
        for node in given.nodes
    ]
    ended = {True: "the dispute is settled", False: "nobody disputed it: kept as your verdict"}
    lines = [f"{_done([event])} ({ended[event.source == ADJUDICATION]})" for event in events]
    counts = project.verdicts.counts()
    out(given, {"events": events, "counts": counts}, *lines, _counted(counts))


def show_group(given: Namespace, project: Workspace) -> None:
    """The proposed group with its reason and weights; with ``--label`` one verdict for it.

    Nodes with a verdict of their own keep it, but for the one asked about; one given with a group gives way.
    """
    group = project.cases.group(given.node)
    alone = {given.node, *project.verdicts.given_singly(group.node_ids)}
    others = [node for node in group.node_ids if node not in alone]
    lines = [_group_table(project, group), f"Why: {group.reason or 'no group, it stands alone'}."]
    if given.label is None:
        counts = _counting(len(others))
        out(given, {"group": group, "counts_as": counts}, *lines, *_counting_lines(len(others), counts))
        return
    common = {"analyst": given.analyst, "note": given.note, "source": "ring", "weight": given.group}
    asked, offers = [given.node], project.cases.offers_of([given.node])
    events = project.verdicts.record_group(group.node_ids, given.label, judged=asked, offers=offers, **common)
    done = _done(events) + _together(events) + _checked(events)
    document = {"group": group, "events": events, "kept": events.kept}
    out(given, document, *lines, done, *_kept_line(events.kept), _counted(project.verdicts.counts()))


def _group_table(project: Workspace, group: ProposedGroup) -> str:
    cards = [project.cases.card(node).row for node in group.node_ids]
    rows = [(c.node_id, name_beside(c), c.rank, c.verdict) for c in cards]
    return table(("node", "name", "rank", "verdict"), rows)


def _counting(others: int) -> dict[str, float]:
    """Verdicts that the others count as together, by rule."""
    from gadcore.graph.labels import GroupRule

    return {rule.value: others * rule.weight(others) for rule in GroupRule}


def _counting_lines(others: int, counts: dict[str, float]) -> list[str]:
    if not others:
        return []
    said = ", ".join(f"{count:.2g} with --group {rule}" for rule, count in counts.items())
    who = (
        "the other node without a verdict of its own counts"
        if others == 1
        else f"the {others} others without a verdict of their own count"
    )
    return [f"With --label {who} as {said}."]


def toggle(given: Namespace, project: Workspace) -> None:
    """Undo or redo."""
    events = (project.verdicts.undo if given.kind == "undo" else project.verdicts.redo)(given.analyst)
    word = "Took back" if given.kind == "undo" else "Restored"
    line = f"{word}: {_done(events)}" if events else f"There is nothing to {given.kind}."
    out(given, {"events": events, "counts": project.verdicts.counts()}, line)


def write_note(given: Namespace, project: Workspace) -> None:
    event = project.verdicts.note(given.node, given.text, analyst=given.analyst)
    out(given, {"event": event}, f"Noted on {event.node_id}.")


def label_file(given: Namespace, project: Workspace) -> None:
    """Import or export labels."""
    if given.action == "export":
        count = project.verdicts.export_file(given.file)
        out(given, {"written": count, "file": given.file}, f"{count:,} label(s) written to {given.file}.")
        return
    found = project.verdicts.import_file(given.file, analyst=given.analyst)
    unknown = found["unknown"]
    lines = [f"{found['added']:,} label(s) added, {found['unchanged']:,} were so already."]
    if unknown:
        shown = ", ".join(map(repr, unknown[:5])) + (" …" if len(unknown) > 5 else "")
        lines.append(f"{len(unknown):,} id(s) are not in this graph and were left out: {shown}")
    out(given, found, *lines)


def _done(events: list[LabelEvent]) -> str:
    verdict = events[0].verdict
    names = ", ".join(event.node_id for event in events[:5]) + " …" * (len(events) > 5)
    return f"{names} → {verdict.value if verdict else ''}"


def _kept_line(kept: list[str]) -> list[str]:
    return [f"Kept the verdict they had: {', '.join(kept)}."] if kept else []


def _together(events: list[LabelEvent]) -> str:
    """What the events count as, unless that is their number."""
    total = sum(event.weight for event in events)
    return "" if total == len(events) else f" (counts as {total:.2g} of {len(events):,} verdicts)"


def _checked(events: list[LabelEvent]) -> str:
    """Which of the events were random checks."""
    drawn = sum(event.inclusion_probability is not None for event in events)
    if not drawn:
        return ""
    if len(events) == 1:
        return " (counts as a random check)"
    return " (one counts as a random check)" if drawn == 1 else f" ({drawn:,} count as random checks)"


def _counted(counts: dict[str, int]) -> str:
    words = ", ".join(f"{counts[word]:,} {word}" for word in ("normal", "anomalous", "unsure"))
    return f"Labels: {words}; {counts['fresh']:,} not yet in the model."
