"""What a process loads, and when: the import nothing heavy, a check no more than it needs, a fold no chart."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import recallkit as rk
from recallkit.sandbox import pool

PACKAGE = Path(rk.__file__).parent
CHARTS = {"altair", "anywidget", "ipywidgets", "IPython", "vl_convert"}
# A fold's engine runs in a worker process; this one needs no wasmtime.
ENGINE = {"wasmtime"}
HISTORIES = {"pandas", "pyarrow", "msgspec"}
# jsonschema's optional helper for IRIs, which builds a grammar for a second as it is imported
GRAMMAR = {"rfc3987_syntax"}


def loaded(code: str) -> set[str]:
    """Run code in a fresh process; return the packages that it has loaded by then."""
    told = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
        timeout=120,
    )
    return {name.partition(".")[0] for name in told.stdout.split()}


def test_a_check_loads_neither_histories_nor_charts_nor_the_engine(functions: Path) -> None:
    found = loaded(f"import recallkit as rk\nassert rk.check({str(functions / 'campaign-reviews.md')!r}) == []")
    assert "jsonschema" in found
    assert found & (CHARTS | ENGINE | HISTORIES | GRAMMAR) == set()


def test_a_fold_loads_neither_charts_nor_the_engine(functions: Path, data: Path) -> None:
    found = loaded(
        f"import recallkit as rk\nfunction = rk.load({str(functions / 'campaign-reviews.md')!r})\n"
        f"folding = function.fold({str(data / 'three-reviews.jsonl')!r})\nassert folding.folded == 3"
    )
    assert "msgspec" in found
    assert found & (CHARTS | ENGINE | GRAMMAR) == set()


def test_the_checker_starts_before_the_parts_that_read_a_document_are_imported() -> None:
    code = """
from recallkit.definitions import loading

class Asked(Exception): pass

def warm():
    print(*sys.modules)
    raise Asked

loading.warm = warm
try:
    loading.check("---\\n---\\n")
except Asked:
    sys.exit()
"""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}"], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    before = set(done.stdout.split())
    assert "recallkit.definitions.loading" in before
    assert before & {"jsonschema", "numpy", "yaml", "recallkit.definitions.recall"} == set()


def test_jsonschema_has_one_door() -> None:
    names = re.compile(r"^\s*(?:from|import) (?:jsonschema|referencing|jsonschema_specifications)\b", re.MULTILINE)
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "assets" not in path.parts and names.search(path.read_text(encoding="utf-8"))
    }
    assert found == {str(Path("definitions", "json_schema.py"))}


def test_others_in_the_process_still_check_iris_with_jsonschema() -> None:
    pytest.importorskip("rfc3987_syntax")
    code = """
from recallkit.definitions import json_schema
assert "rfc3987_syntax" not in sys.modules
from jsonschema import Draft202012Validator
for name in ("iri", "iri-reference"):
    checker = Draft202012Validator({"format": name}, format_checker=Draft202012Validator.FORMAT_CHECKER)
    assert checker.is_valid("https://example.org/\u00fc")
    assert not checker.is_valid("\\\\\\\\WINDOWS\\\\filesh\u00e4re")
"""
    assert "rfc3987_syntax" in loaded(code)


def test_where_jsonschema_is_there_already_nothing_stands_in() -> None:
    code = """
import jsonschema
from recallkit.definitions import json_schema
with json_schema.grammar_later():
    assert getattr(sys.modules.get("rfc3987_syntax"), "__file__", "") is not None
"""
    assert "recallkit" in loaded(code)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.3, 3.0])
def test_a_sandboxs_process_ends_with_the_one_that_started_it(seconds: float) -> None:
    """Its pipes close when that one is killed: also before it is ready, and tells so."""
    path = json.dumps([each or str(PACKAGE.parent) for each in sys.path])
    worker = subprocess.Popen(
        [sys.executable, "-I", "-c", pool._START, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        time.sleep(seconds)
        worker.stdout.close()
        worker.stdin.close()
        worker.wait(timeout=60)
    finally:
        worker.kill()
        worker.wait()
    assert worker.returncode != -9
