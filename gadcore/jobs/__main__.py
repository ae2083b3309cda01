"""``python -m gadcore.jobs LANE`` is a worker, ``… job`` does one job. People start neither."""

from __future__ import annotations

import sys

from gadcore.jobs.runner import do_alone, work
from gadcore.jobs.workers import LANES

if __name__ == "__main__":
    if sys.argv[1:] == ["job"]:
        sys.exit(do_alone())
    lane = sys.argv[1] if len(sys.argv) > 1 else ""
    if lane not in LANES:
        sys.exit(f"There is no lane {lane!r}. Expected: {', '.join(LANES[:-1])} or {LANES[-1]}.")
    sys.exit(work(lane))
