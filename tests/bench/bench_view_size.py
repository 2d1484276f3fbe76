"""What a fold costs as the view grows: python tests/bench/bench_view_size.py [FOLDS] [--rounds N] [--json FILE]

The first event fills the view to a size; every other changes one item of one group in it. Beside the kit, where
../shared/bench and Node are: the reference host, which writes the view out after every fold, and its bare folds, which
write and check nothing. Every round folds with each of them in turn. The table tells microseconds a small change: what
folding everything took less what folding the first event alone took, medians over the rounds. Only that the views are
the same is asserted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from measured import machine, write
from reference import Reference, reference

import recallkit as rk
from recallkit.sandbox import pool

KILOBYTES = (1, 4, 16, 64, 128, 256, 500)
ITEMS = 16  # of a group, about 60 bytes each
FRONT = """---
language: typescript
source: { events: [{ type: fill }, { type: change }] }
view:
  initial: {}
  schema:
    type: object
    additionalProperties:
      type: array
      items: { type: object, required: [id, text], properties: { id: { type: integer }, text: { type: string } } }
---
"""
# Makes a new version of what changes, and keeps the rest.
COPIES = """export function fold(view: View, event: Event): View {
  const data = event.data as any;
  if (event.type === 'fill') return data;
  const group = view[data.group]!;
  return { ...view, [data.group]: [...group.slice(1), { id: data.id, text: data.text }] };
}
"""
# Changes the view itself.
WRITES = """export function fold(view: View, event: Event): View {
  const data = event.data as any;
  if (event.type === 'fill') return data;
  const group = view[data.group]!;
  group.shift();
  group.push({ id: data.id, text: data.text });
  return view;
}
"""


def said(number: int) -> str:
    return f"what was said the {number}th time"


def events(size: int, count: int) -> list[str]:
    """Make the events of one size as lines of JSON."""
    groups: dict[str, list[dict[str, Any]]] = {}
    number = written = 0
    while written < size or not groups:
        name = f"group-{len(groups)}"
        groups[name] = [{"id": each, "text": said(each)} for each in range(number, number + ITEMS)]
        number += ITEMS
        written += len(json.dumps({name: groups[name]}, separators=(",", ":")))
    names = list(groups)
    data: list[tuple[str, Any]] = [("fill", groups)]
    for turn in range(count):
        # group after group, in an order of their own
        group = names[turn * 7 % len(names)]
        data.append(("change", {"group": group, "id": turn, "text": said(turn + number)}))
    usual = {"specversion": "1.0", "source": "/bench", "time": "2026-10-01T00:00:00.000Z"}
    return [json.dumps({**usual, "id": str(n), "type": type_, "data": each}) for n, (type_, each) in enumerate(data)]


def kit(function: rk.RecallFunction, path: Path, *, plain: bool = False) -> dict[str, Any]:
    """Fold with the kit; return the same figures as the reference host tells."""
    history = rk.read_history(path)
    pool.warm()
    start = time.perf_counter()
    folding = function.fold(history, progress=False, trace=False, plain=plain)
    seconds = time.perf_counter() - start
    text = folding.view_text.encode()
    return {
        "us_per_fold": seconds * 1e6 / len(history),
        "view_bytes": len(text),
        "view_sha256": hashlib.sha256(text).hexdigest(),
    }


def change(fold: Callable[[Path], dict[str, Any]], first: Path, every: Path, count: int) -> dict[str, Any]:
    """Fold the first event, then all of them; return the figures of all, a fold's being those of a small change."""
    alone = fold(first)["us_per_fold"]
    told = fold(every)
    return {**told, "us_per_fold": (told["us_per_fold"] * (count + 1) - alone) / count}


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folds", nargs="?", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    copies, writes = rk.load(FRONT + COPIES), rk.load(FRONT + WRITES)
    assert isinstance(copies, rk.RecallFunction)
    assert isinstance(writes, rk.RecallFunction)
    print(f"{options.folds:,} small changes and more, medians of {options.rounds} rounds, on {machine()}")
    rows = []
    with reference() as host, tempfile.TemporaryDirectory() as folder:
        if isinstance(host, str):
            print(f"without the reference host: {host}")
        for kilobytes in KILOBYTES:
            # what takes little is folded ten times as often, so that it is long beside the opening of a sandbox
            many = options.folds * 10
            few = many if kilobytes <= 16 else options.folds
            files = {count: Path(folder) / f"{count}.jsonl" for count in (0, few, many)}
            lines = events(kilobytes * 1000, many)
            for count, path in files.items():
                path.write_text("\n".join(lines[: count + 1]) + "\n", encoding="utf-8")
            ways: dict[str, Callable[[Path], dict[str, Any]]] = {
                "kit": lambda path: kit(copies, path),
                "kit, in place": lambda path: kit(writes, path),
                "kit, plain": lambda path: kit(copies, path, plain=True),
            }
            if isinstance(host, Reference):
                given = {"module": copies.definition.module, "schema": json.dumps(copies.definition.view_schema)}
                ways["reference"] = partial(host.fold, **given)
                ways["bare reference"] = partial(host.fold, bare=True, **given)
            told: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
            views = {few: {kit(copies, files[few])["view_sha256"]}, many: set()}
            for number in range(options.rounds):
                for way in list(ways) if number % 2 == 0 else list(ways)[::-1]:
                    count = many if way in ("kit", "bare reference") else few
                    told[way].append(change(ways[way], files[0], files[count], count))
                    views[count].add(told[way][-1]["view_sha256"])
            if any(len(each) != 1 for each in views.values()):
                print(f"{kilobytes} kB: the views are NOT the same", file=sys.stderr)
                return 1
            row = {"view_bytes": told["kit"][0]["view_bytes"]} | {
                way: round(statistics.median(figure["us_per_fold"] for figure in figures), 1)
                for way, figures in told.items()
            }
            if not rows:
                print(f"  {'view, bytes':>12}" + "".join(f"{way:>16}" for way in ways) + "   µs a change")
            rows.append(row)
            print(f"  {row['view_bytes']:12,}" + "".join(f"{row[way]:16,.0f}" for way in ways), flush=True)
    print("  the same view in each")
    write(options.json, {"folds": options.folds, "rounds": options.rounds, "us_per_fold": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
