"""``python -m recallkit``: the same as the ``recallkit`` command."""

from __future__ import annotations

import sys

from recallkit.cli import main

if __name__ == "__main__":
    sys.exit(main())
