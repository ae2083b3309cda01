"""What the label screen knows, and the verdicts given on it: queues, label sets, undo."""

from __future__ import annotations

from .conftest import Run


def test_ranked_again_the_queue_keeps_what_is_on_the_screen_and_the_next_case(run: Run) -> None:
    found = run(
        "screen_state",
        """
        const state = standing(m.ScreenState, ["a", "b", "c", "d", "e"], "b");
        state.give(["e"], "normal", 1);
        const ranked = ["d", row("b", { rank: 7 }), "x", "c"];
        const kind = state.setQueue(queue(ranked, { version: 2, merge: true }));
        return { kind, rows: ids(state), rank: state.row("b").rank, next: state.coming(1) };
        """,
    )
    assert found == {"kind": "rows", "rows": ["a", "b", "c", "e", "d", "x"], "rank": 7, "next": ["c"]}


def test_another_order_begins_at_its_top_and_leaves_the_case_in_front(run: Run) -> None:
    found = run(
        "screen_state",
        """
        const state = standing(m.ScreenState, ["a", "b", "c"], "c");
        const kind = state.setQueue(queue(["x", "y", "c"], { key: "q-2", merge: true }));
        const [rows, coming, none] = [ids(state), state.coming(9), state.setQueue(queue([], { rows: null }))];
        return { kind, rows, current: state.current, coming, none };
        """,
    )
    assert (found["kind"], found["rows"], found["none"]) == ("order", ["x", "y", "c"], False)
    assert (found["current"], found["coming"]) == ("c", ["x", "y"])


def test_cases_come_from_below_then_from_above_and_only_undecided_ones(run: Run) -> None:
    found = run(
        "screen_state",
        """
        const state = standing(m.ScreenState, ["a", "b", "c", "d"], "c");
        state.give(["d"], "unsure", 1);
        const reviewed = standing(m.ScreenState, ["a", "b", "c"], "a", { reviewing: true });
        reviewed.labels.set("b", "normal");
        const steps = [state.neighbourInQueue(1), state.neighbourInQueue(-1), state.neighbourInQueue(-9)];
        const [coming, one, waiting] = [state.coming(9), state.coming(1), state.waiting()];
        return { coming, one, reviewed: reviewed.coming(9), steps, waiting };
        """,
    )
    assert found["coming"] == ["a", "b"]
    assert found["one"] == ["a"]
    assert found["reviewed"] == ["b", "c"]
    assert found["steps"] == ["d", "b", "a"]
    assert found["waiting"] == 3


def test_labels_follow_differences_and_a_verdict_given_here_shows_until_it_is_confirmed(run: Run) -> None:
    found = run(
        "screen_state",
        """
        const state = new m.ScreenState();
        const all = () => Object.fromEntries(["a", "b", "c"].map((node) => [node, state.verdict(node)]));
        const follow = (base, version, changes, ack) =>
          state.setLabels({ base, version, changes }, { me: ack }, "me");
        follow(null, "v1", { a: "normal", b: "unsure" }, 0);
        state.give(["a", "c"], "anomalous", 5);
        const steps = [all(), state.decided()];
        steps.push(follow("v1", "v2", { b: null }, 4), all());
        steps.push(follow("v7", "v8", { a: "normal" }, 5), all(), state.version);
        steps.push(follow("v2", "v3", { a: "anomalous" }, 5), all());
        return steps;
        """,
    )
    given = {"a": "anomalous", "b": "unsure", "c": "anomalous"}
    assert found[:2] == [given, 3]
    assert found[2:4] == [["b"], given | {"b": None}]
    assert found[4:7] == [
        [],
        given | {"b": None},
        "v2",
    ]  # a difference to a version not held here
    assert found[7:] == [["a"], {"a": "anomalous", "b": None, "c": None}]


def test_cases_are_fetched_again_when_a_neighbour_or_the_run_changed(run: Run) -> None:
    found = run(
        "screen_state",
        """
        const state = standing(m.ScreenState, ["a", "b", "c", "d", "e"], "a");
        const first = state.toFetch();
        const view = (node) => ({ nodes: [{ id: node }, { id: `${node}1` }] });
        for (const node of ["a", "b", "c", "d", "e"]) state.keep(node, { card: {}, view: view(node) });
        const none = state.toFetch();
        state.outdate(["b1"]);
        const stale = state.toFetch();
        const runs = [state.setRun("r1"), state.setRun("r1"), state.setRun("r2")];
        return { first, none, stale, runs, after: state.toFetch() };
        """,
    )
    assert found["first"] == ["a"]  # the case in front alone: it is waited for
    assert found["none"] == []
    assert found["stale"] == ["b"]
    assert found["runs"] == [False, False, True]
    assert found["after"] == ["a", "b", "c"]


def test_a_case_opened_as_a_random_check_stays_one_in_a_new_order(run: Run) -> None:
    found = run(
        "screen_state",
        """
        const state = standing(m.ScreenState, [row("a", { inclusion_probability: 0.2 }), "b"], "a");
        state.setQueue(queue(["b", "a"], { key: "q-2" }));
        return ["a", "b", "z"].map((node) => state.offered(node)?.inclusion_probability ?? null);
        """,
    )
    assert found == [0.2, None, None]


def test_back_goes_the_way_one_came(run: Run) -> None:
    body = """
    const state = standing(m.ScreenState, ["a", "b", "c"], "a");
    ["c", "c", "z"].forEach((node) => state.open(node));
    return [state.back(), state.back(), state.back(), state.current, state.anchor];
    """
    assert run("screen_state", body) == ["c", "a", None, "a", 0]


def test_a_verdict_goes_to_the_case_which_gives_way_to_the_next(run: Run) -> None:
    found = run(
        "verdicts screen_state",
        """
        const { verdicts, events, said, state, toasts } = desk(m);
        ["anomalous", "normal"].forEach((verdict) => verdicts.decide(verdict));
        return { events, said: said(), current: state.current, toasts };
        """,
    )
    sent = [(event["kind"], event["node"], event["verdict"]) for event in found["events"]]
    assert sent == [("verdict", "a", "anomalous"), ("verdict", "b", "normal")]
    assert (found["events"][0]["offer"], found["events"][0]["analyst"]) == (None, "ana")
    assert found["said"] == ["anomalous", "normal", None, None]
    assert (found["current"], found["toasts"]) == ("c", [])


def test_a_selection_is_one_group_and_one_step_back(run: Run) -> None:
    found = run(
        "verdicts screen_state",
        """
        const { verdicts, events, said, state, toasts } = desk(m);
        state.labels.set("b", "normal");
        state.marked = new Set(["b", "c"]);
        verdicts.decide("unsure");
        const [given, current] = [said(), state.current];
        verdicts.undo();
        const undone = said();
        verdicts.redo();
        return { events, given, current, undone, redone: said(), toasts, marked: state.marked.size };
        """,
    )
    group, undo, redo = found["events"]
    assert (group["kind"], group["nodes"], group["source"]) == ("group", ["b", "c"], "selection")
    assert (undo["kind"], undo["step"], undo["show"]) == ("undo", 1, False)
    assert redo["kind"] == "redo"
    assert found["given"] == found["redone"] == [None, "unsure", "unsure", None]
    assert found["undone"] == [None, "normal", None, None]
    assert (found["current"], found["marked"]) == ("a", 0)
    (toast,) = found["toasts"]
    assert toast == "2 nodes marked unsure, 1 of them had another verdict. Z takes all of them back."


def test_an_undo_goes_back_to_the_case_and_beyond_this_visit_asks_the_server(run: Run) -> None:
    found = run(
        "verdicts screen_state",
        """
        const { verdicts, events, state } = desk(m);
        verdicts.decide("normal");
        verdicts.undo();
        verdicts.undo();
        return { events, current: state.current, own: [...state.own] };
        """,
    )
    _, *undone = found["events"]
    assert [(event["kind"], event["show"]) for event in undone] == [("undo", False), ("undo", True)]
    assert (found["current"], found["own"]) == ("a", [])


def test_the_answer_to_a_random_check_says_so_alone_and_in_a_group(run: Run) -> None:
    check = {"node_id": "a", "strategy": "audit", "inclusion_probability": 0.1, "offer": 7, "name": "a"}
    found = run(
        "verdicts screen_state",
        """
        const { verdicts, events } = desk(m, values[0]);
        verdicts.decide("normal");
        verdicts.decide("normal", ["a", "z"]);
        return events;
        """,
        [check, {**check, "node_id": "b", "inclusion_probability": None}],
    )
    assert found[0]["offer"] == 7
    assert found[1]["offers"] == {"a": 7}
    assert not {"strategy", "inclusion_probability", "drawn_after"} & set(found[0])


def test_another_verdict_than_a_colleagues_asks_first(run: Run) -> None:
    found = run(
        "verdicts screen_state",
        """
        const { verdicts, events, state, asked } = desk(m);
        state.labels = new Map([["a", "normal"], ["b", "normal"]]);
        state.setColleagues({ taken: {}, by: { a: "ben", b: "ana" } });
        verdicts.decide("anomalous");
        const before = events.length;
        asked[0].perform();
        ["b", "a"].forEach((node) => (state.open(node), verdicts.decide("unsure")));
        const sent = events.map(({ node, verdict }) => [node, verdict]);
        return { before, title: asked.map(({ title }) => title), sent };
        """,
    )
    assert (found["before"], found["title"]) == (0, ["ben said normal"])
    assert found["sent"] == [["a", "anomalous"], ["b", "unsure"], ["a", "unsure"]]


def test_cases_that_a_colleague_has_are_passed_over(run: Run) -> None:
    body = """
    const state = standing(m.ScreenState, ["a", "b", "c"], "a");
    const changed = [1, 2].map(() => state.setColleagues({ taken: { b: "ben" }, by: {} }));
    return [changed, state.coming(5)];
    """
    assert run("screen_state", body) == [[True, False], ["c"]]


def test_a_dispute_is_settled_and_the_case_stays(run: Run) -> None:
    found = run(
        "verdicts screen_state",
        """
        const { verdicts, events, state } = desk(m);
        const card = { row: row("a"), disputed: { ben: "normal" } };
        verdicts.settle(card, "anomalous");
        return { events, current: state.current, verdict: state.verdict("a"), disputed: card.disputed };
        """,
    )
    assert found["events"] == [{"kind": "settle", "node": "a", "verdict": "anomalous", "analyst": "ana"}]
    assert (found["current"], found["verdict"], found["disputed"]) == ("a", "anomalous", {})
