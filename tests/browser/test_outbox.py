"""The outbox: events are numbered, resent until they are confirmed, and none is lost."""

from __future__ import annotations

from .conftest import Run


def test_no_event_is_lost_doubled_or_reordered_whatever_the_line_does(run: Run) -> None:
    storms = [run("outbox", "return storm(m.Outbox, values[0]);", seed) for seed in range(25)]
    assert all(storm["performed"] == list(range(40)) for storm in storms)
    assert all(storm["pending"] == 0 for storm in storms)
    assert max(storm["most"] for storm in storms) > 5  # the storms were storms


def test_one_message_is_under_way_and_the_next_takes_all_that_came_meanwhile(run: Run) -> None:
    sent = run(
        "outbox",
        """
        const clock = timers();
        const sent = [];
        const out = new m.Outbox("p", () => ({ part: 1 }), () => {});
        out.post({ what: "early" }); // no line yet: it waits
        out.send = (message) => sent.push(structuredClone(message));
        out.flush();
        for (const what of ["a", "b", "c"]) out.post({ what });
        out.receive({ client: out.client, n: 1 }, { [out.client]: 1 });
        out.flush();
        clock.end();
        return sent.map(({ n, part, events }) => [n, part, events.map((event) => [event.seq, event.what])]);
        """,
    )
    assert sent == [[1, 1, [[1, "early"]]], [2, 1, [[2, "a"], [3, "b"], [4, "c"]]]]


def test_without_an_answer_the_same_numbers_are_sent_again_and_an_old_answer_frees_no_line(run: Run) -> None:
    found = run(
        "outbox",
        """
        const clock = timers();
        const sent = [];
        const out = new m.Outbox("p", () => ({}), () => {});
        out.send = (message) => sent.push(structuredClone(message));
        out.post({ what: "a" });
        clock.fire();
        out.receive({ client: out.client, n: 1 }, {}); // of the message before
        const waiting = out.waiting;
        out.receive({ client: "another tab", n: 9 }, { "another tab": 9 });
        const kept = out.pending.length;
        clock.end();
        return { seqs: sent.map(({ n, events }) => [n, events[0].seq]), waiting, kept };
        """,
    )
    assert found == {"seqs": [[1, 1], [2, 1]], "waiting": True, "kept": 1}


def test_what_was_not_confirmed_outlives_a_reload_under_its_old_number(run: Run) -> None:
    found = run(
        "outbox",
        """
        const clock = timers();
        const before = new m.Outbox("p", () => ({}), () => {});
        before.post({ what: "a" });
        const sent = [];
        const after = new m.Outbox("p", () => ({}), () => {});
        after.send = (message) => sent.push(structuredClone(message));
        after.post({ what: "b" });
        const other = new m.Outbox("q", () => ({}), () => {}).pending.length;
        after.receive(null, { [before.client]: 1 });
        clock.end();
        const own = sent[0].events.map((event) => [event.what, event.client === before.client, event.seq]);
        return { own, other, left: after.pending.map((event) => event.what) };
        """,
    )
    assert found == {"own": [["a", True, 1], ["b", False, 1]], "other": 0, "left": ["b"]}


def test_the_line_is_held_before_a_change_of_page_and_freed_after(run: Run) -> None:
    found = run(
        "outbox",
        """
        const clock = timers();
        const [sent, left] = [[], []];
        const out = new m.Outbox("p", () => ({}), () => {});
        out.send = (message) => sent.push(message.n);
        out.post({ what: "a" });
        out.whenQuiet(() => left.push(sent.length));
        clock.fire(0);
        const early = left.length;
        out.receive({ client: out.client, n: 1 }, { [out.client]: 1 });
        clock.fire(0);
        out.poke();
        const held = sent.length;
        clock.fire();
        clock.end();
        return { early, left, held, after: sent.length };
        """,
    )
    assert found == {"early": 0, "left": [1], "held": 1, "after": 2}
