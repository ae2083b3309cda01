"""``python -m gadcore``: the command ``ringfence``."""

from __future__ import annotations

import sys

from gadcore.cli import main

if __name__ == "__main__":
    sys.exit(main())
