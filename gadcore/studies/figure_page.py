"""docs/paper_figures.md and docs/figures, drawn from the result files of the figures study alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from gadcore.studies.embeddings import METHODS as EMBEDDED
from gadcore.studies.embeddings import PARTS
from gadcore.studies.harness import NAMED, Row, RowsOf
from gadcore.studies.markdown import NONE, span, table
from gadcore.studies.panels import Curve, Dots, curve_panels, scatter_panels
from gadcore.studies.published import EPOCHS, GRAPHS, LONGER, TRAINING_SECONDS

Sweep = dict[tuple[str, str], dict[float, dict[int, float]]]  # (graph, method) -> value -> seed -> AUC in %

# Okabe and Ito's colours, told apart by colour-blind readers; full lines learn from anomalous labels.
STYLES = {
    "an": ("#0072B2", ""), "doc-an": ("#D55E00", ""), "dsad": ("#CC79A7", ""), "imverde": ("#000000", ""),
    "deepwalk": ("#009E73", ""), "n": ("#56B4E9", "5 3"), "doc-n": ("#E69F00", "5 3"),
    "dominant": ("#7F7F7F", "5 3"),
}  # fmt: skip
CLASSES = (  # label, part, truth, colour: those of the paper, later ones on top
    ("normal, test", "test", 0, "#56B4E9"),
    ("anomalous, test", "test", 1, "#E69F00"),
    ("normal, training", "train", 0, "#0072B2"),
    ("anomalous, training", "train", 1, "#D50000"),
)
NAMES = {"lambda_": "λ", "k": "K"}
FILES = {"lambda_": "lambda.svg", "k": "k.svg"}


def pages(rows: RowsOf) -> dict[str, str]:
    """The page and its pictures; what no file holds yet is said to be missing."""
    swept, maps = rows("figures"), rows("embeddings")
    sweeps = {name: found for name in NAMES if (found := sweep(swept, name))}
    texts = {f"figures/{FILES[name]}": sweep_picture(found, name) for name, found in sweeps.items()}
    if maps:
        texts["figures/embeddings.svg"] = embedding_picture(maps)
    return {**texts, "paper_figures.md": render(swept, maps, rows("times"))}


def render(swept: Sequence[Row], maps: Sequence[Row], times: Sequence[Row]) -> str:
    """The whole page in Markdown."""
    parts = [_HEAD, _embedding_section(maps)]
    for name, text in (("lambda_", _lambda_words), ("k", _width_words)):
        found = sweep(swept, name)
        parts.append(f"## AUC against {NAMES[name]}\n")
        if not found:
            parts.append(_MISSING)
            continue
        picture = f"![AUC against {NAMES[name]}](figures/{FILES[name]})\n"
        parts += [picture, text(found) + _limits(swept, name), _table(found, name)]
    return "\n".join([*parts, _time_section(times)])


def sweep(rows: Sequence[Row], name: str) -> Sweep:
    """AUCs in per cent of the rows that vary this parameter and no other."""
    found: Sweep = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        params = row.get("params") or {}
        if list(params) == [name]:
            found[row["graph"], row["method"]][float(params[name])][row["seed"]] = 100 * row["auc"]
    return {key: dict(values) for key, values in found.items()}


def sweep_picture(found: Sweep, name: str) -> str:
    """One panel per graph, one line per method."""
    panels = []
    for graph in _graphs(found):
        lines = []
        for method, (colour, dash) in STYLES.items():
            if (graph, method) in found:
                values = sorted(found[graph, method].items())
                means = [_mean(seeds) for _, seeds in values]
                lines.append(Curve(method, colour, [at for at, _ in values], means, dash))
        panels.append((graph, lines))
    title = f"Test AUC against {NAMES[name]}, 2.5 % labelled"
    return curve_panels(panels, title=title, x_label=NAMES[name], y_label="AUC (%)")


def embedding_picture(maps: Sequence[Row]) -> str:
    """The t-SNE maps in the order and colours of the paper; validation nodes are left out, as there."""
    known = {row["method"]: row for row in maps}
    panels = [
        (f"{method}, AUC {100 * known[method]['auc']:.1f}", [_dots(known[method], *each) for each in CLASSES])
        for method in EMBEDDED
        if method in known
    ]
    return scatter_panels(panels, title="t-SNE of the embeddings of Cora, 10 % labelled")


def _dots(row: Row, label: str, part: str, truth: int, colour: str) -> Dots:
    mine = (np.array(row["part"]) == PARTS.index(part)) & (np.array(row["truth"]) == truth)
    size = 4.0 if part == "train" else 2.4
    return Dots(label, colour, np.array(row["x"])[mine], np.array(row["y"])[mine], size)


def _embedding_section(maps: Sequence[Row]) -> str:
    if not maps:
        return _EMBEDDING_TITLE + _MISSING
    known = {row["method"]: row for row in maps}
    words = _EMBEDDING_WORDS.format(chance=100 * maps[0]["chance"])
    lines = [
        (m, *(f"{100 * known[m][figure]:.1f}" for figure in ("auc", "separation")))
        for m in EMBEDDED
        if m in known
    ]
    head = ("method", "test AUC", "anomalous neighbours of an anomaly")
    picture = "![t-SNE of the embeddings](figures/embeddings.svg)"
    return table(head, lines, f"{_EMBEDDING_TITLE}{picture}\n\n{words}\n")


def _table(found: Sweep, name: str) -> str:
    values = sorted({value for cells in found.values() for value in cells})
    lines = []
    for graph in _graphs(found):
        for method in (m for m in STYLES if (graph, m) in found):
            cells = found[graph, method]
            best = max(cells, key=lambda value: _mean(cells[value]))
            shown = [_cell(cells.get(value), value == best) for value in values]
            lines.append([graph, method, *shown, span(map(len, cells.values()))])
    return table(["graph", "method", *(f"{NAMES[name]} = {value:g}" for value in values), "splits"], lines)


def _limits(rows: Sequence[Row], name: str) -> str:
    """Which fits on the graphs of the longer limit of epochs ran with the shorter one; empty if none."""
    varied = [row for row in rows if list(row.get("params") or {}) == [name] and row["graph"] in LONGER]
    limits = [(row["graph"], row.get("settings", {}).get("epochs", EPOCHS)) for row in varied]
    short = [graph for graph, epochs in limits if epochs == EPOCHS]
    if not short:
        return ""
    long = sum(epochs == LONGER[graph] for graph, epochs in limits)
    graphs = " and ".join(graph.capitalize() for graph in LONGER if graph in short)
    return f"On {graphs} {len(short)} of {len(short) + long} fits ran with the limit of {EPOCHS} epochs.\n"


def _lambda_words(found: Sweep) -> str:
    ahead, total = _ahead(found, "an", "doc-an")
    best = [
        f"{graph} {max(cells, key=lambda value: _mean(cells[value])):g}"
        for graph in _graphs(found)
        if (cells := found.get((graph, "an")))
    ]
    return (
        f"`an` is ahead of `doc-an` in {ahead} of {total} cells (the paper: in almost all λ). The best "
        f"λ of `an`: {', '.join(best)} (the paper: large on Photo, small elsewhere). Bold: the best of a "
        f"line.{_not_yet(found)}\n"
    )


def _width_words(found: Sweep) -> str:
    told = []
    for one, other in (("an", "doc-an"), ("n", "doc-n")):
        ahead, total = _ahead(found, one, other)
        told.append(f"`{one}` is ahead of `{other}` in {ahead} of {total} cells")
    everywhere = {m for m in STYLES if all((graph, m) in found for graph in _graphs(found))}
    partly = [m for m in STYLES if m not in everywhere and any(method == m for _, method in found)]
    rest = f" On some of these graphs only: {', '.join(f'`{m}`' for m in partly)}." if partly else ""
    lacking = [f"`{m}`" for m in STYLES if all(method != m for _, method in found)]
    return f"{'; '.join(told)}. Bold: the best K of a line.{rest}{_not_yet(found, lacking)}\n"


def _not_yet(found: Sweep, methods: Sequence[str] = ()) -> str:
    """What the files lack, in words."""
    lacking = [*(graph for graph in GRAPHS if graph not in _graphs(found)), *methods]
    return f" Not measured yet: {', '.join(lacking)}." if lacking else ""


def _ahead(found: Sweep, one: str, other: str) -> tuple[int, int]:
    """In how many cells the mean of ``one`` is higher, over the splits that both have."""
    gaps = []
    for graph in _graphs(found):
        mine, theirs = found.get((graph, one), {}), found.get((graph, other), {})
        for value in set(mine) & set(theirs):
            if seeds := set(mine[value]) & set(theirs[value]):
                gaps.append(float(np.mean([mine[value][s] - theirs[value][s] for s in seeds])))
    return sum(gap > 0 for gap in gaps), len(gaps)


def _time_section(times: Sequence[Row]) -> str:
    if not times:
        return _TIME_TITLE + _MISSING
    lines = []
    for method, published in TRAINING_SECONDS.items():
        if seconds := [row["cpu_seconds"] for row in times if row["method"] == method]:
            figures = (f"{figure(seconds):.2f}" for figure in (np.median, min, max))
            lines.append((method, *figures, len(seconds), published))
    head = ("method", "median s", "fastest", "slowest", "repeats", "paper s")
    return table(head, lines, f"{_TIME_TITLE}{_TIME_WORDS}\n")


def _graphs(found: Sweep) -> list[str]:
    return [graph for graph in GRAPHS if any(key[0] == graph for key in found)]


def _cell(seeds: dict[int, float] | None, best: bool) -> str:
    if not seeds:
        return NONE
    return f"**{_mean(seeds):.1f}**" if best else f"{_mean(seeds):.1f}"


def _mean(seeds: dict[int, float]) -> float:
    return float(np.mean(list(seeds.values())))


_MISSING = "Not measured yet.\n"
_EMBEDDING_TITLE = "## Embeddings of Cora\n\n"
_TIME_TITLE = "## Training time of 500 epochs\n\n"
_HEAD = f"""# The paper's figures

Drawn by `ringfence experiments figures --render` from `{NAMED}/figures.jsonl`,
`embeddings.jsonl` and `times.jsonl` alone; without `--render` it measures what these files lack. Test AUC in
per cent, purely random splits, 10 % of the nodes for validation; everything but the varied parameter is the
default. Of these figures only the paper's words and its times are at hand to compare with.
"""
_EMBEDDING_WORDS = """10 % labelled, one split. Each embedding is laid out by t-SNE from its own principal
axes; no axis of a map means anything. The table needs no map: of the ten nearest test nodes of an anomalous
test node, in the embedding itself, so many are anomalous on average, in per cent. By chance {chance:.1f}.
"""
_TIME_WORDS = """Cora, 10 % labelled, K = 32, one λ (1), no early stopping; CPU seconds of one thread here,
seconds on a server with a GeForce GTX 1080 in the paper. `n` runs its pre-training on top of the 500 epochs.
All are evaluated on the validation labels every fifth epoch. Repeats in turns.
"""
