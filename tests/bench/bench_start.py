"""What starting costs, in fresh processes: python tests/bench/bench_start.py [--rounds N] [--json FILE]

Each round starts a Python and times, in this order: importing recallkit, the first check of a document, the next check
of another, the first history read, the first fold and the next. Medians of five rounds, after one that warms the
disk's cache (and compiles the engine for it, once a machine).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measured import machine, write
from reference import ROOT

BOUNDS = {
    "import": 300,
    "first check": 1_500,
    "next check": 100,
    "first read": None,
    "first fold": 1_000,
    "next fold": None,
}
CODE = """
import json, sys, time
document, events = sys.argv[1:]
text = open(document, encoding="utf-8").read()
moments = [time.perf_counter()]
told = lambda: moments.append(time.perf_counter())
import recallkit as rk
told()
rk.check(text)
told()
function = rk.load(text + " ")
told()
history = rk.read_history(events)
told()
function.fold(history, progress=False)
told()
function.fold(history, progress=False)
told()
print(json.dumps([1000 * (after - before) for before, after in zip(moments, moments[1:])]))
"""


def once() -> list[float]:
    """Start a process; return its milliseconds."""
    document, events = (
        ROOT / "notebooks" / "functions" / "campaign-reviews.md",
        ROOT / "data" / "campaign-reviews.jsonl",
    )
    command = [sys.executable, "-c", CODE, str(document), str(events)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(each) for each in json.loads(done.stdout)]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    print(f"medians of {options.rounds} fresh processes, on {machine()}")
    once()
    rounds = [once() for _ in range(options.rounds)]
    table = {}
    print(f"  {'':12} {'ms':>8} {'least':>8} {'most':>8} {'asked for':>10}")
    for place, (name, bound) in enumerate(BOUNDS.items()):
        each = [figures[place] for figures in rounds]
        table[name] = {"ms": statistics.median(each), "least": min(each), "most": max(each), "asked_for": bound}
        print(
            f"  {name:12} {table[name]['ms']:8,.0f} {min(each):8,.0f} {max(each):8,.0f} "
            f"{f'< {bound:,}' if bound else '':>10}"
        )
    write(options.json, {"rounds": options.rounds, "milliseconds": table})
    return 0


if __name__ == "__main__":
    sys.exit(main())
