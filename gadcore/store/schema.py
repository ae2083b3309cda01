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

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    true,
)

VERSION = 5

metadata = MetaData()


class UtcTime(TypeDecorator[datetime]):
    """Aware UTC times in Python, naive UTC in the database (SQLite keeps no zone)."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


def now() -> datetime:
    return datetime.now(UTC)


def _project() -> Column[Any]:
    return Column("project_id", String(80), ForeignKey("projects.id", ondelete="CASCADE"), nullable=False)


schema_version = Table("schema_version", metadata, Column("version", Integer, nullable=False))

projects = Table(
    "projects",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("owner", String(200), nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("n_nodes", Integer, nullable=False),
    Column("n_edges", Integer, nullable=False),
    Column("n_features", Integer, nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("has_truth", Boolean, nullable=False),
    Column("run_in_use", String(40)),
    # Raised with every event: its row lock makes ids of a project's events appear in order.
    Column("n_events", Integer, nullable=False, default=0),
)

preferences = Table(
    "preferences",
    metadata,
    _project(),
    Column("key", String(80), nullable=False),
    Column("value", JSON),
    UniqueConstraint("project_id", "key"),
)

label_events = Table(
    "label_events",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    _project(),
    Column("kind", String(8), nullable=False),  # label, undo, redo, note
    Column("event_group", String(40), nullable=False),
    Column("node_id", Text, nullable=False),  # "" for undo and redo, which name a group
    Column("verdict", String(12)),
    Column("analyst", String(200), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("source", String(40), nullable=False),
    Column("note", Text, nullable=False, default=""),
    Column("strategy", String(40), nullable=False, default=""),
    Column("inclusion_probability", Float),
    Column("drawn_after", Integer),  # id of the last event before the draw
    Column("weight", Float, nullable=False, default=1.0),
    Column("offer_id", Integer),  # the offer that the verdict answers
    Index("label_events_of_project", "project_id", "id"),
    sqlite_autoincrement=True,
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(40), primary_key=True),
    _project(),
    Column("number", Integer, nullable=False),
    Column("model", String(40), nullable=False),
    Column("params", JSON, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("for_use", Boolean, nullable=False, server_default=true()),  # takes the place of the run in use
    Column("device", String(20), nullable=False),
    Column("graph_fingerprint", String(64), nullable=False),
    Column("label_hash", String(64), nullable=False),
    Column("normal", Integer, nullable=False),
    Column("anomalous", Integer, nullable=False),
    Column("unsure", Integer, nullable=False),
    Column("basis", String(40), nullable=False, default=""),
    Column("versions", JSON, nullable=False),
    UniqueConstraint("project_id", "number"),
)

progress = Table(
    "progress",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run_id", String(40), ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("epoch", Integer, nullable=False),
    Column("epochs", Integer, nullable=False),
    Column("loss", Float),
    Column("auc", Float),
    Column("stage", String(60), nullable=False),
)

offers = Table(
    "offers",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    _project(),
    Column("run_id", String(40), ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("choice", Text, nullable=False),  # what decides the order: ``Choice.key``
    Column("place", Integer),  # in the order that is kept for the choice; null: outside or no longer in it
    Column("planned_after", Integer),  # id of the last label event when the order was worked out
    Column("node_id", Text, nullable=False),
    Column("strategy", String(40), nullable=False),
    Column("reason", Text, nullable=False),
    Column("probability", Float),  # of one random draw; null when chosen by the strategy
    Column("drawn_after", Integer),  # of a random draw: id of the last label event before it
    Column("shown_at", UtcTime),  # null: nobody has seen it yet
    Index("offers_of_run", "run_id", "choice"),
    Index("offers_of_node", "run_id", "node_id"),
    sqlite_autoincrement=True,
)

receipts = Table(
    "receipts",
    metadata,
    _project(),
    Column("client", String(80), primary_key=True),  # a browser tab
    Column("seq", Integer, primary_key=True, autoincrement=False),  # its number of the message
    Column("refused", Boolean, nullable=False),  # what it asked for could not be done
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("project_id", String(80), ForeignKey("projects.id", ondelete="CASCADE")),
    Column("kind", String(12), nullable=False),  # train, layout, score, reading, practice
    Column("payload", JSON, nullable=False),  # what is asked for
    Column("status", String(12), nullable=False),  # queued, running, done, failed, cancelled
    Column("cancel", Boolean, nullable=False, default=False),  # a running job is asked to stop
    Column("attempts", Integer, nullable=False),
    Column("host", String(200)),
    Column("created_at", UtcTime, nullable=False),
    Column("started_at", UtcTime),
    Column("heartbeat_at", UtcTime),
    Column("ended_at", UtcTime),
    Column("progress", JSON, nullable=False),  # how far it has come, in the words of its kind
    Column("message", Text, nullable=False, default=""),  # why it failed
    Column("result", JSON),
    Index("jobs_by_status", "status"),
    Index("jobs_of_project", "project_id", "kind"),
)
