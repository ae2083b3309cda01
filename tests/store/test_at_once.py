"""Many who write at once, from threads and processes: nothing fails, nothing is lost or there twice."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sample_rows import RUN
from sqlalchemy import insert, select, text

from gadcore.errors import StoreError
from gadcore.settings import Settings
from gadcore.store import Offer, Store, open_store, schema

THREADS, ROUNDS = 8, 10  # of seven calls each


@pytest.fixture
def store(settings: Settings, planted) -> Store:
    store = open_store(settings)
    store.projects.add("p", "ana", planted[0], has_truth=False, project_id="p")
    return store


def test_threads_that_write_everything_at_once_never_fail(store: Store) -> None:
    start = threading.Barrier(THREADS)

    def work(thread: int) -> list[str]:
        start.wait(60)
        jobs = []
        for turn in range(ROUNDS):
            store.runs.add("p", RUN)
            store.projects.set_preference("p", "dial", turn / ROUNDS)
            jobs.append(store.jobs.add("layout", {"turn": turn}, "p"))
            store.events("p").append([{"node_id": f"n{thread}{turn}", "verdict": "normal"}], analyst="ana")
            store.receipts.once("p", "tab", turn, lambda: None)
            store.offers.show("p", run, "{}", [Offer(f"n{turn}", "top", "highest")])
            store.events("p").toggle("undo", f"nobody {thread}")
        return jobs

    run = store.runs.add("p", RUN).id
    with ThreadPoolExecutor(THREADS) as pool:
        jobs = [job for found in pool.map(work, range(THREADS)) for job in found]
    numbers = [info.number for info in store.runs.of_project("p")]
    assert sorted(numbers) == list(range(1, THREADS * ROUNDS + 2))
    assert len(set(jobs)) == ROUNDS  # equal jobs are one
    assert len(store.events("p").view().current) == THREADS * ROUNDS
    assert len(store.database.rows(select(schema.offers))) == ROUNDS
    assert len(store.database.rows(select(schema.preferences))) == 1


def test_threads_that_open_a_new_store_at_once_all_find_it(settings: Settings) -> None:
    start = threading.Barrier(4)

    def opened(_: int) -> int:
        start.wait(60)
        store = Store(settings)
        try:
            return len(store.projects.all())
        finally:
            store.database.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(opened, range(4))) == [0, 0, 0, 0]


def test_a_reader_sees_one_state_while_another_writes(store: Store, planted) -> None:
    with store.database.reading() as connection:
        before = connection.execute(select(schema.projects.c.id)).all()
        with ThreadPoolExecutor(1) as pool:
            add = pool.submit(store.projects.add, "q", "bo", planted[0], has_truth=False, project_id="q")
            add.result(60)
        assert connection.execute(select(schema.projects.c.id)).all() == before
    assert len(store.projects.all()) == 2


def test_an_error_tells_neither_the_statement_nor_the_values(store: Store) -> None:
    secret = {"project_id": "secret-project", "key": "dial", "value": "secret-value"}
    with pytest.raises(StoreError) as caught, store.database.writing() as connection:
        connection.execute(insert(schema.preferences).values(secret))
    with pytest.raises(StoreError) as mistaken, store.database.reading() as connection:
        connection.execute(text("SELECT 'secret' FROM nowhere"))
    for error in (caught.value, mistaken.value):
        assert "secret" not in str(error)
        assert "INSERT" not in str(error)


def test_what_is_read_once_holds_until_this_thread_writes(store: Store) -> None:
    events = store.events("p")
    with store.database.remembering():
        assert store.projects.preference("p", "dial", 0) == 0
        with ThreadPoolExecutor(1) as another:
            another.submit(store.projects.set_preference, "p", "dial", 1).result()
        assert store.projects.preference("p", "dial", 0) == 0
        last = events.append([{"node_id": "n001", "verdict": "normal"}], analyst="ana")[0].id
        assert store.projects.preference("p", "dial", 0) == 1
        assert events.view().last_id == last
    assert events.touched_since(last - 1) == {"n001"}
    assert events.touched_since(last) == set()
