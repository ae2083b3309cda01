"""Tables of the store. ``VERSION`` counts up with every change of them; see migrations.py.

projects ──┬── preferences     one JSON value per key
           ├── label_events    append-only; the label set is what they add up to
           ├── receipts        messages of browser tabs and programs that were carried out
           ├── taken           cases that an analyst has before them, and until when
           ├── graph_versions  the graph as it was imported, and after every update
           ├── arrivals        files that a watched folder has brought, by what is in them
           ├── watchlist       nodes whose rise an analyst wants to hear of
           ├── assigned        cases that a lead has given to an analyst
           ├── runs ─┬─ progress    what a run was trained on and gave; its reported epochs
           │         └─ offers      cases that the queue asks for, and how each was chosen
           └── jobs            every long piece of work; that of a run has its id, an import has no project
trail                          who did what, as a chain of hashes; entries outlive their project
users ────────── logins        who may come in; the logins that hold now
failures                       wrong passwords, by whom and from where
tokens                         programs that may come in
webhooks ─────── deliveries    addresses that are told of events; what was sent there, and how it went
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

VERSION = 10

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
    sa.Column("version", sa.Integer, nullable=False, server_default="1"),  # of its graph, the present one
)

graph_versions = sa.Table(
    "graph_versions",
    metadata,
    _part_of("project"),
    sa.Column("number", sa.Integer, nullable=False),  # 1 is the import
    sa.Column("parent", sa.Integer),  # the version that it was made of; null: of none
    sa.Column("created_at", UtcTime, nullable=False),
    sa.Column("by", sa.String(200), nullable=False),
    sa.Column("way", sa.String(12), nullable=False),  # import, append, replace
    sa.Column("as_of", sa.String(40), nullable=False),  # the day that the data stand for; "" unknown
    sa.Column("fingerprint", sa.String(64), nullable=False),
    *(sa.Column(name, sa.Integer, nullable=False) for name in ("n_nodes", "n_edges", "n_features")),
    sa.Column("has_truth", sa.Boolean, nullable=False),
    sa.Column("given", sa.JSON, nullable=False),  # the files and the mapping that it was made with
    sa.Column("changes", sa.JSON, nullable=False),  # what it changed, as it was shown before it was stored
    sa.PrimaryKeyConstraint("project_id", "number"),
)

# The row of a graph as it was imported, beside what it says of the graph.
FIRST_VERSION: dict[str, Any] = {
    "number": 1, "parent": None, "way": "import", "as_of": "", "given": {}, "changes": {},
}  # fmt: skip

arrivals = sa.Table(
    "arrivals",
    metadata,
    _part_of("project"),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("version", sa.Integer),  # that it made; null: it could not be taken
    sa.Column("reason", sa.Text, nullable=False),  # why it could not; "" if it was taken
    sa.PrimaryKeyConstraint("project_id", "sha256"),
)

watchlist = sa.Table(
    "watchlist",
    metadata,
    _part_of("project"),
    sa.Column("analyst", sa.String(200), nullable=False),
    sa.Column("node_id", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("rank", sa.Integer),  # when it was put there, or when its rise was last seen; null: unranked
    sa.PrimaryKeyConstraint("project_id", "analyst", "node_id"),
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
    sa.Column("kind", sa.String(8), nullable=False),  # label, undo, redo, note, reason
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
    sa.Column("reason", sa.Text, nullable=False, server_default=""),  # for a verdict
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
    sa.Column("seed", sa.BigInteger, nullable=False),
    # Whether it takes the place of the run in use.
    sa.Column("for_use", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("device", sa.String(20), nullable=False),
    sa.Column("graph_fingerprint", sa.String(64), nullable=False),
    sa.Column("version", sa.Integer, nullable=False, server_default="1"),  # of the graph
    sa.Column("label_hash", sa.String(64), nullable=False),
    *(sa.Column(name, sa.Integer, nullable=False) for name in ("normal", "anomalous", "unsure")),
    sa.Column("basis", sa.String(40), nullable=False, default=""),
    sa.Column("versions", sa.JSON, nullable=False),
    sa.Column("ended_after", sa.Integer),  # id of the last label event when it ended; a clock may be set back
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
    sa.Column("client", sa.String(80), primary_key=True),  # a browser tab, or the key of a program
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),  # its number of the message
    sa.Column("refused", sa.Boolean, nullable=False),  # what it asked for could not be done
    sa.Column("answer", sa.JSON),  # what a program was told, to be told again
)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("turn", sa.Integer, nullable=False, server_default="0"),  # rises: the order of asking
    _part_of("project", nullable=True),
    sa.Column("kind", sa.String(12), nullable=False),  # train, carry, layout, score, reading, deliver …
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
    sa.Column("message", sa.Text, nullable=False, default=""),  # why it failed, or what is wrong with it
    sa.Column("result", sa.JSON),
    sa.Index("jobs_by_status", "status"),
    sa.Index("jobs_of_project", "project_id", "kind"),
)

trail = sa.Table(
    "trail",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("who", sa.String(200), nullable=False),
    sa.Column("action", sa.String(40), nullable=False),
    sa.Column("project", sa.String(80), nullable=False),
    sa.Column("details", sa.JSON, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)

# By node, not by offer: two orders may offer the same node.
taken = sa.Table(
    "taken",
    metadata,
    _part_of("project"),
    sa.Column("node_id", sa.Text, nullable=False),
    sa.Column("analyst", sa.String(200), nullable=False),
    sa.Column("until", UtcTime, nullable=False),
    sa.PrimaryKeyConstraint("project_id", "node_id"),
)

# Ids rise and are never given twice: their number and the last one tell whether anything has changed.
assigned = sa.Table(
    "assigned",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    _part_of("project"),
    sa.Column("node_id", sa.Text, nullable=False),
    sa.Column("analyst", sa.String(200), nullable=False),
    sa.Column("by", sa.String(200), nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.UniqueConstraint("project_id", "node_id"),
    sqlite_autoincrement=True,
)

users = sa.Table(
    "users",
    metadata,
    sa.Column("name", sa.String(60), primary_key=True),
    sa.Column("role", sa.String(12), nullable=False),
    sa.Column("password", sa.String(200), nullable=False),  # its argon2 hash
    sa.Column("created_at", UtcTime, nullable=False),
)

logins = sa.Table(
    "logins",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),  # the hash of the secret in the browser's cookie
    sa.Column("name", sa.String(60), sa.ForeignKey("users.name", ondelete="CASCADE"), nullable=False),
    sa.Column("began_at", UtcTime, nullable=False),
    sa.Column("seen_at", UtcTime, nullable=False),  # when its person last did something
)

failures = sa.Table(
    "failures",
    metadata,
    sa.Column("key", sa.String(200), primary_key=True),  # a name, an address, or a name at an address
    sa.Column("times", sa.Integer, nullable=False),
    sa.Column("last_at", UtcTime, nullable=False),
)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("name", sa.String(60), primary_key=True),
    sa.Column("role", sa.String(12), nullable=False),
    sa.Column("secret", sa.String(64), nullable=False, unique=True),  # its SHA-256
    sa.Column("created_at", UtcTime, nullable=False),
    sa.Column("expires_at", UtcTime),  # null: never
    sa.Column("used_at", UtcTime),
)

webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    _part_of("project"),
    sa.Column("event", sa.String(20), nullable=False),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("secret", sa.String(80), nullable=False),  # as it is: what is sent is signed with it
    sa.Column("private", sa.Boolean, nullable=False),  # the address may be one of this network
    sa.Column("top", sa.Integer),  # of a watched node: the rank that it has to reach
    sa.Column("created_at", UtcTime, nullable=False),
    sqlite_autoincrement=True,
)

deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column(
        "webhook_id", sa.Integer, sa.ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False, index=True
    ),
    sa.Column("body", sa.JSON, nullable=False),
    sa.Column("status", sa.String(12), nullable=False),  # waiting, delivered, given up
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("created_at", UtcTime, nullable=False),
    sa.Column("due_at", UtcTime, nullable=False),  # of the next attempt
    sa.Column("ended_at", UtcTime),
    sa.Column("answer", sa.Text, nullable=False),  # how the last attempt went
    sa.Index("deliveries_by_status", "status", "due_at"),
    sqlite_autoincrement=True,
)
