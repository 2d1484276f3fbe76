"""The build hook: what it keeps of npm's files, when it fetches, and that a failed fetch harms nothing."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest

LOADER = "var b=c;a._malloc=b.v;a._free=b.M;a._QTS_Eval=b.pa;a._QTS_NewRuntime=b.$;"


@pytest.fixture
def hook(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", root / "scripts" / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    """A repository with the lock file and an empty package."""
    shutil.copytree(root / "scripts" / "npm", tmp_path / "scripts" / "npm")
    (tmp_path / "recallkit").mkdir()
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class Npm:
    """Stands in for npm: the files that the packages hold, and how often they were fetched."""

    def __init__(self, hook: ModuleType) -> None:
        self.hook = hook
        self.fetched = 0
        self.fails = False

    def fetch(self, source: Path, folder: Path) -> Path:
        self.fetched += 1
        if self.fails:
            raise RuntimeError("npm could not fetch")
        packages = folder / "node_modules"
        engine = packages / self.hook.ENGINE
        write(engine / "dist" / "emscripten-module.wasm", "wasm")
        write(engine / "dist" / "emscripten-module.cjs", LOADER)
        write(engine / "package.json", '{"version": "0.0.1"}')
        write(engine / "LICENSE", "licence")
        for name in ("package.json", "lib/typescript.js", "lib/lib.es5.d.ts", "lib/lib.dom.d.ts", "lib/tsserver.js"):
            write(packages / "typescript" / name, "{}")
        write(packages / "typescript" / "lib" / "lib.decorators.d.ts", "")
        write(packages / "typescript" / "LICENSE.txt", "licence")
        write(packages / "typescript" / "ThirdPartyNoticeText.txt", "notice")
        for name in ("package.json", "out/index.js", "loader/hooks.js", "LICENSE"):
            write(packages / "ts-blank-space" / name, "{}")
        return packages


@pytest.fixture
def npm(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Npm:
    stand_in = Npm(hook)
    monkeypatch.setattr(hook, "fetch", stand_in.fetch)
    monkeypatch.setattr(hook, "GENERATORS", {})
    return stand_in


def names_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_only_what_is_needed_is_kept_with_every_licence(hook: ModuleType, npm: Npm, tree: Path) -> None:
    assert hook.make_assets(tree)
    assert names_in(tree / "recallkit" / "assets") == {
        "checker/node_modules/ts-blank-space/out/index.js",
        "checker/node_modules/ts-blank-space/package.json",
        "checker/node_modules/typescript/lib/lib.decorators.d.ts",
        "checker/node_modules/typescript/lib/lib.es5.d.ts",
        "checker/node_modules/typescript/lib/typescript.js",
        "checker/node_modules/typescript/package.json",
        "engine/engine.json",
        "engine/engine.wasm",
        "licences/quickjs-wasmfile-release-sync.LICENSE",
        "licences/ts-blank-space.LICENSE",
        "licences/typescript.LICENSE.txt",
        "licences/typescript.ThirdPartyNoticeText.txt",
        "stamp.json",
    }
    assert [path.name for path in (tree / "recallkit").iterdir()] == ["assets"]


def test_the_exports_are_read_from_the_engines_loader(hook: ModuleType, npm: Npm, tree: Path) -> None:
    hook.make_assets(tree)
    told = json.loads((tree / "recallkit" / "assets" / "engine" / "engine.json").read_text(encoding="utf-8"))
    assert told["exports"] == {"malloc": "v", "free": "M", "QTS_Eval": "pa", "QTS_NewRuntime": "$"}
    assert told["version"] == "0.0.1"


def test_a_loader_written_in_another_way_is_refused(hook: ModuleType, tmp_path: Path) -> None:
    write(tmp_path / "dist" / "emscripten-module.cjs", "exports.QTS_Eval = wasm.pa")
    with pytest.raises(RuntimeError, match="does not name its exports"):
        hook.copy_engine(tmp_path, tmp_path / "engine")


def test_assets_that_stand_are_not_fetched_again(hook: ModuleType, npm: Npm, tree: Path) -> None:
    hook.make_assets(tree)
    assert not hook.make_assets(tree)
    assert npm.fetched == 1


@pytest.mark.parametrize("harm", ["missing", "cut", "no stamp", "broken stamp", "another lock file"])
def test_assets_that_are_not_whole_are_made_again(hook: ModuleType, npm: Npm, tree: Path, harm: str) -> None:
    hook.make_assets(tree)
    assets = tree / "recallkit" / "assets"
    if harm == "missing":
        (assets / "engine" / "engine.json").unlink()
    elif harm == "cut":
        (assets / "engine" / "engine.wasm").write_text("was", encoding="utf-8")
    elif harm == "no stamp":
        (assets / "stamp.json").unlink()
    elif harm == "broken stamp":
        (assets / "stamp.json").write_text("[]", encoding="utf-8")
    else:
        (tree / "scripts" / "npm" / "package-lock.json").write_text("{}", encoding="utf-8")
    assert hook.make_assets(tree)
    assert (assets / "engine" / "engine.wasm").read_text(encoding="utf-8") == "wasm"
    assert not hook.make_assets(tree)


def test_a_fetch_that_fails_leaves_what_was_there(hook: ModuleType, npm: Npm, tree: Path) -> None:
    hook.make_assets(tree)
    before = names_in(tree / "recallkit")
    (tree / "scripts" / "npm" / "package-lock.json").write_text("{}", encoding="utf-8")
    npm.fails = True
    with pytest.raises(RuntimeError, match="npm could not fetch"):
        hook.make_assets(tree)
    assert names_in(tree / "recallkit") == before


def test_a_package_without_a_file_that_is_needed_is_an_error_and_leaves_nothing_half_made(
    hook: ModuleType, npm: Npm, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(hook.CHECKER, "typescript", ("lib/typescript.js", "lib/no-such-file.js"))
    with pytest.raises(RuntimeError, match=r"typescript holds no lib/no-such-file\.js"):
        hook.make_assets(tree)
    assert list((tree / "recallkit").iterdir()) == []


def test_a_generator_adds_to_the_assets_and_a_change_to_what_it_reads_makes_them_again(
    hook: ModuleType, npm: Npm, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        tree / "scripts" / "count.mjs",
        'import { readFileSync, writeFileSync } from "node:fs";\n'
        'const told = readFileSync(new URL("../told.txt", import.meta.url), "utf8");\n'
        "writeFileSync(`${process.argv[2]}/checker/made.txt`, told);\n",
    )
    write(tree / "told.txt", "first")
    monkeypatch.setattr(hook, "GENERATORS", {"scripts/count.mjs": ("told.txt",)})
    assert hook.make_assets(tree)
    made = tree / "recallkit" / "assets" / "checker" / "made.txt"
    assert made.read_text(encoding="utf-8") == "first"
    assert not hook.make_assets(tree)
    write(tree / "told.txt", "second")
    assert hook.make_assets(tree)
    assert made.read_text(encoding="utf-8") == "second"


def test_every_file_that_the_hook_names_is_there(hook: ModuleType, root: Path) -> None:
    named = [*hook.GENERATORS, *(name for others in hook.GENERATORS.values() for name in others)]
    assert [name for name in named if not (root / name).is_file()] == []
    assert [place for place in hook.EXAMPLES.values() if not (root / place).is_dir()] == []
