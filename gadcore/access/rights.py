"""The one table of what each role may do.

Names are ``service.method`` of the Workspace, and single words for what is done around its services. What is
in no line is allowed to nobody with a login; a test fails until it is written down here.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from gadcore.access.roles import Role, Who
from gadcore.errors import NotAllowed

RIGHTS: dict[Role, str] = {
    Role.VIEWER: """
        projects.all projects.open
        data.info data.has_truth data.truth data.report data.versions data.arrived
        cases.queue cases.remark cases.offers_of cases.choice cases.basis cases.card cases.search
        cases.similar cases.neighbourhood cases.activity cases.links cases.links_between cases.paths
        cases.group cases.taken cases.assigned cases.assigned_state cases.second_opinions cases.team
        cases.watched cases.watchlist
        verdicts.given_singly verdicts.can_undo verdicts.can_redo verdicts.current verdicts.notes
        verdicts.history verdicts.in_order verdicts.labels verdicts.counts verdicts.reasons
        verdicts.words verdicts.changed_since
        runs.ensure_ranked runs.start_worker runs.worker_state runs.all runs.get runs.active runs.in_use
        runs.latest runs.history runs.result runs.compare runs.layout runs.layout_state runs.request_layout
        insight.audit insight.least_recall insight.explain insight.probability_missing insight.moved
        insight.agreement insight.second_look insight.nothing_in_doubt
        messages.once messages.answered messages.last messages.refused
        preference
    """,
    Role.ANALYST: """
        projects.create projects.demo practice export
        verdicts.record verdicts.record_each verdicts.record_group verdicts.undo verdicts.redo verdicts.note
        verdicts.give_reason verdicts.export_file trail.exported cases.take
        runs.start runs.train runs.cancel data.store cases.watch cases.unwatch cases.rises_seen
    """,
    Role.LEAD: """
        projects.delete verdicts.settle runs.use runs.delete set_preference trail
        cases.assign cases.take_back data.use_version
    """,
    Role.ADMIN: """
        paths cases.score_new verdicts.import_file data.preview data.refused
    """,
}
_LEAST = {name: role for role, names in RIGHTS.items() for name in names.split()}
_ACTS = {
    "set_preference": "change settings",
    "paths": "name files of the server",
    "projects.delete": "delete a project",
    "projects.create": "make a project",
    "verdicts.settle": "settle a case",
    "cases.assign": "assign cases",
    "cases.take_back": "take assigned cases back",
    "runs.use": "choose the run in use",
    "runs.delete": "delete a run",
    "export": "export files",
    "trail": "look at the trail",
}

T = TypeVar("T")


def least_role(act: str) -> Role | None:
    """The role from which on something may be done; None: nobody with a login may."""
    return _LEAST.get(act)


def may(who: Who, act: str) -> bool:
    """Whether a person may do something."""
    least = least_role(act)
    return not who.is_login or (least is not None and who.role >= least)


def check(who: Who, act: str) -> None:
    """NotAllowed if a person may not do something."""
    if may(who, act):
        return
    least, what = least_role(act), _ACTS.get(act, act.split(".")[-1].replace("_", " "))
    needed = f"This needs the role {least.word}" if least else "Nobody with a login may do it"
    raise NotAllowed(f"{who.name} ({who.role.word}) may not {what}. {needed}.")


def guarded(service: T, name: str, who: Who) -> T:
    """A service whose methods are checked for a person with a login."""
    return cast(T, _Guarded(service, name, who)) if who.is_login else service


def only_read(service: T, name: str, version: int) -> T:
    """A service of an earlier version of a graph: what every reader may do can be done, and nothing else."""
    return cast(T, _Past(service, name, version))


class _Past:
    """Stands before a service of what cannot be changed any more."""

    def __init__(self, service: Any, name: str, version: int) -> None:
        self._service, self._name, self._version = service, name, version

    def __getattr__(self, method: str) -> Any:
        if least_role(f"{self._name}.{method}") is not Role.VIEWER:
            raise NotAllowed(
                f"Version {self._version} is shown as it was and cannot be changed. Go back to it first, or "
                "open the present version."
            )
        return getattr(self._service, method)


class _Guarded:
    """Stands before a service and asks the table at every method."""

    def __init__(self, service: Any, name: str, who: Who) -> None:
        self._service, self._name, self._who = service, name, who

    def __getattr__(self, method: str) -> Any:
        check(self._who, f"{self._name}.{method}")
        return getattr(self._service, method)
