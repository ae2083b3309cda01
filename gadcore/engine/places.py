"""Where blocks are worked out: in this process, or on a Dask cluster that sees the same folders.

``engine_at("tcp://host:8786")`` sends blocks to the workers of that scheduler. A worker that dies costs its
blocks, which others do again. When the scheduler is gone the work fails with a RunError that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from gadcore.engine.kept_arrays import Array, FileArray, opened, portable, release
from gadcore.errors import RunError

LOCAL = "local"
RETRIES = 3  # of a block whose worker fails
PATIENCE = 15  # seconds in which a scheduler must answer
Work = Callable[..., Any]  # (block, *shared)
Block = Any  # mostly a slice of rows


class Here:
    """Blocks one after the other in this process."""

    def each(self, function: Work, blocks: Sequence[Block], shared: Sequence[Any]) -> Iterator[Any]:
        given = [opened(value) for value in shared]
        for block in blocks:
            yield function(block, *given)
        for value in given:
            release(value)


class Cluster:
    """Blocks on the workers of a Dask scheduler."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._client: Any = None

    def each(self, function: Work, blocks: Sequence[Block], shared: Sequence[Any]) -> Iterator[Any]:
        with self._told():
            client = self._connected()
            given = [portable(value) for value in shared]
            asked = [
                client.submit(_carry_out, function, block, given, retries=RETRIES, pure=False)
                for block in blocks
            ]
            return iter(client.gather(asked))

    def _connected(self) -> Any:
        if self._client is None:
            from distributed import Client

            make: Any = Client
            self._client = make(self.address, timeout=PATIENCE, set_as_default=False)
        return self._client

    def close(self) -> None:
        if self._client is not None:
            self._client.close(timeout=1)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what a cluster raises when it is gone into a RunError."""
        try:
            from distributed import CancelledError, KilledWorker
            from distributed.comm.core import CommClosedError
        except ImportError as error:
            raise RunError(
                f"GAD_ENGINE is {self.address}, and Dask is not installed ({error}). "
                "Install it: pip install 'ringfence[cluster]'. Or unset GAD_ENGINE to work on this machine."
            ) from error
        try:
            yield
        except KilledWorker as error:
            raise RunError(
                f"Workers of the cluster at {self.address} died over the same block ({error}). "
                "Give them more memory, then train again. The labels are safe."
            ) from error
        except (CancelledError, CommClosedError, TimeoutError, OSError) as error:
            raise RunError(
                f"The cluster at {self.address} does not answer ({type(error).__name__}). Start it again, "
                "or unset GAD_ENGINE to work on this machine; then train again. The labels are safe."
            ) from error


def _carry_out(function: Work, block: Block, shared: Sequence[Any]) -> Any:
    return function(block, *map(opened, shared))


_PLACE: ContextVar[Here | Cluster] = ContextVar("place", default=Here())  # noqa: B039


@contextmanager
def engine_at(address: str) -> Iterator[None]:
    """Work out blocks there for a while: ``local``, or the address of a Dask scheduler."""
    place = Here() if address == LOCAL else Cluster(address)
    before = _PLACE.set(place)
    try:
        yield
    finally:
        _PLACE.reset(before)
        if isinstance(place, Cluster):
            place.close()


def each(function: Work, blocks: Sequence[Block], *shared: Any) -> Iterator[Any]:
    """What the function returns for each block, in their order."""
    return _PLACE.get().each(function, blocks, shared)


def fill(
    out: Array | FileArray,
    function: Work,
    blocks: Sequence[slice],
    *shared: Any,
    places: Sequence[slice] | None = None,
) -> None:
    """Write what the function returns for each block to its rows of ``out``, or to other ``places``.

    An array in a file is written to where the block is worked out, so that nothing large travels.
    """
    work = list(zip(blocks, places or blocks))
    if isinstance(out, FileArray):
        for _ in each(_written, work, function, _Target(out), *shared):
            pass
        return
    for number, rows in enumerate(each(_returned, work, function, *shared)):
        out[work[number][1]] = rows


@dataclass(frozen=True)
class _Target:
    """A file that is written to: not opened on its way, as those are that are read."""

    file: FileArray


def _written(work: tuple[slice, slice], function: Work, target: _Target, *shared: Any) -> None:
    block, place = work
    target.file.write(place.start, function(block, *shared))


def _returned(work: tuple[slice, slice], function: Work, *shared: Any) -> Any:
    return function(work[0], *shared)
