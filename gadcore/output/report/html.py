"""The report as one HTML file: no script, no outside address, all text escaped, pictures inline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gadcore.loop.calibrate import band
from gadcore.output import Filters
from gadcore.output.report.drawing import VERDICT_COLOURS, plain
from gadcore.output.report.facts import BARS, MARKS, Facts, gather

if TYPE_CHECKING:
    from gadcore.workspace import Workspace

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 13px/1.45 system-ui, sans-serif; color: #1f2933; background: #fff; margin: 0 auto;
  max-width: 900px; padding: 28px; }
h1 { font-size: 22px; margin: 0 0 2px; } h2 { font-size: 14px; margin: 20px 0 6px; }
p { margin: 4px 0; } .faint { color: #6b7785; }
.figures { display: flex; flex-wrap: wrap; gap: 8px; margin: 14px 0; }
.figures div { border: 1px solid #d5dbe1; border-radius: 6px; padding: 6px 12px; flex: 1 1 auto; }
.figures b { display: block; font-size: 16px; } .figures span { color: #6b7785; font-size: 11px; }
.views { display: flex; gap: 10px; }
.views svg { flex: 1; border: 1px solid #d5dbe1; border-radius: 6px; min-width: 0; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; color: #6b7785; font-weight: 600; font-size: 11px; border-bottom: 1px solid #9aa5b1; }
th, td { padding: 4px 8px 4px 0; vertical-align: top; } td { border-bottom: 1px solid #e8edf2; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.id { overflow-wrap: anywhere; }
.chip { border-radius: 9px; padding: 1px 8px; color: #fff; font-size: 11px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; font-size: 11px; margin: 0; }
dt { color: #6b7785; } dd { margin: 0; overflow-wrap: anywhere; }
@media print { body { padding: 0; font-size: 10px; } @page { size: A4; margin: 14mm; } }
"""


def report_html(workspace: Workspace, *, filters: Filters | None = None, analyst: str | None = None) -> str:
    """The one-page report of the run in use, ready for the case file."""
    return _page(gather(workspace, filters, analyst))


def _page(facts: Facts) -> str:
    figures = "".join(
        f"<div><b>{plain(value)}</b><span>{plain(name)}</span></div>" for name, value in facts.figures
    )
    views = "".join(view.svg() for view in facts.views)
    provenance = "".join(f"<dt>{plain(name)}</dt><dd>{plain(value)}</dd>" for name, value in facts.provenance)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{plain(facts.title)}</title><style>{_STYLE}</style></head><body>
<h1>{plain(facts.title)}</h1><p class="faint">{plain(facts.subtitle)}</p>
<div class="figures">{figures}</div>
<h2>Scores of all nodes</h2>{facts.histogram.svg()}
<p class="faint">{BARS}</p>
{_views_section(views)}
<h2>{plain(facts.heading)}</h2>{_table(facts.rows)}
<p class="faint">{plain(facts.caution)}</p>
<h2>Provenance</h2><dl>{provenance}</dl>
</body></html>
"""


def _views_section(views: str) -> str:
    if not views:
        return ""
    return (
        f'<h2>Around the highest-ranked flagged nodes</h2><div class="views">{views}</div>'
        f'<p class="faint">{MARKS}</p>'
    )


def _table(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "<p>No node passes these filters.</p>"
    head = "".join(
        f"<th>{name}</th>" for name in ("Rank", "Node", "Percentile", "Probability", "Verdict", "Why")
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, rows))}</tbody></table>"


def _row(row: dict[str, Any]) -> str:
    name = f"<br><span class='faint'>{plain(row['name'])}</span>" if row["name"] != row["node_id"] else ""
    verdict = row["verdict"]
    chip = (
        f'<span class="chip" style="background:{VERDICT_COLOURS[verdict]}">{plain(verdict)}</span>'
        if verdict
        else "–"
    )
    cells = [
        f'<td class="number">{row["rank"]:,}</td>',
        f'<td class="id">{plain(row["node_id"])}{name}</td>',
        f'<td class="number">{row["percentile"]:.1f}</td>',
        f'<td class="number">{probability_text(row["probability"])}</td>',
        f"<td>{chip}</td>",
        f"<td>{plain(why(row))}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>"


def probability_text(value: float) -> str:
    """The band of a probability, or a dash where there is none."""
    return "–" if value != value else band(value)


def why(row: dict[str, Any]) -> str:
    """The reasons of a row as one line, with the analyst's note last."""
    reasons = [row[key] for key in ("reason_1", "reason_2", "reason_3") if row[key]]
    note = [f"Note: {row['note']}"] if row["note"] else []
    return " · ".join(reasons + note) or "–"
