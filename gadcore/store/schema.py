"""Tables of the store. ``VERSION`` counts up with every change of them; see migrations.py.

projects ──┬── preferences     one JSON value per key
           ├── label_events    append-only; the label set is what they add up to
           ├── receipts        messages of browser tabs that were carried out
           ├── runs ─┬─ progress    what a run was trained on and gave; its reported epochs
           │         └─ offers      cases that the queue asks for, and how each was chosen
           └── jobs            every long piece of work; that of a run has its id, an import has no project
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

VERSION = 5

metadata = sa.MetaData()


class UtcTime(sa.TypeDecorator[datetime]):
    """Aware UTC times in Python, naive UTC in the database (SQLite keeps no zone)."""

    impl = sa.DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


def now() -> datetime:
    return datetime.now(UTC)


def _part_of(table: str, *, nullable: bool = False, index: bool = False) -> sa.Column[Any]:
    """The reference to a project or a run; a row goes with what it refers to."""
    parent = sa.ForeignKey(f"{table}s.id", ondelete="CASCADE")
    size = {"project": 80, "run": 40}[table]
    return sa.Column(f"{table}_id", sa.String(size), parent, nullable=nullable, index=index or None)


schema_version = sa.Table("schema_version", metadata, sa.Column("version", sa.Integer, nullable=False))

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("id", sa.String(80), primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, unique=True),
    sa.Column("owner", sa.String(200), nullable=False),
    sa.Column("created_at", UtcTime, nullable=False),
    *(sa.Column(name, sa.Integer, nullable=False) for name in ("n_nodes", "n_edges", "n_features")),
    sa.Column("fingerprint", sa.String(64), nullable=False),
    sa.Column("has_truth", sa.Boolean, nullable=False),
    sa.Column("run_in_use", sa.String(40)),
    # Raised with every event: its row lock makes ids of a project's events appear in order.
    sa.Column("n_events", sa.Integer, nullable=False, default=0),
)

preferences = sa.Table(
    "preferences",
    metadata,
    _part_of("project"),
    sa.Column("key", sa.String(80), nullable=False),
    sa.Column("value", sa.JSON),
    sa.UniqueConstraint("project_id", "key"),
)

label_events = sa.Table(
    "label_events",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    _part_of("project"),
    sa.Column("kind", sa.String(8), nullable=False),  # label, undo, redo, note
    sa.Column("event_group", sa.String(40), nullable=False),
    sa.Column("node_id", sa.Text, nullable=False),  # "" for undo and redo, which name a group
    sa.Column("verdict", sa.String(12)),
    sa.Column("analyst", sa.String(200), nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("source", sa.String(40), nullable=False),
    sa.Column("note", sa.Text, nullable=False, default=""),
    sa.Column("strategy", sa.String(40), nullable=False, default=""),
    sa.Column("inclusion_probability", sa.Float),
    sa.Column("drawn_after", sa.Integer),  # id of the last event before the draw
    sa.Column("weight", sa.Float, nullable=False, default=1.0),
    sa.Column("offer_id", sa.Integer),  # the offer that the verdict answers
    sa.Index("label_events_of_project", "project_id", "id"),
    sqlite_autoincrement=True,
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    _part_of("project"),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("model", sa.String(40), nullable=False),
    sa.Column("params", sa.JSON, nullable=False),
    sa.Column("seed", sa.Integer, nullable=False),
    # Whether it takes the place of the run in use.
    sa.Column("for_use", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("device", sa.String(20), nullable=False),
    sa.Column("graph_fingerprint", sa.String(64), nullable=False),
    sa.Column("label_hash", sa.String(64), nullable=False),
    *(sa.Column(name, sa.Integer, nullable=False) for name in ("normal", "anomalous", "unsure")),
    sa.Column("basis", sa.String(40), nullable=False, default=""),
    sa.Column("versions", sa.JSON, nullable=False),
    sa.UniqueConstraint("project_id", "number"),
)

progress = sa.Table(
    "progress",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    _part_of("run", index=True),
    sa.Column("epoch", sa.Integer, nullable=False),
    sa.Column("epochs", sa.Integer, nullable=False),
    sa.Column("loss", sa.Float),
    sa.Column("auc", sa.Float),
    sa.Column("stage", sa.String(60), nullable=False),
)

offers = sa.Table(
    "offers",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    _part_of("project"),
    _part_of("run"),
    sa.Column("choice", sa.Text, nullable=False),  # what decides the order: ``Choice.key``
    sa.Column("place", sa.Integer),  # in the order kept for the choice; null: outside or no longer in it
    sa.Column("planned_after", sa.Integer),  # id of the last label event when the order was worked out
    sa.Column("node_id", sa.Text, nullable=False),
    sa.Column("strategy", sa.String(40), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("probability", sa.Float),  # of one random draw; null when chosen by the strategy
    sa.Column("drawn_after", sa.Integer),  # of a random draw: id of the last label event before it
    sa.Column("shown_at", UtcTime),  # null: nobody has seen it yet
    sa.Index("offers_of_run", "run_id", "choice"),
    sa.Index("offers_of_node", "run_id", "node_id"),
    sqlite_autoincrement=True,
)

receipts = sa.Table(
    "receipts",
    metadata,
    _part_of("project"),
    sa.Column("client", sa.String(80), primary_key=True),  # a browser tab
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),  # its number of the message
    sa.Column("refused", sa.Boolean, nullable=False),  # what it asked for could not be done
)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    _part_of("project", nullable=True),
    sa.Column("kind", sa.String(12), nullable=False),  # train, layout, score, reading, practice
    sa.Column("payload", sa.JSON, nullable=False),  # what is asked for
    sa.Column("status", sa.String(12), nullable=False),  # queued, running, done, failed, cancelled
    sa.Column("cancel", sa.Boolean, nullable=False, default=False),  # a running job is asked to stop
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("host", sa.String(200)),
    sa.Column("created_at", UtcTime, nullable=False),
    sa.Column("started_at", UtcTime),
    sa.Column("heartbeat_at", UtcTime),
    sa.Column("ended_at", UtcTime),
    sa.Column("progress", sa.JSON, nullable=False),  # how far it has come, in the words of its kind
    sa.Column("message", sa.Text, nullable=False, default=""),  # why it failed
    sa.Column("result", sa.JSON),
    sa.Index("jobs_by_status", "status"),
    sa.Index("jobs_of_project", "project_id", "kind"),
)
