"""The label screen's JavaScript modules one by one, in a page without a server: what they do, not how it looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from pages.label import modules

from .conftest import serve_modules

Run = Callable[..., Any]

# What the tests share in the page: timers that only run when told, a seeded chance, rows, an app that takes notes.
HELPERS = """
globalThis.timers = () => {
  const [set, clear, due] = [globalThis.setTimeout, globalThis.clearTimeout, new Map()];
  let n = 0;
  globalThis.setTimeout = (action, wait = 0) => (due.set(++n, { action, wait }), n);
  globalThis.clearTimeout = (id) => due.delete(id);
  const fire = (most = Infinity) => {
    for (const [id, { action, wait }] of [...due]) {
      if (wait <= most && due.delete(id)) action();
    }
  };
  return { fire, due, end: () => Object.assign(globalThis, { setTimeout: set, clearTimeout: clear }) };
};
globalThis.chance = (seed) => () => {
  seed = (seed * 1664525 + 1013904223) % 4294967296;
  return seed / 4294967296;
};
globalThis.row = (node_id, more = {}) => ({ node_id, name: node_id, rank: 1, inclusion_probability: null, strategy: "top", ...more });
globalThis.queue = (nodes, more = {}) => ({
  key: "q-1", version: 1, where: { verdict: "unlabelled" }, basis: { run: 1, verdicts: 0 }, merge: false,
  rows: nodes.map((node) => (typeof node === "string" ? row(node) : node)), ...more,
});
globalThis.standing = (ScreenState, nodes, at, more = {}) => {
  const state = new ScreenState();
  state.setQueue(queue(nodes, more));
  if (at) state.open(at);
  return state;
};
globalThis.ids = (state) => state.rows.map((each) => each.node_id);
globalThis.noted = () => {
  const notes = [];
  const listen = (path) => new Proxy(() => {}, {
    get: (_, name) => (name === Symbol.toPrimitive ? () => "" : listen([...path, name])),
    apply: (_, __, values) => void notes.push([path.join("."), ...values]),
  });
  return { app: listen([]), notes };
};
"""


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(locale="en-GB", timezone_id="Europe/Berlin")
    opened = context.new_page()
    serve_modules(opened)
    opened.evaluate(HELPERS)
    yield opened
    context.close()


@pytest.fixture
def run(page: Page) -> Run:
    """Evaluates the body of a function with the exports of modules: ``run("outbox", "return …", *values)``."""

    def evaluate(names: str, body: str, *values: Any) -> Any:
        loads = [f"...(await import('/{name}.js'))" for name in names.split()]
        return page.evaluate(
            f"async (values) => {{ const m = {{ {', '.join(loads)} }}; sessionStorage.clear(); localStorage.clear();"
            f" document.body.replaceChildren(); {body} }}",
            list(values),
        )

    return evaluate


def test_a_browser_loads_every_module_by_its_address(page: Page) -> None:
    names = [path.stem for path in modules.FOLDER.glob("*.js")]
    found = page.evaluate(
        "(names) => Promise.all(names.map((name) => import(`/${name}.js`))).then((all) => all.length)", names
    )
    assert found == len(names) > 20


# ---- outbox -------------------------------------------------------------------------------------------

# A server that performs each number once, behind a line that loses, doubles and reorders messages and answers.
STORM = """
const [seed] = values;
const [clock, random] = [timers(), chance(seed)];
const [performed, wire] = [[], []];
let [last, posted, most] = [0, 0, 0];
const out = new m.Outbox("p", () => ({ part: 1 }), () => {});
out.send = (message) => wire.push({ message: structuredClone(message) });
const deliver = ({ message, answer }) => {
  if (answer) {
    out.receive(answer.reply, answer.ack);
    return out.flush(); // as the screen does once it has taken the rest of the answer
  }
  for (const event of message.events) {
    if (event.seq <= last) continue;
    performed.push(event.what);
    last = event.seq;
  }
  wire.push({ answer: { reply: { client: message.client, n: message.n }, ack: { [message.client]: last } } });
};
for (let step = 0; step < 600; step++) {
  if (posted < 40 && random() < 0.2) out.post({ what: posted++ });
  if (wire.length && random() < 0.6) {
    const at = Math.floor(random() * wire.length);
    const [parcel] = wire.slice(at, at + 1);
    if (random() > 0.2) wire.splice(at, 1); // else it stays, and comes twice
    if (random() > 0.35) deliver(parcel);
  }
  if (random() < 0.1) clock.fire();
  most = Math.max(most, out.pending.length);
}
while (posted < 40) out.post({ what: posted++ });
for (let step = 0; step < 200 && out.pending.length; step++) {
  wire.splice(0).forEach(deliver);
  clock.fire();
}
clock.end();
return { performed, pending: out.pending.length, most };
"""


def test_no_event_is_lost_doubled_or_reordered_whatever_the_line_does(run: Run) -> None:
    storms = [run("outbox", STORM, seed) for seed in range(25)]
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


# ---- what the screen knows ----------------------------------------------------------------------------


def test_ranked_again_the_queue_keeps_what_is_on_the_screen_and_the_next_case(run: Run) -> None:
    found = run(
        "screen_state",
        """
        const state = standing(m.ScreenState, ["a", "b", "c", "d", "e"], "b");
        state.give(["e"], "normal", 1);
        const kind = state.setQueue(queue(["d", row("b", { rank: 7 }), "x", "c"], { version: 2, merge: true }));
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
        return { kind, rows: ids(state), current: state.current, coming: state.coming(9), none: state.setQueue(queue([], { rows: null })) };
        """,
    )
    assert found == {
        "kind": "order",
        "rows": ["x", "y", "c"],
        "current": "c",
        "coming": ["x", "y"],
        "none": False,
    }


def test_cases_come_from_below_then_from_above_and_only_undecided_ones(run: Run) -> None:
    found = run(
        "screen_state",
        """
        const state = standing(m.ScreenState, ["a", "b", "c", "d"], "c");
        state.give(["d"], "unsure", 1);
        const reviewed = standing(m.ScreenState, ["a", "b", "c"], "a", { where: { verdict: "normal" } });
        reviewed.labels.set("b", "normal");
        const steps = [state.neighbourInQueue(1), state.neighbourInQueue(-1), state.neighbourInQueue(-9)];
        return { coming: state.coming(9), one: state.coming(1), reviewed: reviewed.coming(9), steps, waiting: state.waiting() };
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
        state.setLabels({ base: null, version: "v1", changes: { a: "normal", b: "unsure" } }, {}, "me");
        state.give(["a", "c"], "anomalous", 5);
        const steps = [all(), state.decided()];
        steps.push(state.setLabels({ base: "v1", version: "v2", changes: { b: null } }, { me: 4 }, "me"), all());
        steps.push(state.setLabels({ base: "v7", version: "v8", changes: { a: "normal" } }, { me: 5 }, "me"), all(), state.version);
        steps.push(state.setLabels({ base: "v2", version: "v3", changes: { a: "anomalous" } }, { me: 5 }, "me"), all());
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
    ]  # a difference to a version not held: nothing is believed
    assert found[7:] == [["a"], {"a": "anomalous", "b": None, "c": None}]


def test_cases_are_fetched_again_when_a_neighbour_or_the_run_changed(run: Run) -> None:
    found = run(
        "screen_state",
        """
        const state = standing(m.ScreenState, ["a", "b", "c", "d", "e"], "a");
        const first = state.toFetch();
        for (const node of ["a", "b", "c", "d", "e"]) state.keep(node, { card: {}, view: { nodes: [{ id: node }, { id: `${node}1` }] } });
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
        return [state.offered("a").inclusion_probability, state.offered("b").inclusion_probability, state.offered("z")];
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


# ---- verdicts -----------------------------------------------------------------------------------------

# An app with a real state and a line that takes notes; `notes` are events, the rest what was called.
APP = """
const state = standing(m.ScreenState, values[0] ?? ["a", "b", "c", "d"], "a");
const [events, toasts] = [[], []];
const app = {
  state, analyst: "ana", queue: { marked: new Set() }, outbox: { post: (event) => events.push(event) },
  paint() {}, showSelection() {}, open: (node) => state.open(node), next: () => state.open(state.coming(1)[0]),
  dialogs: { toast: (text) => toasts.push(text) },
};
const verdicts = new m.Verdicts(app);
const said = () => ["a", "b", "c", "d"].map((node) => state.verdict(node));
"""


def test_a_verdict_goes_to_the_case_which_gives_way_to_the_next(run: Run) -> None:
    found = run(
        "verdicts screen_state",
        APP
        + 'verdicts.decide("anomalous"); verdicts.decide("normal"); return { events, said: said(), current: state.current, toasts };',
    )
    assert [(event["kind"], event["node"], event["verdict"]) for event in found["events"]] == [
        ("verdict", "a", "anomalous"),
        ("verdict", "b", "normal"),
    ]
    assert found["events"][0]["strategy"] == "top"
    assert found["events"][0]["analyst"] == "ana"
    assert found["said"] == ["anomalous", "normal", None, None]
    assert (found["current"], found["toasts"]) == ("c", [])


def test_a_selection_is_one_group_and_one_step_back(run: Run) -> None:
    found = run(
        "verdicts screen_state",
        APP
        + """
        state.labels.set("b", "normal");
        app.queue.marked = new Set(["b", "c"]);
        verdicts.decide("unsure");
        const [given, current] = [said(), state.current];
        verdicts.undo();
        const undone = said();
        verdicts.redo();
        return { events, given, current, undone, redone: said(), toasts, marked: app.queue.marked.size };
        """,
    )
    group, undo, redo = found["events"]
    assert (group["kind"], group["nodes"], group["source"]) == ("group", ["b", "c"], "selection")
    assert (undo["kind"], undo["step"], undo["show"]) == ("undo", 1, False)
    assert redo["kind"] == "redo"
    assert found["given"] == found["redone"] == [None, "unsure", "unsure", None]
    assert found["undone"] == [None, "normal", None, None]
    assert (found["current"], found["marked"]) == ("a", 0)
    assert found["toasts"] == [
        "2 nodes marked unsure, 1 of them had another verdict. Z takes all of them back."
    ]


def test_an_undo_goes_back_to_the_case_and_beyond_this_visit_asks_the_server(run: Run) -> None:
    found = run(
        "verdicts screen_state",
        APP
        + 'verdicts.decide("normal"); verdicts.undo(); verdicts.undo(); return { events, current: state.current, own: [...state.own] };',
    )
    assert [(event["kind"], event.get("show")) for event in found["events"][1:]] == [
        ("undo", False),
        ("undo", True),
    ]
    assert (found["current"], found["own"]) == ("a", [])


def test_the_answer_to_a_random_check_says_so_alone_and_in_a_group(run: Run) -> None:
    check = {"node_id": "a", "strategy": "audit", "inclusion_probability": 0.1, "drawn_after": 3, "name": "a"}
    found = run(
        "verdicts screen_state",
        APP + 'verdicts.decide("normal"); verdicts.decide("normal", ["a", "z"]); return events;',
        [check, {**check, "node_id": "b", "inclusion_probability": None}],
    )
    offer = {key: check[key] for key in ("strategy", "inclusion_probability", "drawn_after")}
    assert {key: found[0][key] for key in offer} == offer
    assert found[1]["draws"] == {
        "a": offer,
        "z": {"strategy": "", "inclusion_probability": None, "drawn_after": None},
    }


def test_a_dispute_is_settled_and_the_case_stays(run: Run) -> None:
    found = run(
        "verdicts screen_state",
        APP
        + """
        const card = { row: row("a"), disputed: { ben: "normal" } };
        verdicts.settle(card, "anomalous");
        return { events, current: state.current, verdict: state.verdict("a"), disputed: card.disputed };
        """,
    )
    assert found["events"] == [{"kind": "settle", "node": "a", "verdict": "anomalous", "analyst": "ana"}]
    assert (found["current"], found["verdict"], found["disputed"]) == ("a", "anomalous", {})


# ---- keys ---------------------------------------------------------------------------------------------

KEYS = """
const { app, notes } = noted();
const dialogs = { open: false, keys: null, close: () => notes.push(["closed"]), help: () => notes.push(["help"]) };
const queue = { marked: new Set(), mark: (nodes) => notes.push(["mark", nodes]), search: { focus: () => notes.push(["search"]) } };
const keys = new m.Keys(new Proxy({}, { get: (_, name) => ({ dialogs, queue })[name] ?? app[name] }));
const press = (key, more = {}, target = document.body) => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, composed: true, ...more });
  target.dispatchEvent(event);
  return event.defaultPrevented;
};
"""


def test_each_key_does_what_the_help_says(run: Run) -> None:
    notes = run(
        "keys",
        KEYS
        + 'for (const key of "aNujkbmewsgthx/?z") press(key); press("Z", { shiftKey: true }); keys.stop(); press("a"); return notes;',
    )
    assert [note for note in notes] == [
        ["verdicts.decide", "anomalous"],
        ["verdicts.decide", "normal"],
        ["verdicts.decide", "unsure"],
        ["step", 1],
        ["step", -1],
        ["back"],
        ["card.focusNote"],
        ["neighbourhood.nextHop"],
        ["card.choose", "why"],
        ["card.choose", "similar"],
        ["labelGroup"],
        ["retrain"],
        ["toggleBlind"],
        ["leave", "export"],
        ["search"],
        ["help"],
        ["verdicts.undo"],
        ["verdicts.redo"],
    ]


def test_keys_that_mean_something_else_are_left_alone(run: Run) -> None:
    found = run(
        "keys",
        KEYS
        + """
        const made = ["input", "textarea", "select", "button"].map((tag) => document.body.appendChild(document.createElement(tag)));
        const passed = [...made.map((each) => press("a", {}, each)), press("a", { ctrlKey: true }), press("r"), press("Escape")];
        passed.push(press("a", { repeat: true }), press("j", { repeat: true }));
        const above = document.body.appendChild(document.createElement("div"));
        above.setAttribute("role", "dialog");
        passed.push(press("n"));
        keys.stop();
        return { passed, notes };
        """,
    )
    assert found["passed"] == [False, False, False, True, False, False, False, False, True, False]
    assert found["notes"] == [["verdicts.decide", "anomalous"], ["step", 1]]


def test_an_open_dialog_takes_the_keys_and_escape_closes_it_or_ends_the_selection(run: Run) -> None:
    notes = run(
        "keys",
        KEYS
        + """
        Object.assign(dialogs, { open: true, keys: { a: () => notes.push(["in the dialog"]) } });
        ["a", "n", "Escape"].forEach((key) => press(key));
        dialogs.open = false;
        queue.marked.add("x");
        press("Escape");
        keys.stop();
        return notes;
        """,
    )
    assert notes == [["in the dialog"], ["closed"], ["mark", []]]


# ---- words, elements, storage -------------------------------------------------------------------------


def test_numbers_and_names_are_written_for_people(run: Run) -> None:
    found = run(
        "words",
        """
        return [
          m.count(1234567), m.count(null), m.plural(1, "case"), m.plural(1200, "case"),
          m.decimals(null), m.decimals(0), m.decimals(0.12345), m.decimals(123.456), m.decimals(0.00001), m.decimals(-123456),
          m.short(999), m.short(1500), m.short(2600000), m.placeOf(99.99), m.placeOf(97.04), m.placeOf(60), m.placeOf(3),
          m.fullName("Nora", "n1"), m.fullName("n1", "n1"), m.when("nonsense"), m.when("2020-01-02T10:05:00Z"), m.when(null),
        ];
        """,
    )
    assert found == [
        *("1,234,567", "0", "1 case", "1,200 cases"),
        *("–", "0.000", "0.123", "123.5", "1.0e-5", "-1.2e+5"),
        *("999", "2k", "3M", "top 0.1 %", "top 3.0 %", "top 40 %", "lowest 3.0 %"),
        *("Nora (n1)", "n1", "nonsense", "2 Jan 11:05", "1 Jan 01:00"),
    ]


def test_text_from_data_is_never_parsed(run: Run) -> None:
    evil = "<img src=x onerror=\"document.title='broken in'\">"
    found = run(
        "elements marks",
        """
        const [evil] = values;
        const made = m.el("p", { title: evil }, evil, m.nodeName(evil, "id"), m.option(evil, evil), null, false, [1, [2]]);
        m.fill(document.body, made);
        return [made.querySelectorAll("img").length, made.textContent, document.title];
        """,
        evil,
    )
    assert found == [0, f"{evil}{evil}id{evil}12", "modules"]


def test_storage_that_is_switched_off_is_done_without(run: Run) -> None:
    found = run(
        "remembered",
        """
        m.remembered.set("localStorage", "a", { n: 1 });
        localStorage.setItem("ringfence:broken", "{");
        return [m.remembered.get("localStorage", "a"), m.remembered.get("localStorage", "broken", 7), m.remembered.get("noStorage", "a", 8),
          m.remembered.set("noStorage", "a", 1) ?? null];
        """,
    )
    assert found == [{"n": 1}, 7, 8, None]


# ---- why, and the picture -----------------------------------------------------------------------------


def test_what_the_why_tab_shows_adds_up_to_the_score(run: Run) -> None:
    found = run(
        "why_tab",
        """
        const random = chance(values[0]);
        const parts = (n) => Array.from({ length: n }, (_, i) => ({ name: `p${i}`, value: random() - 0.4 }));
        return [3, 8, 30].map((n) => {
          const [attributes, neighbours] = [parts(n), parts(5)];
          const sum = [...attributes, ...neighbours].reduce((total, part) => total + part.value, 0);
          const told = m.whyParts({ score: sum + 1.5, base: 1.25, gap: 0.25, attributes, neighbours });
          const shown = [...told.attributes, ...told.neighbours].reduce((total, part) => total + part.value, told.base + told.gap);
          return [Math.abs(shown - told.score) < 1e-9, told.attributes.length, told.attributes.at(-1).other ?? false];
        });
        """,
        3,
    )
    assert found == [[True, 3, False], [True, 8, False], [True, 9, True]]


def test_colours_go_by_score_verdict_or_attribute_and_blind_shows_no_score(run: Run) -> None:
    found = run(
        "graph_style palette",
        """
        const cases = Array.from({ length: 8 }, (_, i) => ({ percentile: i, verdict: i ? null : "normal", attributes: { amount: String(i), kind: i < 5 ? "x" : "y" } }));
        const [score, blind, amount, kind] = [["score", false], ["score", true], ["attribute:amount", true], ["attribute:kind", false]]
          .map(([mode, blind]) => m.colouring(mode, cases, blind));
        const [low, high] = [m.PALETTE.score[0][1], m.PALETTE.score.at(-1)[1]];
        const rgb = (hex) => `rgb(${[1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).join(", ")})`;
        return {
          score: score.of({ percentile: 0 }) === rgb(low) && score.of({ percentile: 100 }) === rgb(high),
          blind: [blind.of(cases[0]) === m.PALETTE.verdicts.normal, blind.of(cases[1]) === m.PALETTE.verdicts.none, "ramp" in blind],
          amount: [amount.ramp.low, amount.ramp.high, amount.of({}) === m.PALETTE.other],
          kind: kind.chips.map(({ text }) => text), most: kind.of(cases[0]) === m.PALETTE.categories[0], none: kind.of({}) === m.PALETTE.other,
        };
        """,
    )
    assert found == {
        "score": True,
        "blind": [True, True, False],
        "amount": ["amount 0", "7", True],
        "kind": ["x", "y"],
        "most": True,
        "none": True,
    }


def test_a_node_is_shaped_by_its_verdict_and_marked_by_its_place(run: Run) -> None:
    found = run(
        "graph_style palette",
        """
        const theme = { text: "#111111", background: "#ffffff", font: "sans" };
        const at = { centre: false, selected: false, named: true, size: 10, font: 12, reach: 0 };
        const node = { node_id: "n", name: "a name that is far too long for it", verdict: "anomalous" };
        const [plain, centre] = [m.nodeStyle(node, "#ff0000", theme, at), m.nodeStyle(node, "#ff0000", theme, { ...at, centre: true })];
        return {
          shape: plain.shape === m.PALETTE.shapes.anomalous, label: plain.label, sizes: [plain.size, centre.size],
          borders: [plain.color.border, centre.color.border], still: plain.color.highlight.background,
        };
        """,
    )
    assert found["shape"]
    assert found["label"] == "a name that is far …"
    assert found["sizes"] == [10, 16]
    assert found["borders"] == ["rgb(158, 0, 0)", "#111111"]
    assert found["still"] == "#ff0000"  # chosen or pointed at, a node keeps its colour


def test_names_that_would_meet_are_left_out_but_for_those_that_must_stand(run: Run) -> None:
    found = run(
        "graph_style",
        """
        const entry = (id, x, must = false) => ({ id, text: "name", x, y: 0, size: 5, font: 12, must });
        return [...m.namesThatFit([entry("a", 0), entry("b", 5), entry("c", 5, true), entry("d", 200)], "sans-serif")];
        """,
    )
    assert found == ["a", "c", "d"]


def test_reasons_in_the_picture_raise_or_lower_and_slight_ones_are_left_out(run: Run) -> None:
    found = run(
        "graph_reasons graph_style",
        """
        const why = m.pushesOf({ nodes: { a: 2, b: -1, c: 0.01 }, edges: { a: -3 } });
        const theme = { text: "#111111" };
        const styled = (from, to) => m.pushedEdge(m.edgeStyle({ from, to }, theme), "me", why);
        const seen = m.pushesInView(why, { centre: "me", edges: [{ from: "me", to: "a" }] }, new Set(["a"]));
        return {
          ways: [...why.nodes].map(([id, push]) => [id, push.up, push.share]), lowers: Boolean(styled("me", "a").dashes),
          faint: styled("x", "y").color.opacity, none: m.pushedEdge({ same: 1 }, "me", m.pushesOf(null)),
          seen: [[...seen.nodes.keys()], [...seen.edges.keys()]], facts: m.pushFacts(why, "a"),
        };
        """,
    )
    assert found["ways"] == [["a", True, 1], ["b", False, 0.5]]
    assert found["lowers"]
    assert found["faint"] < 0.2
    assert found["none"] == {"same": 1}
    assert found["seen"] == [["a"], ["a"]]
    assert found["facts"] == [
        ["This node", "raises the score by 2.0"],
        ["Its edge", "lowers the score by 3.0"],
    ]
