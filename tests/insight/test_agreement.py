"""Agreement: kappa against worked examples, disputes, and how they are settled."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from probe_detector import reading

from gadcore.errors import LabelError
from gadcore.graph.labels import LabelEvent, Verdict
from gadcore.insight.agreement import agreement, by_analyst, cohen_kappa, final_words, fleiss_kappa, in_words
from gadcore.workspace import Workspace

A, N, U = Verdict.ANOMALOUS, Verdict.NORMAL, Verdict.UNSURE


def events(*given: tuple[str, str, Verdict] | tuple[str, str, Verdict, str]) -> list[LabelEvent]:
    """(node, analyst, verdict[, source]) in the order they were given."""
    at = datetime(2025, 1, 1, tzinfo=UTC)
    return [
        LabelEvent(i, "label", str(i), node, verdict, analyst, at, *rest)
        for i, (node, analyst, verdict, *rest) in enumerate(given)
    ]


def test_cohen_kappa_of_the_textbook_example() -> None:
    one = [A] * 25 + [N] * 25
    two = [A] * 20 + [N] * 5 + [A] * 10 + [N] * 15
    assert cohen_kappa(one, two) == pytest.approx(0.4)
    assert cohen_kappa(one, one) == 1
    assert cohen_kappa([A, A], [A, A]) is None
    assert cohen_kappa([], []) is None


def test_fleiss_kappa_by_hand() -> None:
    # P = mean(1, 1/3, 1/3, 1) = 2/3; shares 7/12 and 5/12: Pe = 74/144
    nodes = [[A, A, A], [A, A, N], [A, N, A], [N, N, N]]
    share = (7 / 12) ** 2 + (5 / 12) ** 2
    assert fleiss_kappa(nodes) == pytest.approx((2 / 3 - share) / (1 - share))
    assert fleiss_kappa([[A, A], [A, A, A]]) is None
    assert fleiss_kappa([[A, A], [N, N, N]]) == pytest.approx(1)


def test_words_for_kappa() -> None:
    assert [in_words(k) for k in (1.0, 0.7, 0.5, 0.3, 0.1, 0.0)] == [
        "almost perfect", "substantial", "moderate", "fair", "slight", "no better than chance",
    ]  # fmt: skip


def test_one_analyst_gives_a_reason() -> None:
    assert "none" in agreement([]).reason
    found = agreement(events(("x", "ana", A), ("y", "ana", N)))
    assert found.kappa is None
    assert "two analysts" in found.reason
    assert found.analysts == {"ana": 2}


def test_two_analysts_on_the_same_nodes() -> None:
    given = [(f"n{i}", who, A if i < 3 else N) for i in range(6) for who in ("ana", "bo")]
    given.append(("n0", "bo", N))  # bo thinks again
    given.append(("n9", "bo", A))  # judged by one only
    found = agreement(events(*given))
    assert (found.method, found.nodes, found.agreed) == ("Cohen", 6, 5)
    assert found.kappa == pytest.approx((5 / 6 - 0.5) / 0.5)
    assert [(d.node_id, d.verdicts) for d in found.disputed] == [("n0", {"ana": "anomalous", "bo": "normal"})]
    assert found.pairs[0].analysts == ("ana", "bo")


def test_three_analysts_use_fleiss_and_pairs() -> None:
    given = [(f"n{i}", who, A if i % 2 else N) for i in range(6) for who in ("ana", "bo", "cy")]
    found = agreement(events(*given))
    assert (found.method, found.kappa, found.words) == ("Fleiss", pytest.approx(1), "almost perfect")
    assert len(found.pairs) == 3


def test_unsure_abstains_and_too_few_shared_nodes_are_said() -> None:
    found = agreement(events(("x", "ana", A), ("x", "bo", U), ("y", "ana", A), ("y", "bo", N)))
    assert found.nodes == 1
    assert "1 of at least" in found.reason
    assert len(found.disputed) == 1


def test_a_settled_dispute_is_no_longer_listed_until_someone_objects() -> None:
    base = [("x", "ana", A), ("x", "bo", N), ("x", "cy", A, "adjudication")]
    found = agreement(events(*base))
    assert (found.disputed, found.settled, found.nodes) == ([], 1, 1)
    assert "cy" not in found.analysts
    objected = agreement(events(*base, ("x", "dan", N)))
    assert (objected.settled, len(objected.disputed)) == (0, 1)


@pytest.mark.parametrize("later", [("x", "ana", A), ("x", "bo", A), ("x", "dan", U), ("x", "bo", U)])
def test_a_settled_dispute_stays_settled_while_nobody_objects(later) -> None:
    found = agreement(events(("x", "ana", A), ("x", "bo", N), ("x", "cy", A, "adjudication"), later))
    assert (found.disputed, found.settled) == ([], 1)


def test_a_group_verdict_that_overturns_a_settled_dispute_opens_it_again() -> None:
    base = events(("x", "ana", A), ("x", "bo", N), ("x", "cy", A, "adjudication"), ("x", "dan", N, "ring"))
    swept = [*base[:3], replace(base[3], weight=0.2)]
    found = agreement(swept)
    assert (found.settled, [d.verdicts for d in found.disputed]) == (
        0,
        [{"ana": "anomalous", "bo": "normal"}],
    )
    assert agreement([*base[:3], replace(swept[3], verdict=A)]).settled == 1


def test_whoever_settles_a_dispute_has_not_agreed_before() -> None:
    given = [("x", "ana", A), ("x", "bo", N), ("x", "bo", A, "adjudication")]
    found = agreement(events(*given))
    assert (found.agreed, found.disputed, found.settled) == (0, [], 1)
    assert by_analyst(events(*given))[0] == {"x": {"ana": A, "bo": N}}


def test_a_dispute_that_opens_again_has_what_the_settler_thinks_now() -> None:
    given = [("x", "ana", A), ("x", "bo", N), ("x", "bo", A, "adjudication"), ("x", "cy", N)]
    (dispute,) = agreement(events(*given)).disputed
    assert dispute.verdicts == {"ana": "anomalous", "bo": "anomalous", "cy": "normal"}


def test_a_final_word_holds_until_another_verdict() -> None:
    base = [("x", "ana", A), ("x", "ana", N, "second-look"), ("y", "ana", A)]
    assert final_words(events(*base, ("x", "bo", U), ("x", "bo", N))) == {"x": N}
    assert final_words(events(*base, ("x", "bo", A))) == {}


def test_the_workspace_counts_what_stands(settings, planted) -> None:
    project = Workspace.create("net", reading(*planted), settings=settings)
    project.verdicts.record("n001", "anomalous", analyst="ana")
    project.verdicts.record("n001", "normal", analyst="bo")
    assert [dispute.node_id for dispute in project.insight.agreement().disputed] == ["n001"]
    project.verdicts.undo("bo")
    assert project.insight.agreement().disputed == []
    project.verdicts.redo("bo")
    assert project.verdicts.settle("n001", "anomalous", analyst="bo").source == "adjudication"
    found = project.insight.agreement()
    assert (found.disputed, found.settled) == ([], 1)
    assert project.verdicts.current()["n001"].verdict is A
    project.verdicts.undo("bo")
    assert [dispute.node_id for dispute in project.insight.agreement().disputed] == ["n001"]


def test_settling_what_nobody_disputes_is_an_opinion_of_one_s_own(settings, planted) -> None:
    project = Workspace.create("net", reading(*planted), settings=settings)
    project.verdicts.record("n001", "anomalous", analyst="ana")
    project.verdicts.settle("n001", "normal", analyst="ana", note="looked again")
    event = project.verdicts.current()["n001"]
    assert (event.source, event.verdict, event.note) == ("second-look", N, "looked again")
    found = project.insight.agreement()
    assert (found.analysts, found.disputed, found.settled) == ({"ana": 1}, [], 0)
    project.verdicts.record("n001", "normal", analyst="bo")
    assert (project.insight.agreement().agreed, project.insight.agreement().disputed) == (1, [])


def test_what_cannot_settle_and_where_verdicts_do_not_come_from_is_refused(settings, planted) -> None:
    project = Workspace.create("net", reading(*planted), settings=settings)
    with pytest.raises(LabelError, match="Expected: normal or anomalous"):
        project.verdicts.settle("n001", "unsure")
    for give in (
        project.verdicts.record,
        lambda node, *rest, **given: project.verdicts.record_group([node], *rest, **given),
    ):
        with pytest.raises(LabelError, match=r"Expected one of: app, .*use settle"):
            give("n001", "normal", source="adjudication")
    assert project.verdicts.history("n001") == []


def test_a_verdict_given_with_a_group_is_no_opinion_on_the_node() -> None:
    own = events(*(("abcdef"[i], "ana", A if i < 3 else N) for i in range(6)))
    swept = [replace(event, id=10 + event.id, analyst="bo", verdict=A, weight=0.4) for event in own]
    found = agreement([*own, *swept])
    assert (found.analysts, found.nodes, found.disputed) == ({"ana": 6}, 0, [])
    assert agreement([*own, *(replace(event, weight=1.0) for event in swept)]).nodes == 6
