"""Do analysts agree? Their verdicts side by side, Cohen's or Fleiss' kappa, and the nodes they dispute.

    κ = (P − Pₑ) / (1 − Pₑ)      P observed agreement, Pₑ agreement by chance

Cohen (1960) takes Pₑ from each analyst's own shares of verdicts; Fleiss (1971) from the shares of all, with
P the mean share of agreeing pairs of verdicts per node (nodes may have different numbers of verdicts).
An unsure verdict abstains. A verdict that settles a dispute is no independent opinion and is not counted:
its analyst's earlier one stands beside the others'. Nor is one counted that came with a group (weight below
1), as nobody looked at that node itself. A dispute stays settled until someone gives the other verdict,
however much that counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from gadcore.graph.labels import LabelEvent, Verdict

ADJUDICATION = "adjudication"  # source of a verdict that settles a dispute
SECOND_LOOK = "second-look"  # source of a verdict on a doubtful case that nobody disputes
LEAST = 5  # nodes judged by two or more before a kappa is given
_CLASSES = (Verdict.NORMAL, Verdict.ANOMALOUS)
# Landis and Koch (1977)
_WORDS = {0.81: "almost perfect", 0.61: "substantial", 0.41: "moderate", 0.21: "fair", 1e-9: "slight"}

Verdicts = Mapping[str, Verdict]  # analyst -> verdict


@dataclass(frozen=True)
class AnalystPair:
    """Two analysts on the nodes that both judged."""

    analysts: tuple[str, str]
    nodes: int
    agreed: int
    kappa: float | None


@dataclass(frozen=True)
class Dispute:
    """A node on which analysts disagree, and nobody has settled it yet."""

    node_id: str
    verdicts: dict[str, str]  # analyst -> verdict, in the order they were given
    reasons: dict[str, str] = field(default_factory=dict)  # analyst -> reason, of those who gave one

    @property
    def said(self) -> dict[str, str]:
        """Analyst -> verdict, with the reason behind it."""
        return {
            name: f"{word} ({self.reasons[name]})" if name in self.reasons else word
            for name, word in self.verdicts.items()
        }


@dataclass(frozen=True)
class Agreement:
    """How far analysts agree; ``kappa`` None with the ``reason``."""

    analysts: dict[str, int]  # analyst -> nodes judged
    nodes: int  # judged by two or more
    agreed: int  # of these, all of one opinion
    method: str  # "Cohen", "Fleiss" or ""
    kappa: float | None
    words: str  # "substantial", …
    pairs: list[AnalystPair]
    disputed: list[Dispute]
    settled: int  # disputes that were adjudicated, and to which nobody has objected since
    reason: str
    reasons: dict[str, int] = field(
        default_factory=dict
    )  # reason -> verdicts that have it, most frequent first


def agreement(events: Iterable[LabelEvent]) -> Agreement:
    """Report on label events that stand (nothing taken back), several per node."""
    listed = list(events)
    given, settled = by_analyst(listed)
    reasons = _reasons(listed)
    analysts = Counter(name for verdicts in given.values() for name in verdicts)
    shared = {node: verdicts for node, verdicts in given.items() if len(verdicts) > 1}
    split = [node for node, verdicts in shared.items() if len(set(verdicts.values())) > 1]
    disputed = [
        Dispute(node, {name: verdict.value for name, verdict in shared[node].items()}, reasons.get(node, {}))
        for node in split
        if node not in settled
    ]
    involved = sorted({name for verdicts in shared.values() for name in verdicts})
    method = "" if len(involved) < 2 else "Cohen" if len(involved) == 2 else "Fleiss"
    kappa, reason = _kappa(list(shared.values()), involved, len(analysts))
    return Agreement(
        analysts=dict(analysts.most_common()),
        nodes=len(shared),
        agreed=len(shared) - len(split),
        method=method,
        kappa=kappa,
        words="" if kappa is None else in_words(kappa),
        pairs=_pairs(shared.values(), involved),
        disputed=disputed,
        settled=len(settled),
        reason=reason,
        reasons=dict(Counter(text for each in reasons.values() for text in each.values()).most_common()),
    )


def by_analyst(events: Iterable[LabelEvent]) -> tuple[dict[str, dict[str, Verdict]], set[str]]:
    """Node -> analyst -> latest own verdict (not unsure), and nodes whose dispute is settled."""
    given: dict[str, dict[str, Verdict]] = {}
    settled: dict[str, Verdict] = {}
    settlers: dict[str, str] = {}
    for event, verdict in _in_order(events):
        node, verdicts = event.node_id, given.setdefault(event.node_id, {})
        final = settled.get(node)
        _end_if_objected(settled, event)
        if final is not None and node not in settled and settlers[node] in verdicts:
            verdicts[settlers[node]] = final  # what the settler thinks, now that it is disputed again
        if event.source == ADJUDICATION:
            if len(set(verdicts.values())) > 1:
                settled[node], settlers[node] = verdict, event.analyst
        elif event.weight < 1:
            continue
        elif verdict in _CLASSES:
            verdicts[event.analyst] = verdict
        else:
            verdicts.pop(event.analyst, None)
    return given, set(settled)


def _reasons(events: Iterable[LabelEvent]) -> dict[str, dict[str, str]]:
    """Node -> analyst -> the reason for the latest verdict; of nodes and analysts with one."""
    latest = {(event.node_id, event.analyst): event.reason for event, _ in _in_order(events)}
    found: dict[str, dict[str, str]] = {}
    for (node, name), reason in latest.items():
        if reason:
            found.setdefault(node, {})[name] = reason
    return found


def final_words(events: Iterable[LabelEvent]) -> dict[str, Verdict]:
    """Node -> verdict given to it on a second look or to settle a dispute, unless another came since."""
    found: dict[str, Verdict] = {}
    for event, verdict in _in_order(events):
        _end_if_objected(found, event)
        if event.source in (ADJUDICATION, SECOND_LOOK):
            found[event.node_id] = verdict
    return found


def dispute_on(events: Iterable[LabelEvent]) -> Dispute | None:
    """The open dispute on a node, given the events that stand on it."""
    return next(iter(agreement(events).disputed), None)


def judges(events: Iterable[LabelEvent]) -> dict[str, set[str]]:
    """Node -> analysts who looked at it themselves, also those who are unsure."""
    found: dict[str, set[str]] = {}
    for event, _ in _in_order(events):
        if event.weight >= 1:
            found.setdefault(event.node_id, set()).add(event.analyst)
    return found


def _in_order(events: Iterable[LabelEvent]) -> list[tuple[LabelEvent, Verdict]]:
    """Label events with their verdicts, oldest first."""
    labels = sorted((event for event in events if event.kind == "label"), key=lambda event: event.id)
    return [(event, event.verdict) for event in labels if event.verdict is not None]


def _end_if_objected(settled: dict[str, Verdict], event: LabelEvent) -> None:
    """Drop what was settled when a normal or anomalous verdict differs from it."""
    if event.verdict in _CLASSES and settled.get(event.node_id, event.verdict) is not event.verdict:
        del settled[event.node_id]


def cohen_kappa(one: Sequence[Verdict], two: Sequence[Verdict]) -> float | None:
    """Cohen's kappa of two analysts on the same nodes; None where chance alone would agree always."""
    n = len(one)
    if not n:
        return None
    observed = sum(a is b for a, b in zip(one, two)) / n
    chance = sum(one.count(c) * two.count(c) for c in _CLASSES) / n**2
    return None if chance >= 1 else (observed - chance) / (1 - chance)


def fleiss_kappa(nodes: Sequence[Sequence[Verdict]]) -> float | None:
    """Fleiss' kappa of nodes with two or more verdicts each; None where all verdicts are the same."""
    if not nodes:
        return None
    counts = np.array([[list(verdicts).count(c) for c in _CLASSES] for verdicts in nodes], dtype=np.float64)
    total = counts.sum(axis=1)
    observed = float(((counts * (counts - 1)).sum(axis=1) / (total * (total - 1))).mean())
    chance = float(((counts.sum(axis=0) / total.sum()) ** 2).sum())
    return None if chance >= 1 else (observed - chance) / (1 - chance)


def in_words(kappa: float) -> str:
    """Landis and Koch's word for a kappa."""
    return next((word for least, word in _WORDS.items() if kappa >= least), "no better than chance")


def _kappa(shared: Sequence[Verdicts], involved: Sequence[str], analysts: int) -> tuple[float | None, str]:
    """Kappa, or None and why."""
    if analysts < 2:
        there = "one" if analysts else "none"
        return None, f"Agreement needs verdicts by two analysts; so far there is {there}."
    if len(shared) < LEAST:
        judged = f"{len(shared)} of at least {LEAST} nodes were judged by two analysts"
        return None, f"{judged}: have a colleague judge some of the same cases."
    if len(involved) == 2:
        kappa = cohen_kappa([v[involved[0]] for v in shared], [v[involved[1]] for v in shared])
    else:
        kappa = fleiss_kappa([list(verdicts.values()) for verdicts in shared])
    if kappa is None:
        return None, "All shared verdicts are the same, so agreement cannot be told from chance."
    return kappa, ""


def _pairs(shared: Iterable[Verdicts], involved: Sequence[str]) -> list[AnalystPair]:
    """Every two analysts with a node in common, most nodes first."""
    shared, found = list(shared), []
    for a, b in combinations(involved, 2):
        both = [(verdicts[a], verdicts[b]) for verdicts in shared if a in verdicts and b in verdicts]
        if not both:
            continue
        kappa = cohen_kappa(*zip(*both)) if len(both) >= LEAST else None
        found.append(AnalystPair((a, b), len(both), sum(one is two for one, two in both), kappa))
    return sorted(found, key=lambda pair: (-pair.nodes, pair.analysts))
