"""Keys, words, elements, the why tab and the picture's style, each module by itself."""

from __future__ import annotations

from playwright.sync_api import Page

from pages.label import modules

from .conftest import Run


def test_a_browser_loads_every_module_by_its_address(modules_page: Page) -> None:
    names = [path.stem for path in modules.FOLDER.glob("*.js")]
    load = "(names) => Promise.all(names.map((name) => import(`/${name}.js`))).then((all) => all.length)"
    assert modules_page.evaluate(load, names) == len(names) > 20


def test_each_key_does_what_the_help_says(run: Run) -> None:
    notes = run(
        "keys",
        """
        const { press, keys, notes } = keyboard(m.Keys);
        for (const key of "aNujkbmewsgthxpdl3/?z") press(key);
        press("Z", { shiftKey: true });
        press("L", { shiftKey: true });
        press("r");
        press("§", { shiftKey: true, code: "Digit3" });
        keys.stop();
        press("a");
        return notes;
        """,
    )
    assert notes == [
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
        ["neighbourhood.togglePin"],
        ["neighbourhood.focusPeriod"],
        ["neighbourhood.stepEdge", 1],
        ["neighbourhood.bar.toggleKind", 2],
        ["search"],
        ["help"],
        ["verdicts.undo"],
        ["verdicts.redo"],
        ["neighbourhood.stepEdge", -1],
        ["card.reasons.ask"],
        ["card.reasons.choose", 2],
    ]


def test_every_key_is_in_the_list_of_keys(run: Run) -> None:
    missing = run(
        "keys",
        """
        const { keys } = keyboard(m.Keys);
        keys.stop();
        const told = new Set(m.HELP.flatMap(([, lines]) => lines.map(([key]) => key.toLowerCase())));
        const all = [...Object.keys(keys.actions), "z", "shift z", "l", "shift l", "1 … 9", "shift 1 … 9"];
        return all.filter((key) => !told.has(key));
        """,
    )
    assert missing == []


def test_keys_that_mean_something_else_are_left_alone(run: Run) -> None:
    found = run(
        "keys",
        """
        const { press, keys, notes } = keyboard(m.Keys);
        const add = (tag) => document.body.appendChild(document.createElement(tag));
        const passed = ["input", "textarea", "select", "button"].map((tag) => press("a", {}, add(tag)));
        passed.push(press("a", { ctrlKey: true }), press("q"), press("Escape"));
        passed.push(press("a", { repeat: true }), press("j", { repeat: true }));
        add("div").setAttribute("role", "dialog");
        passed.push(press("n"));
        keys.stop();
        return { passed, notes };
        """,
    )
    assert found["passed"] == [False, False, False, True, False, False, False, False, True, False]
    assert found["notes"] == [["verdicts.decide", "anomalous"], ["neighbourhood.leave"], ["step", 1]]


def test_an_open_dialog_takes_the_keys_and_escape_closes_it_or_ends_the_selection(run: Run) -> None:
    notes = run(
        "keys",
        """
        const { press, keys, notes, dialogs, state } = keyboard(m.Keys);
        Object.assign(dialogs, { open: true, keys: { a: () => notes.push(["in the dialog"]) } });
        ["a", "n", "Escape"].forEach((key) => press(key));
        dialogs.open = false;
        state.marked.add("x");
        press("Escape");
        keys.stop();
        return notes;
        """,
    )
    assert notes == [["in the dialog"], ["closed"], ["neighbourhood.leave"], ["mark", []]]


def test_numbers_and_names_are_written_for_people(run: Run) -> None:
    found = run(
        "words",
        """
        return [
          m.count(1234567), m.count(null), m.plural(1, "case"), m.plural(1200, "case"),
          ...[null, 0, 0.12345, 123.456, 0.00001, -123456].map((value) => m.decimals(value)),
          ...[999, 1500, 2600000].map(m.short), ...[99.99, 97.04, 60, 3].map(m.placeOf),
          m.fullName("Nora", "n1"), m.fullName("n1", "n1"),
          ...["nonsense", "2020-01-02T10:05:00Z", null].map(m.when),
        ];
        """,
    )
    assert found == [
        *("1,234,567", "0", "1 case", "1,200 cases"),
        *("–", "0.000", "0.123", "123.5", "1.0e-5", "-1.2e+5"),
        *("999", "2k", "3M", "top 0.1 %", "top 3.0 %", "top 40 %", "lowest 3.0 %"),
        *("Nora (n1)", "n1", "nonsense", "2 Jan 11:05", "1 Jan 01:00"),
    ]


def test_a_long_id_keeps_both_of_its_ends_and_a_period_says_its_year_once(run: Run) -> None:
    said = run(
        "words edge_flows",
        """
        const ends = ["3 March 2025", "1 May 2025", "2 May 2026"];
        const days = { starts: ["3 March 2025", "4 March 2025"], ends };
        const periods = [[0, 0], [0, 1], [1, 2]].map((period) => m.periodText(days, period));
        return [m.shortId("A10434"), m.shortId("DE893704004405320007"), ...periods];
        """,
    )
    long = ["3 March 2025", "3 March – 1 May 2025", "4 March 2025 – 2 May 2026"]
    assert said == ["A10434", "DE89…320007", *long]


def test_a_table_of_links_names_ids_where_two_share_a_name(run: Run) -> None:
    texts = run(
        "link_table",
        """
        const table = new m.LinkTable({});
        const row = (node_id, name) => ({ node_id, name, direction: "in", other: [] });
        const rows = [row("a", "Nora"), row("b", "Nora"), row("c", "Otto"), row("c", "Otto")];
        table.show({ columns: [{ key: "counterparty", title: "with" }], rows, sort: "", descending: false });
        return [...table.body.querySelectorAll(".rf-open-node")].map((each) => each.textContent);
        """,
    )
    assert texts == ["Noraa", "Norab", "Otto", "Otto"]


def test_text_from_data_is_never_parsed(run: Run) -> None:
    evil = "<img src=x onerror=\"document.title='broken in'\">"
    found = run(
        "elements marks",
        """
        const [evil] = values;
        const parts = [evil, m.nodeName(evil, "id"), m.option(evil, evil), null, false, [1, [2]]];
        const made = m.el("p", { title: evil }, parts);
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
        m.remembered.set("noStorage", "a", 1);
        const asked = [["localStorage", "a"], ["localStorage", "broken", 7], ["noStorage", "a", 8]];
        return asked.map((each) => m.remembered.get(...each));
        """,
    )
    assert found == [{"n": 1}, 7, 8]


def test_what_the_why_tab_shows_adds_up_to_the_score(run: Run) -> None:
    found = run(
        "why_tab",
        """
        const random = chance(values[0]);
        const parts = (n) => Array.from({ length: n }, (_, i) => ({ name: `p${i}`, value: random() - 0.4 }));
        return [3, 8, 30].map((n) => {
          const [attributes, neighbours] = [parts(n), parts(5)];
          const total = (all) => all.reduce((sum, part) => sum + part.value, 0);
          const sum = total([...attributes, ...neighbours]);
          const told = m.whyParts({ score: sum + 1.5, base: 1.25, gap: 0.25, attributes, neighbours });
          const shown = total([...told.attributes, ...told.neighbours]) + told.base + told.gap;
          const adds = Math.abs(shown - told.score) < 1e-9;
          return [adds, told.attributes.length, told.attributes.at(-1).other ?? false];
        });
        """,
        3,
    )
    assert found == [[True, 3, False], [True, 8, False], [True, 9, True]]


def test_colours_go_by_score_verdict_or_attribute_and_blind_shows_no_score(run: Run) -> None:
    found = run(
        "graph_style palette",
        """
        const attributes = (i) => ({ amount: String(i), kind: i < 5 ? "x" : "y" });
        const one = (_, i) => ({ percentile: i, verdict: i ? null : "normal", attributes: attributes(i) });
        const cases = Array.from({ length: 8 }, one);
        const modes = ["score", "attribute:amount", "attribute:kind"];
        const [score, amount, kind] = modes.map((mode) => m.colouring(mode, cases, false));
        const blind = m.colouring("score", cases, true);
        const { verdicts, categories, other } = m.PALETTE;
        const [low, high] = [m.PALETTE.score[0][1], m.PALETTE.score.at(-1)[1]];
        const rgb = (hex) => `rgb(${[1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).join(", ")})`;
        return {
          score: score.of({ percentile: 0 }) === rgb(low) && score.of({ percentile: 100 }) === rgb(high),
          blind: blind.of(cases[0]) === verdicts.normal && blind.of(cases[1]) === verdicts.none,
          hidden: !blind.ramp,
          amount: [amount.ramp.low, amount.ramp.high, amount.of({}) === other],
          kind: kind.chips.map(({ text }) => text),
          most: kind.of(cases[0]) === categories[0], none: kind.of({}) === other,
        };
        """,
    )
    assert found == {
        "score": True,
        "blind": True,
        "hidden": True,
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
        const style = (more) => m.nodeStyle(node, "#ff0000", theme, { ...at, ...more });
        const [plain, centre] = [style({}), style({ centre: true })];
        return {
          shape: plain.shape === m.PALETTE.shapes.anomalous, label: plain.label,
          sizes: [plain.size, centre.size],
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
        const entries = [entry("a", 0), entry("b", 5), entry("c", 5, true), entry("d", 200)];
        return [...m.namesThatFit(entries, "sans-serif")];
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
          ways: [...why.nodes].map(([id, push]) => [id, push.up, push.share]),
          lowers: Boolean(styled("me", "a").dashes),
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
