"""Work on a graph by row blocks: one function per block, done here or on a cluster, with equal results.

    each(function, blocks, *shared)        what the function returns for each block, in order
    fill(out, function, blocks, *shared)   the same, written to its rows of an array
    kept(graph, name, shape, dtype, make)  an array made of a graph, kept beside the graph's own files
    kept_all(graph, names, make)           the same for arrays whose sizes are not known before

``function(block, *shared)`` stands at the top of a module and knows nothing but what it is given. Blocks
depend on sizes alone, so that results are the same to the last bit wherever they are worked out.
"""

from __future__ import annotations

from gadcore.engine.blocks import ROWS, Csr, part_of, row_blocks, rows_of
from gadcore.engine.kept_arrays import kept, kept_all
from gadcore.engine.places import LOCAL, each, engine_at, fill

__all__ = [
    "LOCAL",
    "ROWS",
    "Csr",
    "each",
    "engine_at",
    "fill",
    "kept",
    "kept_all",
    "part_of",
    "row_blocks",
    "rows_of",
]
