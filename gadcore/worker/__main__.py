"""``python -m gadcore.worker [train|layout]``: started by the app, not by people."""

from __future__ import annotations

import sys

from gadcore.worker import ROLES
from gadcore.worker.process import main

if __name__ == "__main__":
    role = sys.argv[1] if len(sys.argv) > 1 else "train"
    if role not in ROLES:
        sys.exit(f"There is no role {role!r}. Expected: {' or '.join(ROLES)}.")
    sys.exit(main(role))
