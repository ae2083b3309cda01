"""What each role finds on the pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from page_project import make_project, page, texts

from gadcore.access import Role, Who
from gadcore.access.passes import Pass
from gadcore.workspace import Workspace
from pages.common import state

As = Callable[[Role], None]


@pytest.fixture
def as_role(monkeypatch: pytest.MonkeyPatch) -> As:
    """Has the gate say that somebody of this role is at work."""
    return lambda role: monkeypatch.setattr(state, "read_pass", lambda _: Pass(Who("eva", role), ""))


@pytest.fixture
def workspace(home) -> Workspace:
    return make_project(models=("isolation-forest",))


def keys(app) -> set[str]:
    return {button.key for button in app.button if not button.disabled}


def test_the_home_page_offers_what_a_role_may_do(workspace: Workspace, as_role: As) -> None:
    delete, tabs = f"delete-{workspace.id}", {}
    for role in Role:
        as_role(role)
        app = page("app.py")
        assert f"eva · {role.word}" in texts(app)
        assert (delete in keys(app)) == (role >= Role.LEAD)
        tabs[role] = len(app.tabs)
    assert tabs == {Role.VIEWER: 0, Role.ANALYST: 1, Role.LEAD: 1, Role.ADMIN: 2}


def test_the_train_page_offers_what_a_role_may_do(workspace: Workspace, as_role: As) -> None:
    for role in Role:
        as_role(role)
        found = keys(page("pages/3_Train.py", workspace))
        assert ("train" in found) == (role >= Role.ANALYST)
        assert ("delete-1" in found) == (role >= Role.LEAD)


def test_the_trail_is_for_leads(workspace: Workspace, as_role: As) -> None:
    for role in Role:
        as_role(role)
        app = page("pages/6_Trail.py")
        assert bool(app.error) == (role < Role.LEAD)
        assert bool(app.dataframe) == (role >= Role.LEAD)


def test_pages_that_are_reached_around_the_gate_refuse(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "_comes_from_outside", lambda: True)
    for path in ("app.py", "pages/1_Label.py", "pages/5_Export.py"):
        app = page(path, workspace)
        assert "started without its gate" in app.error[0].value
        assert not app.button
