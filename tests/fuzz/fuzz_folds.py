"""Fold random modules in every way for minutes: python tests/fuzz/fuzz_folds.py [--minutes 3] [--seed 0] [--cases N]

Every case has a seed of its own, told when the ways differ: `--seed N --cases 1` runs it alone. Ends with 1 then.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))

from fold_compare import compare


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1 << 30)
    asked = parser.parse_args()
    until = time.monotonic() + asked.minutes * 60
    counts: Counter[str] = Counter()
    seed = asked.seed
    while time.monotonic() < until and seed < asked.seed + asked.cases:
        made = compare(Random(seed))
        counts["refused" if made is None else made.way] += 1
        if made is not None:
            counts[f"stalls: {made.stall[0]}" if made.stall else "no stall"] += 1
            if found := made.differences():
                counts["different"] += 1
                print(f"seed {seed}: the ways differ\n{made.text}")
                for name, (way, given, written) in found.items():
                    print(f"  {name}:\n    {way:7} {given!r}\n    written {written!r}", flush=True)
        seed += 1
    print(
        f"{seed - asked.seed} cases from seed {asked.seed}: "
        + ", ".join(f"{n} {name}" for name, n in counts.most_common())
    )
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
