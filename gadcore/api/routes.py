"""The one table of calls. A new call is one line here, with its form and what it answers."""

from __future__ import annotations

from gadcore.api import case_calls as cases
from gadcore.api import project_calls as projects
from gadcore.api import run_calls as runs
from gadcore.api import update_calls as updates
from gadcore.api import verdict_calls as verdicts
from gadcore.api.endpoint import Endpoint, Page
from gadcore.api.forms import Empty, Paging
from gadcore.graph.labels import LabelEvent
from gadcore.records import Explanation, NodeCard, ProjectInfo, QueueRow, RunInfo
from gadcore.records.links import Activity
from gadcore.records.versions import VersionInfo

ONE = "/projects/{project}"

# fmt: off
CALLS: tuple[Endpoint, ...] = (
    Endpoint("GET", "/health", "projects.all", projects.health,
             "That the server answers, and who it takes you for", projects.Health),
    Endpoint("GET", "/projects", "projects.all", projects.projects,
             "Every project, newest first", Page[ProjectInfo], query=Paging, tool="projects"),
    Endpoint("POST", "/projects", "projects.create", projects.create,
             "Make a project of files that are read; its first ranking begins", ProjectInfo,
             body=projects.NewProject, status=201),
    Endpoint("GET", ONE, "projects.open", projects.project,
             "A project: sizes, labels, last run", ProjectInfo),
    Endpoint("POST", "/uploads", "projects.create", projects.upload,
             "Hand in a file as it is; several go as one .zip", projects.Upload,
             query=projects.UploadQuery, takes_file=True, status=201),
    Endpoint("POST", "/imports", "projects.create", projects.start_import,
             "Have files read, in a process of their own; ask for the state until it is done",
             projects.ImportState, body=projects.NewImport, status=202),
    Endpoint("GET", "/imports/{import}", "projects.create", projects.import_state,
             "How the reading of files stands; once it is done, its report", projects.ImportState),
    Endpoint("GET", f"{ONE}/versions", "data.versions", updates.versions,
             "The versions of the project's graph, the import first", Page[VersionInfo], query=Paging),
    Endpoint("POST", f"{ONE}/updates", "data.store", updates.start,
             "Have an upload read as new data of the project; ask for the state until it is done",
             updates.UpdateState, body=updates.NewUpdate, status=202),
    Endpoint("GET", f"{ONE}/updates/{{update}}", "data.store", updates.state,
             "How the reading of new data stands; once it is done, what it changes", updates.UpdateState),
    Endpoint("POST", f"{ONE}/versions", "data.store", updates.store,
             "Store new data as a version; the model in use scores it", VersionInfo,
             body=updates.NewVersion, status=201),
    Endpoint("GET", f"{ONE}/queue", "cases.queue", cases.queue,
             "The next cases to look at, each with a reason", Page[QueueRow],
             query=cases.QueueQuery, tool="queue"),
    Endpoint("GET", f"{ONE}/card", "cases.card", cases.card,
             "Everything known of a node: attributes against its peers, verdicts, nodes like it", NodeCard,
             query=cases.NodeQuery, tool="card"),
    Endpoint("GET", f"{ONE}/why", "insight.explain", cases.why,
             "Why a node stands where it stands: reasons, and parts that add up to its score", Explanation,
             query=cases.NodeQuery, tool="why"),
    Endpoint("GET", f"{ONE}/links", "cases.activity", cases.links,
             "The links of a node: who, when, how much; added up, and over time", Activity,
             query=cases.LinksQuery, tool="links"),
    Endpoint("GET", f"{ONE}/search", "cases.search", cases.search,
             "Nodes by id, name or attribute", Page[QueueRow], query=cases.SearchQuery, tool="search"),
    Endpoint("GET", f"{ONE}/verdicts", "verdicts.current", verdicts.verdicts,
             "The verdict of every labelled node that holds now, oldest first", Page[LabelEvent],
             query=verdicts.VerdictQuery),
    Endpoint("POST", f"{ONE}/verdicts", "verdicts.record", verdicts.record,
             "Record a verdict on a node, under the name of the caller", LabelEvent,
             body=verdicts.NewVerdict, status=201, keyed=True, tool="record"),
    Endpoint("GET", f"{ONE}/labels", "verdicts.counts", verdicts.counts,
             "How many nodes have which verdict", verdicts.LabelCounts),
    Endpoint("GET", f"{ONE}/runs", "runs.all", runs.runs,
             "All runs, newest first", Page[RunInfo], query=Paging),
    Endpoint("POST", f"{ONE}/runs", "runs.start", runs.start,
             "Start a run; one that waits and would do the same is answered instead", RunInfo,
             body=runs.NewRun, status=202),
    Endpoint("GET", f"{ONE}/runs/{{run}}", "runs.get", runs.run, "A run by id or number: its state", RunInfo),
    Endpoint("POST", f"{ONE}/runs/{{run}}/cancel", "runs.cancel", runs.cancel,
             "Ask a run to stop", RunInfo, body=Empty, status=202),
    Endpoint("GET", f"{ONE}/scores", "runs.result", runs.scores,
             "Scores of a run, highest first, or of one node", runs.Scores,
             query=runs.ScoreQuery, tool="scores"),
    Endpoint("GET", f"{ONE}/flagged", "export", runs.flagged,
             "The flagged list with reasons; written down as an export", runs.FlaggedRows,
             query=runs.FlaggedPage),
    Endpoint("GET", f"{ONE}/flagged.csv", "export", runs.flagged_file,
             "The flagged list as a file, safe to open in a spreadsheet; written down as an export", bytes,
             query=runs.FlaggedFile),
)
# fmt: on
