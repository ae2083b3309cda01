"""A look at a database tells how it stands and changes nothing."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from gadcore.access.users import UserList
from gadcore.errors import StoreError
from gadcore.settings import Settings
from gadcore.store import close_stores, open_store
from gadcore.store.look import look
from gadcore.store.schema import VERSION, now, schema_version


def test_a_database_says_what_it_is(settings: Settings) -> None:
    UserList(settings).add("eva", "analyst", None)
    found = look(settings.store_url)
    assert found is not None
    assert found.kind in settings.store_url
    assert found.release > (3,)
    assert (found.schema, found.users, found.waiting) == (VERSION, 1, 0)
    assert found.unsafe == (("fsync=off",) if found.kind == "postgresql" else ())  # that of the tests is
    assert found.latest is not None
    assert abs((now() - found.clock).total_seconds()) < 60


def test_an_older_database_stays_as_it_is(settings: Settings) -> None:
    open_store(settings).database.change(update(schema_version).values(version=VERSION - 1))
    close_stores()
    for _ in range(2):
        found = look(settings.store_url)
        assert found is not None
        assert found.schema == VERSION - 1


def test_where_no_file_is_none_is_made(settings: Settings) -> None:
    if settings.store_url.startswith("sqlite"):
        assert look(settings.store_url) is None
        assert not settings.home.exists()


@pytest.mark.parametrize(
    "url", ["nonsense", "mysql://host/name", "postgresql+psycopg://u:hunter2@127.0.0.1:9/x"]
)
def test_what_cannot_be_looked_at_is_said_without_a_password(url: str) -> None:
    with pytest.raises(StoreError) as error:
        look(url)
    assert "hunter2" not in str(error.value)
