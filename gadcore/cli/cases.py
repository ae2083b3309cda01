"""queue, explain, score-new, export."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError, BooleanOptionalAction, Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from gadcore.cli.parser import Commands
from gadcore.cli.show import count, name_beside, number, out, part, queue_table, table

if TYPE_CHECKING:
    from gadcore.records import Explanation, NodeCard, Part
    from gadcore.workspace import Workspace

TUNING = ("strategy", "dial", "audit_share", "near_duplicates")  # how cases are chosen
LIMITS = ("top", "min_score", "min_percentile", "min_probability")  # of the flagged list
ATTRIBUTES_SHOWN, NEIGHBOURS_SHOWN, EDGES_SHOWN = 8, 5, 5  # lines of ``explain``
LEAST_GAP = 1e-6
VERDICTS = (
    "unlabelled",
    "normal",
    "anomalous",
    "unsure",
    "mine",
    "others",
    "changed",
    "any",
)  # of VERDICT_FILTERS


def add_commands(commands: Commands) -> None:
    add = commands.add_for_project
    queue = add("queue", show_queue, "the ranked queue of cases", "queue -p demo -n 20 --strategy top")
    queue.add_argument("-n", type=count, default=20, help="cases (default: 20)")
    queue.add_argument("--strategy", help="greedy-diverse (default), top, uncertainty, audit, again, …")
    queue.add_argument(
        "--verdict",
        choices=VERDICTS,
        help="only these (default: unlabelled); others: judged by others and not by you, with their "
        "verdicts left out; changed: judged, and touched by an update since",
    )
    queue.add_argument(
        "--since",
        metavar="WHEN",
        help="only what is new or changed since last (the last update), a version, a day",
    )
    queue.add_argument("--analyst", help="who you are (default: GAD_ANALYST or the login name)")
    queue.add_argument(
        "--where",
        type=_condition,
        metavar="COLUMN=VALUE",
        help="only nodes with this value; numbers also COLUMN>VALUE",
    )
    queue.add_argument(
        "--dial", type=part, metavar="D", help="0 exploits the ranking … 1 explores (default: as set)"
    )
    queue.add_argument(
        "--audit-share", type=part, metavar="S", help="share of random checks, 0 to 1 (default: as set, 0.15)"
    )
    queue.add_argument(
        "--near-duplicates",
        action=BooleanOptionalAction,
        help="cases that look the same may come together (default: as set, no)",
    )
    queue.add_argument(
        "--keep", action="store_true", help="the order, dial, share and duplicates from now on"
    )
    queue.add_argument(
        "--provisional",
        action=BooleanOptionalAction,
        help="let verdicts since the run move similar cases (default: as set in the app, on at first)",
    )

    explain = add("explain", explain_node, "why a node stands where it stands", "explain -p demo A10434")
    explain.add_argument("node", metavar="NODE")

    new = add("score-new", score_new, "score nodes that arrived after training", "score-new -p demo new.csv")
    new.add_argument("path", help="table of the new nodes, in the columns of the import")
    new.add_argument("--edges", metavar="PATH", help="their edges, to each other and to known nodes")

    export = add("export", export_list, "write the flagged list", "export -p demo --out list.csv --top 100")
    export.add_argument(
        "--out", required=True, metavar="FILE", help=".csv .parquet .jsonl .graphml .gexf .zip"
    )
    export.add_argument("--format", help="when the suffix does not say it")
    export.add_argument("--top", type=count, metavar="K", help="the K highest scores")
    for name, letter in (("score", "S"), ("percentile", "P"), ("probability", "Q")):
        export.add_argument(f"--min-{name}", type=number, metavar=letter)
    export.add_argument("--verdict", help="normal, anomalous, unsure or unlabelled")


def _condition(text: str) -> tuple[str, str]:
    """A column and the value wanted in it; of numbers also ">5" and the like."""
    found = re.fullmatch(r"([^=<>]+)(>=?|<=?|=)(.*)", text)
    if found is None:
        expected = "expected COLUMN=VALUE, COLUMN>VALUE or COLUMN<VALUE, for instance country=FR"
        raise ArgumentTypeError(f"{text!r} is no condition; {expected}")
    return found[1].strip(), found[2].removeprefix("=") + found[3]


def show_queue(given: Namespace, project: Workspace) -> None:
    """The next cases."""
    from gadcore.workspace import Filter

    column, wanted = given.where or (None, None)
    where = Filter(verdict=given.verdict, column=column, value=wanted, since=given.since)
    tuning = {key: getattr(given, key) for key in TUNING}
    if given.keep:
        for key, value in tuning.items():
            if value is not None:
                project.set_preference(key, value)
    rows = project.cases.queue(
        n=given.n, where=where, analyst=given.analyst, provisional=given.provisional, **tuning
    )
    if given.verdict == "others":  # or the second opinion would not be an independent one
        rows = [replace(row, verdict=None) for row in rows]
    lines = []
    if any(row.provisional_rank for row in rows):
        run, fresh = project.cases.basis().run, project.verdicts.counts()["fresh"]
        changes = f"{fresh:,} change{'s' * (fresh != 1)} since run {run}"
        lines.append(f"Provisional: {changes}. Score and rank are the run's own.")
    if remark := project.cases.remark(len(rows), strategy=given.strategy, where=where):
        lines.append(remark)
    out(given, rows, *lines, *([queue_table(rows)] if rows else []))


def explain_node(given: Namespace, project: Workspace) -> None:
    """Card and explanation of a node."""
    hidden = project.cases.second_opinions()
    card = project.cases.card(given.node, hidden=hidden)
    explanation = project.insight.explain(given.node, hidden=hidden)
    out(given, {"card": card, "explanation": explanation}, *_card_lines(card), *_why_lines(explanation))


def _card_lines(card: NodeCard) -> list[str]:
    row = card.row
    lines = [
        f"{row.node_id} {name_beside(row)}".strip(),
        f"rank {row.rank:,}, score {row.score:.4g}, percentile {row.percentile:.2f} ({card.band}), "
        f"verdict: {row.verdict or 'none'}",
    ]
    chance = f"probability {card.probability_band}. " if card.probability_band else ""
    lines.append(f"{chance}{card.probability_reason}")
    if card.note:
        lines.append(f"note: {card.note}")
    cells = [(a.column, a.value, _place(a.percentile, a.share)) for a in card.attributes]
    return [*lines, "", table(("attribute", "value", "among all nodes"), cells)] if cells else lines


def _place(percentile: float | None, share: float | None) -> str:
    if percentile is not None:
        return f"percentile {percentile:.0f}"
    return "" if share is None else f"shared by {share:.1f} %"


def _why_lines(why: Explanation) -> list[str]:
    reasons = ["", "Why:", *(f"· {reason}" for reason in why.reasons)] if why.reasons else []
    return [*reasons, *_sum_lines(why), *_edge_lines(why), *_example_lines(why)]


def _sum_lines(why: Explanation) -> list[str]:
    """Parts that add up to the score, on screen too."""
    if not why.attributes and not why.neighbours:
        return []
    parts = [
        ("base", "", why.base, "score of nothing in particular"),
        *_shortened(why.attributes, ATTRIBUTES_SHOWN, "other attributes"),
        *_shortened(why.neighbours, NEIGHBOURS_SHOWN, "other nodes"),
    ]
    if abs(why.gap) > LEAST_GAP:
        parts.append(("rest", "", why.gap, "not assigned"))
    total = sum(value for _, _, value, _ in parts)
    shown = table(("part", "name", "contribution", "detail"), parts)
    return ["", shown, f"adds up to {total:.4g}, the score"]


def _shortened(parts: list[Part], shown: int, rest: str) -> list[tuple[str, str, float, str]]:
    """The first parts, and the sum of all others in one line."""
    named = [part for part in parts if part.name != rest][:shown]
    lines = [(part.kind, part.name, part.value, part.detail) for part in named]
    other = sum(part.value for part in parts if part not in named)
    return [*lines, (parts[0].kind, rest, other, "")] if len(parts) > len(named) else lines


def _edge_lines(why: Explanation) -> list[str]:
    if not why.edges:
        return []
    rows = [(part.name, part.value, part.detail) for part in why.edges[:EDGES_SHOWN]]
    lines = ["", table(("without edge to", "change", "detail"), rows)]
    if why.edges_unknown >= 0.005:
        lines.append(f"{why.edges_unknown:.0%} of the score was not worked out anew without these edges.")
    return lines


def _example_lines(why: Explanation) -> list[str]:
    if not why.examples:
        return []
    rows = [(r.node_id, name_beside(r), r.verdict, r.rank) for r in why.examples]
    found = table(("nearest labelled", "name", "verdict", "rank"), rows)
    return ["", found, *([f"nearest {why.examples_space}"] if why.examples_space else [])]


def score_new(given: Namespace, project: Workspace) -> None:
    """Rank new nodes without training."""
    rows = project.cases.score_new(given.path, given.edges, in_worker=False)
    out(given, rows, queue_table(rows))


def export_list(given: Namespace, project: Workspace) -> None:
    """Write the flagged list and its manifest."""
    from gadcore.output import export

    chosen = {name: getattr(given, name) for name in ("format", "verdict", *LIMITS)}
    manifest = export(project, given.out, **chosen)
    line = f"{manifest.rows:,} node(s) written to {given.out}; provenance in {given.out}.manifest.json."
    out(given, manifest, line)
