"""Recorded editing histories beside the reference host: python tests/bench/bench_histories.py [--rounds N] [--json F]

Folds each whole history of ../shared/histories that a person typed with notebooks/functions/editing-text.md, in the
kit, in the reference host and in its bare folds, in turn; the table tells medians. Only that the views are the same
is asserted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from bench_fold import kit, machine, show, summary
from reference import ROOT, Reference, bench_folder, reference

import recallkit as rk
from recallkit.views.session import way_of

NAMES = ("editing-sveltecomponent", "editing-json-crdt-patch")


def rounds(
    function: rk.RecallFunction, path: Path, host: Reference | None, count: int
) -> dict[str, list[dict[str, Any]]]:
    """Fold the history `count` times in each way, in turn."""
    history = rk.read_history(path)
    own = f"kit, {way_of(function.definition)}"
    told: dict[str, list[dict[str, Any]]] = {way: [] for way in (own, "reference", "bare reference")}
    given = {"module": function.definition.module, "initial": function.definition.initial}
    for number in range(count):
        for way in list(told) if number % 2 == 0 else list(told)[::-1]:
            if way == own:
                told[way].append(kit(function, history, way_of(function.definition)))
            elif host is not None:
                told[way].append(host.fold(path, bare=way == "bare reference", **given))
    return {way: figures for way, figures in told.items() if figures}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    bench = bench_folder()
    if bench is None:
        print("The histories are in ../shared/histories, which is not here.", file=sys.stderr)
        return 2
    function = rk.load(ROOT / "notebooks" / "functions" / "editing-text.md")
    assert isinstance(function, rk.RecallFunction)
    print(f"medians of {options.rounds} rounds, on {machine()}")
    tables: dict[str, Any] = {}
    with reference() as host, tempfile.TemporaryDirectory() as folder:
        if isinstance(host, str):
            print(f"without the reference host: {host}")
        for name in NAMES:
            path = Path(folder) / f"{name}.jsonl"
            path.write_bytes(gzip.decompress((bench.parent / "histories" / f"{name}.jsonl.gz").read_bytes()))
            told = rounds(function, path, host if isinstance(host, Reference) else None, options.rounds)
            tables[name] = summary(told)
            show(name, tables[name])
            if len({row["view_sha256"] for row in tables[name].values()}) != 1:
                print("the views are NOT the same", file=sys.stderr)
                return 1
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "histories": tables}, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
