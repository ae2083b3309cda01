"""Coverage, width and advice of the audit's intervals, drawn from the rows of the audit study alone."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from typing import Any

import numpy as np

from gadcore.graph.labels import LabelEvent, Verdict
from gadcore.loop.audit import LEAST_DRAWS, LEAST_RECALL, LEAST_RECALL_DRAWS, QUIET, AuditReport, audit
from gadcore.studies.harness import NAMED, Row
from gadcore.studies.markdown import NONE, grouped, table

PRECISION, PRECISION_HALF = "precision of the top 100", "precision of the top 50"
LEFT, RECALL = "anomalies left", "recall so far"
FIGURES = (PRECISION, PRECISION_HALF, LEFT, RECALL)
_WHEN = datetime(2000, 1, 1, tzinfo=UTC)
_SAID = {"a": Verdict.ANOMALOUS, "n": Verdict.NORMAL, "A": None, "N": None}
_ROUNDING = 1e-9


@dataclass(frozen=True)
class ShownInterval:
    """One interval at one moment of a session, with the truth."""

    figure: str
    labels: int
    interval: tuple[float, float] | None
    truth: float

    @property
    def covers(self) -> bool:
        return self.interval is not None and (
            self.interval[0] - _ROUNDING <= self.truth <= self.interval[1] + _ROUNDING
        )


@dataclass(frozen=True)
class Advice:
    """What the hint said at one moment, and the true recall."""

    stop: bool
    quiet: bool  # enough labels without a hit to ask for advice
    recall: float


Judged = tuple[Row, list[ShownInterval], list[Advice]]  # a session and all that was shown in it


def report_at(row: Row, labels: int, k: int) -> AuditReport:
    """What the app shows after so many labels of a recorded session."""
    probability = {at: float(each) for each, places in row["draws"].items() for at in places}
    events = [
        LabelEvent(
            id=at,
            kind="label",
            group=str(at),
            node_id=str(at),
            verdict=Verdict.ANOMALOUS if said == "1" else Verdict.NORMAL,
            analyst="simulated",
            at=_WHEN,
            inclusion_probability=probability.get(at),
            drawn_after=row["batches"][bisect_right(row["batches"], at) - 1] - 1,
        )
        for at, said in enumerate(row["verdicts"][:labels])
    ]
    return audit(row["nodes"], events, [_SAID[letter] for letter in row["tops"][str(labels)][:k]])


def looks(row: Row) -> tuple[list[ShownInterval], list[Advice]]:
    """Every interval and hint that the app shows at the checkpoints of a session."""
    shown: list[ShownInterval] = []
    advice: list[Advice] = []
    for point in map(int, row["tops"]):
        found = row["verdicts"][:point].count("1")
        left, true_recall = row["anomalies"] - found, found / row["anomalies"]
        for figure, k in ((PRECISION, 100), (PRECISION_HALF, 50)):
            report = report_at(row, point, k)
            top = row["tops"][str(point)][:k]
            shown.append(
                ShownInterval(figure, point, report.precision_interval, top.lower().count("a") / len(top))
            )
        shown.append(ShownInterval(LEFT, point, report.left_interval, left))
        shown.append(ShownInterval(RECALL, point, report.recall_interval, true_recall))
        advice.append(Advice(report.stop, report.since_hit >= QUIET, true_recall))
    return shown, advice


def render(rows: Sequence[Row], calibration: Sequence[Row]) -> str:
    """The whole page in Markdown."""
    judged = [(row, *looks(row)) for row in rows]
    parts = [_HEAD, _intervals(judged), _moments(judged), _advice(judged), _CALIBRATION_HEAD]
    return "\n".join([*parts, _calibration(calibration)])


def _intervals(judged: Sequence[Judged]) -> str:
    """Coverage by graph and figure, over all moments."""
    lines = [
        (method, graph, len(own), figure, *_covered([look for look in _shown(own) if look.figure == figure]))
        for (method, graph), own in _sessions(judged).items()
        for figure in FIGURES
    ]
    return table(("model", "graph", "sessions", "figure", *_COVERED), lines, "## Intervals\n\n")


def _moments(judged: Sequence[Judged]) -> str:
    """Coverage and width by the number of verdicts."""
    lines = []
    for (method, graph), own in _sessions(judged).items():
        shown = _shown(own)
        for point, figure in product(sorted({look.labels for look in shown}), (PRECISION, LEFT, RECALL)):
            given = [look for look in shown if look.figure == figure and look.labels == point]
            if any(look.interval for look in given):
                lines.append((method, graph, point, figure, *_covered(given)))
    return table(("model", "graph", "verdicts", "figure", *_COVERED), lines, _MOMENTS)


def _shown(sessions: Sequence[Judged]) -> list[ShownInterval]:
    return [look for _, given, _ in sessions for look in given]


def _covered(given: Sequence[ShownInterval]) -> tuple[str, ...]:
    """How many were shown, held the truth, their share and median width."""
    widths = [look.interval[1] - look.interval[0] for look in given if look.interval is not None]
    if not widths:
        return f"0 of {len(given)}", NONE, NONE, NONE
    held, width = sum(look.covers for look in given), float(np.median(widths))
    wide = f"{width:,.0f} cases" if given[0].figure == LEFT else f"{100 * width:.0f} points"
    return f"{len(widths)} of {len(given)}", str(held), f"{held / len(widths):.1%}", wide


def _advice(judged: Sequence[Judged]) -> str:
    """How often the hint said to stop, and whether at least the promised part had been found."""
    lines = []
    for (method, graph), own in _sessions(judged).items():
        given = [advice for *_, hints in own for advice in hints]
        stops = [advice.recall for advice in given if advice.stop]
        others = [advice.recall for advice in given if advice.quiet and not advice.stop]
        right = sum(recall >= LEAST_RECALL for recall in stops)
        told = (right, f"{min(stops):.0%}") if stops else (NONE, NONE)
        rest = f"{np.median(others):.0%}" if others else NONE
        lines.append((method, graph, len(given), sum(a.quiet for a in given), len(stops), *told, rest))
    return table(_ADVICE, lines, _ADVICE_WORDS)


def _calibration(rows: Sequence[Row]) -> str:
    """Expected calibration error by graph and labels."""
    lines = []
    groups = grouped(rows, "kind", "method", "graph", "rate", "labels").items()
    for (kind, method, graph, rate, labels), own in sorted(groups, key=_in_columns):
        known = [row for row in own if row["ece"]["weighted"] is not None]
        source = "random split" if kind == "split" else "session"
        size = labels if rate is None else f"{rate:.1%}"
        errors = (_mean([row["ece"][by] for row in known]) for by in ("weighted", "unweighted", "none"))
        shares = _mean([row["share"] for row in own]), _mean([row["mean"]["weighted"] for row in known])
        lines.append((source, method, graph, size, len(own), *shares, *errors, len(own) - len(known)))
    return table(_CALIBRATION, lines)


def _in_columns(group: tuple[tuple[Any, ...], object]) -> list[str]:
    """Order of the groups: column by column, numbers by their size."""
    return [str(value).rjust(12) for value in group[0]]


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.1%}" if known else NONE


def _sessions(judged: Sequence[Judged]) -> dict[tuple[str, str], list[Judged]]:
    """Sessions by model and graph (and whether anybody retrained), the model with most sessions first."""
    groups: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in judged:
        still = "" if one[0]["still"] is None else ", not retrained"
        groups[one[0]["method"], one[0]["graph"] + still].append(one)
    return dict(sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])))


_COVERED = ("shown", "held the truth", "coverage", "median width")
_ADVICE = (
    "model",
    "graph",
    "moments",
    "quiet",
    "said stop",
    "right",
    "lowest true recall then",
    "median true recall of the other quiet moments",
)
_CALIBRATION = (
    "labels from",
    "model",
    "graph",
    "labelled",
    "fits",
    "anomalies among the rest",
    "mean probability",
    "ECE as in the app",
    "ECE unweighted",
    "ECE of the model's own output",
    "none shown",
)
_MOMENTS = """## Moment by moment

Up to 200 verdicts come from the default queue; from there on they are random checks alone.

"""
_ADVICE_WORDS = f"""## Stop hint

The hint says stop after {QUIET} verdicts without a hit when at least {LEAST_RECALL:.0%} of all \
anomalies are found with the confidence of the interval. It is right when that is true.

"""
_HEAD = f"""# Does the audit hold what it promises?

Drawn by `ringfence experiments audit --render` from `{NAMED}/audit.jsonl` and `calibration.jsonl`
alone. Each session is a simulated analyst who labels 200 cases as in the app: default strategy, audit
share 15 %, batches of ten, the model fitted again after each. Then the analyst follows the app's advice
and makes 200 random checks. *Not retrained*: the model is left as it is after 50 labels, and cases come
a hundred at a time from one ranking. Every 50 verdicts (where a batch ends) each interval that the app
would show is compared with the truth. All intervals aim at 95 %. What is left needs {LEAST_DRAWS}
random checks, the recall {LEAST_RECALL_DRAWS}; before that the app says what is missing, and nothing is
counted as shown. The gates are numbers of checks, never the width of an interval: to show narrow
intervals alone would lower their coverage.

`sgc-lr/64` is sgc-lr on 64 directions of Â²X with one regularisation strength, a stand-in that takes a
fraction of a second per session: the audit takes nothing from the model but its ranking. Estimators were
chosen on seeds 1000 and above; the sessions here have other seeds.
"""

_CALIBRATION_HEAD = """## Probabilities

Expected calibration error (ECE, ten bins with equally many cases) of the probabilities on nodes without a
label, mean over fits; 0 is perfect. *As in the app*: out of fold, audit draws stand for the open cases of
their stratum. *Unweighted*: the same, every label counts 1; on random splits, where no label is an audit
draw, that is the same thing. *The model's own output*: its score where it lies in [0, 1], else the logistic
function of it. Command: `ringfence experiments calibration`.
"""
