"""Check random values against random schemas on the host and in the page loop: python tests/fuzz/fuzz_schemas.py
[--minutes 3] [--seed 0] [--cases N]

Every case has a seed of its own, told when the two say something else: `--seed N --cases 1` runs it alone. Ends with 1
then.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))

from schema_compare import compare, draw_case

TOGETHER = 20


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1 << 30)
    asked = parser.parse_args()
    until = time.monotonic() + asked.minutes * 60
    seed, last = asked.seed, asked.seed + asked.cases
    values = accepted = different = 0
    while time.monotonic() < until and seed < last:
        seeds = range(seed, min(seed + TOGETHER, last))
        cases = [draw_case(Random(each)) for each in seeds]
        here, found = compare(cases)
        for number, way, there in found:
            print(f"seed {seeds[number]} ({way}): {json.dumps(cases[number]['schema'])}")
            for value, one, other in zip(cases[number]["values"], here[number], there, strict=True):
                if one != other:
                    print(f"  {json.dumps(value)[:300]}\n    host {one}\n    page {other}")
        different += len({number for number, *_ in found})
        values += sum(map(len, here))
        accepted += sum(not issues for told in here for issues in told)
        seed = seeds[-1] + 1
    print(
        f"{seed - asked.seed:,} schemas from seed {asked.seed}, {values:,} values, {accepted:,} of them accepted: "
        f"{different} schemas of which the host and the page loop say something else"
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
