"""links, paths."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gadcore.cli.parser import Commands
from gadcore.cli.show import count, number, out, table

if TYPE_CHECKING:
    from gadcore.records.links import Activity, LinkColumn, LinkRow, Paths, Route
    from gadcore.workspace import Workspace


def add_commands(commands: Commands) -> None:
    add = commands.add_for_project
    links = add("links", show_links, "the links of a node: who, when, how much", "links -p demo A10434 -n 20")
    links.add_argument("node", metavar="NODE")
    links.add_argument(
        "--with", dest="counterparty", metavar="OTHER", help="only with this node: an id, or a part of a name"
    )
    links.add_argument("--kind", help="only of this kind")
    links.add_argument("--direction", choices=("in", "out"), help="only what comes in, or goes out")
    links.add_argument(
        "--since", metavar="TIME", help="2025, 2025-03, 2025-03-04, '2025-03-04 14:05'; or a step"
    )
    links.add_argument("--until", metavar="TIME", help="up to the end of what is named")
    links.add_argument("--least", type=number, metavar="AMOUNT")
    links.add_argument("--most", type=number, metavar="AMOUNT")
    links.add_argument(
        "--sort", metavar="COLUMN", help="time, direction, counterparty, amount, kind or another column"
    )
    links.add_argument("--ascending", action="store_true", default=None, help="oldest or smallest first")
    links.add_argument("-n", type=count, default=20, help="rows (default: 20)")
    links.add_argument("--out", metavar="FILE", help="write all that are found to a CSV file")

    paths = add("paths", show_paths, "how two nodes are connected", "paths -p demo A10434 A10838")
    paths.add_argument("node", metavar="A")
    paths.add_argument("other", metavar="B")


def show_links(given: Namespace, project: Workspace) -> None:
    """A table of links, or a file of them."""
    from gadcore.output.files import write_file
    from gadcore.records.links import LinkFilter

    names = ("direction", "counterparty", "kind", "since", "until", "least", "most")
    where = LinkFilter(**{name: getattr(given, name) for name in names})
    descending = None if given.ascending is None else False
    found = project.cases.activity(given.node, where, sort=given.sort, descending=descending, n=given.n)
    if given.out:
        table = project.cases.links(given.node, where)
        write_file(Path(given.out), str(table.to_csv(index=False)).encode())
        project.trail.exported(Path(given.out).name, rows=len(table))
    written = [f"{found.found:,} {found.words} written to {given.out}."] if given.out else []
    out(given, found, found.totals.text + ".", *_main_lines(found), "", _link_table(found), *written)


def _main_lines(found: Activity) -> list[str]:
    if not found.counterparties:
        return []
    return [f"Main counterparties, by {found.by}:"] + [
        f"· {_who(c.name, c.node_id)}: {c.text}" for c in found.counterparties
    ]


def _link_table(found: Activity) -> str:
    cells = [_cells(found, row) for row in found.rows]
    head = [title for column in found.columns for title in _titles(column)]
    more = found.found - found.offset - len(found.rows)
    return f"{table(head, cells)}\n… and {more:,} more" if more else table(head, cells)


def _titles(column: LinkColumn) -> list[str]:
    return ["node", "name"] if column.key == "counterparty" else [column.title]


def _cells(found: Activity, row: LinkRow) -> list[str]:
    cells, other = {"time": [row.time], "direction": [row.direction], "kind": [row.kind]}, iter(row.other)
    cells["amount"] = ["" if row.amount is None else f"{row.amount:,.2f}"]
    cells["counterparty"] = [row.node_id, row.name if row.name != row.node_id else ""]
    return [cell for column in found.columns for cell in cells.get(column.key) or [next(other)]]


def _who(name: str, node_id: str) -> str:
    return node_id if name == node_id else f"{name} ({node_id})"


def show_paths(given: Namespace, project: Workspace) -> None:
    """Ways between two nodes, and what they have in common."""
    found = project.cases.paths(given.node, given.other)
    ways = [line for route in found.routes for line in _route_lines(route)]
    timed = [line for route in found.in_time for line in _route_lines(route)]
    if timed:
        timed = ["", "In the order of time:", *timed]
    out(given, found, *ways, *timed, *_common_lines(found), *found.remarks)


def _route_lines(route: Route) -> list[str]:
    steps = [
        f"  {_who(s.source_name, s.source)} – {_who(s.target_name, s.target)}: {s.text}" for s in route.steps
    ]
    return [f"{route.title}:", *steps]


def _common_lines(found: Paths) -> list[str]:
    if not found.common:
        return []
    lines = [
        f"· {_who(node.name, node.node_id)}, {node.degree:,} neighbours. {node.text}" for node in found.common
    ]
    more = found.common_total - len(found.common)
    return [
        "",
        f"Common neighbours ({found.common_total:,}):",
        *lines,
        *([f"… and {more:,} more"] if more else []),
    ]
