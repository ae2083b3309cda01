"""The command line: journeys in a subprocess, everything else in this process."""

from __future__ import annotations

import io
import json
import re
from argparse import Namespace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import answer, shell, spoken
from probe_detector import register, unregister

from gadcore.cli import main, projects
from gadcore.cli.labels import _counting_lines
from gadcore.cli.show import table
from gadcore.ingest import formats
from gadcore.settings import DEMO_FOLDER
from gadcore.workspace import Workspace

COMMANDS = (
    "run", "import", "projects", "label", "group", "undo", "redo", "note", "labels", "train", "runs", "queue",
    "explain", "score-new", "export", "delete", "demo", "bench", "experiments", "practice",
)  # fmt: skip


@pytest.fixture
def files(tmp_path: Path, planted) -> tuple[Path, Path]:
    """The planted graph as a node table with a truth column and an edge table."""
    graph, y = planted
    nodes = pd.DataFrame({"node_id": graph.node_ids, "name": [f"Node {i}" for i in range(graph.n_nodes)]})
    nodes = nodes.assign(**{f"a{k}": graph.x[:, k] for k in range(graph.n_features)}, is_fraud=y)
    i, j = np.triu(graph.adjacency.toarray()).nonzero()
    edges = pd.DataFrame({"source": graph.node_ids[i], "target": graph.node_ids[j]})
    paths = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    for frame, path in zip((nodes, edges), paths):
        frame.to_csv(path, index=False)
    return paths


@pytest.fixture
def label_file(tmp_path: Path, planted) -> Path:
    graph, y = planted
    chosen = np.r_[np.flatnonzero(y == 1)[:8], np.flatnonzero(y == 0)[:30]]
    path = tmp_path / "labels.csv"
    pd.DataFrame({"node_id": graph.node_ids[chosen], "label": y[chosen], "why": "known"}).to_csv(
        path, index=False
    )
    return path


@pytest.fixture
def project(home: Path, files: tuple[Path, Path]):
    register()
    assert main(["import", str(files[0]), "--edges", str(files[1]), "--project", "net", "--json"]) == 0
    yield "net"
    unregister()


def test_from_files_to_a_flagged_list_without_a_browser(home: Path, files, label_file: Path, planted) -> None:
    graph, y = planted
    imported = shell("import", str(files[0]), "--edges", str(files[1]), "--project", "net")
    assert imported.returncode == 0, imported.stderr
    assert "300 nodes" in imported.stdout
    assert shell("labels", "import", str(label_file), "-p", "net").returncode == 0
    trained = shell("train", "-p", "net", "--model", "sgc-lr", "--json")
    assert trained.returncode == 0, trained.stderr
    assert json.loads(trained.stdout)["status"] == "done"
    out = home.parent / "flagged.csv"
    exported = shell("export", "-p", "net", "--out", str(out), "--top", "25")
    assert exported.returncode == 0, exported.stderr
    flagged = pd.read_csv(out, dtype={"node_id": str})
    assert len(flagged) == 25
    truth = dict(zip(graph.node_ids, y))
    assert np.mean([truth[node] for node in flagged["node_id"]]) > 0.5
    manifest = json.loads((home.parent / "flagged.csv.manifest.json").read_text())
    assert manifest["rows"] == 25


def test_a_mistake_is_one_line_on_stderr_and_exit_code_1(home: Path) -> None:
    seen = shell("queue", "--project", "nowhere")
    assert seen.returncode == 1
    assert seen.stdout == ""
    assert seen.stderr.startswith("error: There is no project 'nowhere'")
    assert "Traceback" not in seen.stderr


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["queue"], ["label", "-p", "x"], ["queue", "-p", "x", "-n", "y"]]
)
def test_a_command_that_is_not_understood_is_exit_code_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["queue", "--dial", "7"], "'7' is out of range; expected a number from 0 to 1"),
        (["queue", "--dial", "far"], "'far' is out of range; expected a number from 0 to 1"),
        (["queue", "--audit-share", "2"], "'2' is out of range; expected a number from 0 to 1"),
        (["queue", "--where", "country"], "expected COLUMN=VALUE"),
        (["queue", "--where", "=FR"], "expected COLUMN=VALUE"),
        (["label", "n001", "maybe"], "'maybe' is not a verdict. Expected: normal, anomalous or unsure"),
        (["group", "n001", "--label", "maybe"], "'maybe' is not a verdict. Expected: normal, anomalous or"),
    ],
)
def test_a_value_that_is_not_understood_is_named_with_what_was_expected(arguments, words, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        main([arguments[0], "-p", "x", *arguments[1:]])
    assert caught.value.code == 2
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("command", [[], ["label"], ["group"], ["explain"], ["note"]])
def test_the_examples_name_accounts_of_the_demo(command: list[str], capsys) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    named = set(re.findall(r"\bA\d+\b", capsys.readouterr().out))
    accounts = (DEMO_FOLDER / "accounts.csv").read_text(encoding="utf-8").splitlines()
    assert named
    assert named <= {line.split(",")[0] for line in accounts}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert f"ringfence {command}" in text
    assert "--json" in text


def test_without_streamlit_run_says_what_to_install(home: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("gadcore.cli.projects.find_spec", lambda name: None)
    assert main(["run"]) == 1
    assert "pip install 'ringfence[app]'" in capsys.readouterr().err


def test_import_prints_the_report_and_stores_nothing_on_a_dry_run(home: Path, files, capsys) -> None:
    seen = answer(capsys, "import", str(files[0]), "--edges", str(files[1]), "-p", "net", "--dry-run")
    assert seen["report"]["n_nodes"] == 300
    assert answer(capsys, "projects") == []


def test_import_with_columns_named_by_hand(home: Path, files, capsys) -> None:
    options = ["--truth", "is_fraud", "--ignore", "a0,a1", "--label", "name", "--id", "node_id"]
    seen = answer(capsys, "import", str(files[0]), "--edges", str(files[1]), "-p", "net", *options)
    assert seen["project"]["has_truth"] is True
    assert "a0" not in Workspace.open("net").graph.node_table
    assert Workspace.open("net").graph.display_name(3) == "Node 3"


def test_import_with_the_parts_of_links_named_by_hand(home: Path, tmp_path: Path, capsys) -> None:
    nodes, links = tmp_path / "n.csv", tmp_path / "transfers.csv"
    nodes.write_text("id,age\na,1\nb,2\nc,3\n", encoding="utf-8")
    rows = "a,b,5,7,2025-01-01,x\na,b,6,8,2025-01-02,y\nb,c,7,9,2025-01-03,x\nc,new,1,1,2025-01-04,x\n"
    links.write_text("source,target,amount,p,date,q\n" + rows, encoding="utf-8")
    chosen = ["--amount", "p", "--time", "", "--kind", "q", "--repeats", "sum", "--unknown", "add"]
    left_out = ["--ignore", '"furthest from its own usual amount, in", total in']
    options = [str(nodes), "--edges", str(links), "-p", "net", *chosen, *left_out]
    assert answer(capsys, "import", *options)["project"]["n_nodes"] == 4
    graph = Workspace.open("net").graph
    meaning = graph.links.meaning
    assert (meaning.amount, meaning.time, meaning.kind) == ("p", None, "q")
    assert graph.adjacency[0, 1] == 15
    assert "total out" in graph.derived
    assert not {"total in", "furthest from its own usual amount, in"} & set(graph.derived)
    assert main(["import", str(nodes), "--edges", str(links), "-p", "x", "--repeats", "most"]) == 1
    assert "one of count, sum, mean, largest, one" in capsys.readouterr().err


def test_import_of_a_missing_file(home: Path, capsys) -> None:
    assert main(["import", "/no/such/file.csv", "-p", "x"]) == 1
    assert "file.csv" in capsys.readouterr().err


def test_projects_for_people_and_programs(project: str, capsys) -> None:
    assert [p["name"] for p in answer(capsys, "projects")] == [project]
    main(["projects"])
    assert project in capsys.readouterr().out


def test_label_undo_redo_and_note(project: str, capsys) -> None:
    seen = answer(capsys, "label", "-p", project, "n001", "n002", "anomalous", "--note", "ring")
    assert [event["node_id"] for event in seen["events"]] == ["n001", "n002"]
    assert seen["counts"]["anomalous"] == 2
    assert answer(capsys, "undo", "-p", project)["counts"]["anomalous"] == 0
    assert answer(capsys, "redo", "-p", project)["counts"]["anomalous"] == 2
    assert answer(capsys, "redo", "-p", project)["events"] == []
    assert answer(capsys, "undo", "-p", project, "--analyst", "bo")["events"] == []
    assert answer(capsys, "note", "-p", project, "n001", "call them")["event"]["note"] == "call them"


def test_a_verdict_on_several_nodes_counts_as_told(project: str, capsys) -> None:
    told = answer(capsys, "label", "-p", project, "n001", "n002", "n003", "n004", "a", "--group", "root")
    assert [event["weight"] for event in told["events"]] == [0.5] * 4
    assert main(["label", "-p", project, "n005", "n006", "n", "--weight", "0.25"]) == 0
    assert "counts as 0.5 of 2 verdicts" in capsys.readouterr().out
    assert main(["label", "-p", project, "n007", "n", "--weight", "3"]) == 1
    assert "at most 1" in capsys.readouterr().err


def test_label_files_go_in_and_out(project: str, label_file: Path, tmp_path: Path, capsys) -> None:
    seen = answer(capsys, "labels", "import", str(label_file), "-p", project)
    assert (seen["added"], seen["unchanged"], seen["unknown"]) == (38, 0, [])
    out = tmp_path / "out.csv"
    assert answer(capsys, "labels", "export", str(out), "-p", project)["written"] == 38
    assert answer(capsys, "labels", "import", str(out), "-p", project)["unchanged"] == 38
    out.write_text("node_id,label\nghost,1\n")
    main(["labels", "import", str(out), "-p", project])
    assert "'ghost'" in capsys.readouterr().out


def test_train_and_runs(project: str, capsys) -> None:
    first = answer(capsys, "train", "-p", project, "--model", "probe", "--set", "plain=true", "--seed", "3")
    assert (first["status"], first["params"], first["seed"]) == ("done", {"plain": True}, 3)
    assert main(["train", "-p", project, "--model", "probe"]) == 0
    assert "Run 2" in capsys.readouterr().out
    assert [run["in_use"] for run in answer(capsys, "runs", "-p", project)] == [True, False]
    assert [run["in_use"] for run in answer(capsys, "runs", "-p", project, "--use", "1")] == [False, True]
    assert [run["number"] for run in answer(capsys, "runs", "-p", project, "--delete", "2")] == [1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--model", "probe", "--set", "mode=error"], "told to fail"),
        (["--model", "label-propagation"], "at least one normal and one anomalous"),
    ],
)
def test_a_run_that_cannot_be_done_says_why(project: str, capsys, options: list[str], words: str) -> None:
    assert main(["train", "-p", project, *options]) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["train", "--model", "magic"], "no model 'magic'"),
        (["train", "--model", "probe", "--set", "colour=red"], "colour"),
        (["train", "--set", "nonsense"], "KEY=VALUE"),
        (["train", "--set", "k=abc"], "whole number, 2 or more"),
        (["train", "--set", "k=true"], "whole number, 2 or more"),
        (["train", "--set", "epochs=NaN"], "whole number, 1 or more"),
        (["train", "--model", "an", "--set", "encoder=magic"], "one of gcn"),
        (["train", "--device", "magic"], "cuda:N or mps"),
        (["queue", "--strategy", "magic"], "greedy-diverse"),
        (["import", "/"], "1,000 files"),
    ],
)
def test_an_argument_that_means_nothing_is_one_line_and_exit_code_2(
    project: str, capsys, command: list[str], words: str
) -> None:
    assert main([*command, "--project", project if command[0] != "import" else "other"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert words in error
    assert answer(capsys, "runs", "-p", project) == []


@pytest.mark.parametrize("seed", ["-1", "abc", "1e3", str(2**32)])
def test_a_seed_that_is_none_is_refused(project: str, capsys, seed: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["train", "-p", project, "--seed", seed])
    assert ended.value.code == 2
    assert "no seed" in capsys.readouterr().err


@pytest.mark.parametrize(
    "setting", ["GAD_THREADS=abc", "GAD_THREADS=0", "GAD_MAX_UNPACKED=-1", "GAD_DEVICE=magic"]
)
def test_a_setting_that_means_nothing_is_named(monkeypatch, capsys, setting: str) -> None:
    name, _, value = setting.partition("=")
    monkeypatch.setenv(name, value)
    assert main(["projects"]) == 2
    assert f"{name} is {value!r}. Expected" in capsys.readouterr().err


def test_queue_by_strategy_and_filter(project: str, capsys) -> None:
    main(["train", "-p", project, "--model", "probe"])
    rows = answer(capsys, "queue", "-p", project, "-n", "7", "--strategy", "top", "--verdict", "any")
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    one = answer(capsys, "queue", "-p", project, "--where", "name=Node 5")
    assert [row["node_id"] for row in one] == ["n005"]
    assert main(["queue", "-p", project, "-n", "3"]) == 0
    assert "reason" in capsys.readouterr().out


def test_queue_is_tuned_once_or_from_now_on(project: str, capsys) -> None:
    main(["train", "-p", project, "--model", "probe"])

    def checks(*options: str) -> int:
        rows = answer(capsys, "queue", "-p", project, "-n", "20", *options)
        return sum(row["inclusion_probability"] is not None for row in rows)

    usual = checks()
    assert checks("--audit-share", "0.5") == 10 > usual
    assert checks() == usual
    assert checks("--audit-share", "0", "--dial", "0.9", "--near-duplicates", "--keep") == 0
    assert checks() == 0


def test_explain_before_a_run_says_what_to_do(project: str, capsys) -> None:
    assert main(["explain", "-p", project, "n001"]) == 1
    assert "Train first" in capsys.readouterr().err


def test_explain_prints_parts_that_add_up(project: str, label_file: Path, capsys) -> None:
    main(["labels", "import", str(label_file), "-p", project])
    main(["train", "-p", project, "--model", "an+", "--set", "epochs=20"])
    found = answer(capsys, "explain", "-p", project, "n001")["explanation"]
    shown = spoken(capsys, "explain", "-p", project, "n001")
    parts = [
        line for line in shown.splitlines() if line.startswith(("base ", "attribute ", "neighbour ", "rest "))
    ]
    values = [float(cell) for line in parts for cell in line.split("  ") if _is_number(cell)]
    told = next(line for line in shown.splitlines() if line.startswith("adds up to"))
    assert len(parts) == len(values) + 1  # the first is the heading of the card's attributes
    assert np.isclose(sum(values), found["score"], atol=1e-3)
    assert np.isclose(float(told.split()[3].rstrip(",")), found["score"], atol=1e-3)
    assert "without edge to" in shown
    assert found["edges"][0]["name"] in shown
    assert "nearest labelled" in shown
    assert found["examples"][0]["node_id"] in shown
    assert answer(capsys, "explain", "-p", project, "n001")["card"]["probability_reason"] in shown


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_group_lists_who_belongs_together_and_labels_it_as_one(project: str, capsys) -> None:
    workspace = Workspace.open(project)
    node = next(str(n) for n in workspace.graph.node_ids if len(workspace.cases.group(str(n)).node_ids) > 4)
    main(["label", workspace.cases.group(node).node_ids[-1], "anomalous", "-p", project])
    proposed = workspace.cases.group(node)
    open_others = len(proposed.node_ids) - 2
    shown = spoken(capsys, "group", "-p", project, node)
    assert proposed.reason in shown
    assert f"the {open_others} others without a verdict of their own count as 1 with --group one" in shown
    assert all(member in shown for member in proposed.node_ids)
    assert answer(capsys, "group", "-p", project, node)["counts_as"]["full"] == open_others
    assert len(workspace.verdicts.current()) == 1  # nothing was recorded
    events = answer(capsys, "group", "-p", project, node, "--label", "a", "--group", "one")["events"]
    assert len({event["group"] for event in events}) == 1
    others = [event["weight"] for event in events if event["node_id"] != node]
    assert len(others) == open_others
    assert np.isclose(sum(others), 1)
    assert {event["source"] for event in events} == {"ring"}
    before = workspace.verdicts.history(node)
    capsys.readouterr()
    same = ["group", "-p", project, node, "--label", "a", "--group", "one"]
    assert main(same) == 1
    assert "Nothing to change" in capsys.readouterr().err
    assert workspace.verdicts.history(node) == before
    again = answer(capsys, *same, "--analyst", "bo")["events"]
    assert [event["node_id"] for event in again] == [node]  # a second opinion
    assert len(workspace.verdicts.undo("bo")) == 1
    raised = answer(capsys, *same[:-1], "full")
    assert [event["weight"] for event in raised["events"]] == [1.0] * open_others
    assert set(raised["kept"]) == {node, proposed.node_ids[-1]}
    assert len(workspace.verdicts.undo()) == open_others
    turned = spoken(capsys, "group", "-p", project, node, "--label", "normal", "--group", "one")
    assert f"Kept the verdict they had: {proposed.node_ids[-1]}." in turned
    assert len(workspace.verdicts.undo()) == len(events)
    assert len(workspace.verdicts.undo()) == len(events)


def test_one_other_node_of_a_group_is_one() -> None:
    assert _counting_lines(1, {"one": 1.0}) == [
        "With --label the other node without a verdict of its own counts as 1 with --group one."
    ]


def test_the_queue_marks_random_checks(project: str, capsys) -> None:
    main(["train", "-p", project, "--model", "probe"])
    rows = answer(capsys, "queue", "-p", project, "-n", "30")
    drawn = [row for row in rows if row["strategy"] == "audit"]
    assert drawn
    lines = spoken(capsys, "queue", "-p", project, "-n", "30").splitlines()
    marked = [line for line in lines if "random check: " in line]
    assert len(marked) == len(drawn)
    assert all(any(row["node_id"] in line for line in marked) for row in drawn)


def test_a_list_for_second_opinions_does_not_tell_the_first_ones(project: str, capsys) -> None:
    main(["train", "-p", project, "--model", "probe"])
    main(["label", "n001", "anomalous", "-p", project, "--analyst", "ana"])
    capsys.readouterr()
    (row,) = answer(capsys, "queue", "-p", project, "--verdict", "others", "--analyst", "bo")
    assert (row["node_id"], row["verdict"]) == ("n001", None)
    assert answer(capsys, "queue", "-p", project, "--verdict", "anomalous")[0]["verdict"] == "anomalous"


def test_score_new_ranks_nodes_that_arrived_later(project: str, files, tmp_path: Path, capsys) -> None:
    main(["train", "-p", project, "--model", "probe"])
    new = pd.read_csv(files[0], dtype={"node_id": str}).iloc[:2].assign(node_id=["new1", "new2"])
    new.to_csv(tmp_path / "new.csv", index=False)
    edges = pd.DataFrame({"source": ["new1", "new1"], "target": ["n001", "n002"]})
    edges.to_csv(tmp_path / "new_edges.csv", index=False)
    rows = answer(
        capsys,
        "score-new",
        str(tmp_path / "new.csv"),
        "--edges",
        str(tmp_path / "new_edges.csv"),
        "-p",
        project,
    )
    assert [row["node_id"] for row in rows] == ["new1", "new2"]
    assert Workspace.open(project).graph.n_nodes == 300


def test_delete_asks_or_is_told(project: str, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["delete", "-p", project]) == 1
    assert "--yes" in capsys.readouterr().err
    assert answer(capsys, "delete", "-p", project, "--yes")["deleted"] is True
    assert answer(capsys, "projects") == []


def test_bench_lists_what_there_is(capsys) -> None:
    assert isinstance(answer(capsys, "bench"), list)
    assert main(["bench", "no-such-benchmark"]) == 1
    assert "no-such-benchmark" in capsys.readouterr().err


def test_a_table_lines_up() -> None:
    text = table(("name", "count"), [("a", 1), ("longer", 1234567), ("none", None)])
    assert text.splitlines() == ["name    count", "a               1", "longer  1,234,567", "none"]
    assert table(("name",), []) == "(none)"


def test_help_of_import_lists_the_formats_of_the_registry(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["import", "--help"])
    shown = capsys.readouterr().out.partition("formats:")[2]
    assert shown.strip() == ", ".join(formats.words())


def test_the_app_has_its_settings_in_whatever_folder_it_is_started() -> None:
    asked = Namespace(port=None, cert=None, key=None, address="127.0.0.1", no_browser=True)
    options = projects._server_options(asked)
    assert {"--theme.dark.primaryColor=#56B4E9", "--client.showErrorLinks=false"} <= set(options)
    assert [o for o in options if o.startswith("--server.headless")] == ["--server.headless=true"]
