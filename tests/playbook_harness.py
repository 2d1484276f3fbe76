"""Kills a process that follows and publishes, or runs two followers under load, and checks that nothing was lost.

``python tests/playbook_harness.py kill URL --times 200 --seconds 900`` or ``… race URL --seconds 60``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from small_documents import recall_text

import recallkit as rk

# A fold that tells every way of going wrong: what is folded twice or lost changes the count, the sum and the order.
COUNTS = """export function fold(view: View, event: Event): View {
  const n = typeof event.data === 'number' ? event.data : -1;
  return { count: view.count + 1, sum: view.sum + n, last: [...view.last, n].slice(-%d),
    ties: view.ties + (n === view.last.at(-1) ? 1 : 0) };
}"""
SCHEMA = {
    "type": "object",
    "required": ["count", "sum", "last", "ties"],
    "properties": {
        "count": {"type": "number"},
        "sum": {"type": "number"},
        "ties": {"type": "number"},
        "last": {"type": "array", "items": {"type": "number"}},
    },
}
START = {"count": 0, "sum": 0, "last": [], "ties": 0}
FUNCTIONS = {
    "counts": recall_text(COUNTS % 20, initial=START, schema=SCHEMA),
    "keeps-much": recall_text(COUNTS % 400, initial=START, schema=SCHEMA),
    "keeps-even": recall_text(
        COUNTS % 20, initial=START, schema=SCHEMA, filters=[{"type": "t", "data": "${ ($data as number) % 2 === 0 }"}]
    ),
}


def prepare(url: str) -> None:
    with rk.Playbook(url) as playbook:
        for name, source in FUNCTIONS.items():
            playbook.create_definition(type="recall", name=name, source=source)


def published(playbook: rk.Playbook) -> list[int]:
    """The numbers of the published events, in recorded order."""
    history = playbook.history().where(type="t")
    return [event["data"] for event in history]


def publish(playbook: rk.Playbook, number: int, source: str = "/load") -> None:
    playbook.publish_event({"source": source, "id": str(number), "type": "t", "data": number})


def work(url: str, log: int) -> None:
    """Follow and publish until killed; each number is written to `log` once its event is recorded."""
    playbook = rk.Playbook(url)
    number = max(published(playbook), default=-1) + 1
    with playbook.following():
        os.write(log, b"ready\n")
        while True:
            if number % 7 == 0:
                playbook.publish_events(
                    {"source": "/load", "id": str(n), "type": "t", "data": n} for n in range(number, number + 5)
                )
                number += 5
            else:
                publish(playbook, number)
                number += 1
            os.write(log, f"{number - 1}\n".encode())
            time.sleep(0.004)  # so that the checks after the kills take minutes, not hours


def kill(url: str, times: int, seconds: float, seed: int = 7, spread: float = 1.5) -> dict[str, Any]:
    """Kill the worker `times` times, each at a random moment of its first `spread` seconds, then check what is left."""
    chance = random.Random(seed)
    end = time.monotonic() + seconds
    acknowledged = -1
    done = 0
    for _ in range(times):
        if time.monotonic() > end:
            break
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(read)
                work(url, write)
            finally:
                os._exit(1)
        os.close(write)
        with os.fdopen(read, "rb") as log:
            told = log.readline()
            if told != b"ready\n":
                raise AssertionError("the worker did not begin")
            timer = threading.Timer(chance.random() * spread, os.kill, (child, signal.SIGKILL))
            timer.start()
            lines = log.read().split(b"\n")[:-1]
            timer.join()
        os.waitpid(child, 0)
        if lines:
            acknowledged = int(lines[-1])
        done += 1
    return {"kills": done, **check(url, acknowledged)}


def check(url: str, acknowledged: int | None = None) -> dict[str, Any]:
    """Check a playbook against uninterrupted folds of its own history."""
    with rk.Playbook(url) as playbook:
        numbers = published(playbook)
        if acknowledged is not None:
            assert numbers == list(range(len(numbers))), "an event was lost, or recorded twice"
            assert len(numbers) > acknowledged, "an acknowledged event was lost"
        before = playbook.standing().folded.tolist()
        playbook.catch_up()
        history = playbook.history()
        for name, source in FUNCTIONS.items():
            function = rk.load(source)
            assert isinstance(function, rk.RecallFunction)
            folding = function.fold(history, progress=False, trace=False, name=name)
            assert playbook.view_text(name) == folding.view_text, name
            told = playbook.get_definition(type="recall", name=name).standing
            for field in ("state", "folded", "checkpoint", "last_event", "lag_ms", "stalled"):
                assert told[field] == folding.standing[field], (name, field)
            with playbook._store.read() as db:
                steps = db.must("SELECT steps FROM views WHERE name = ?", name)[0]
                assert db.must("SELECT SUM(folds) FROM pages WHERE name = ?", name)[0] <= told["folded"]
            assert steps == int(folding.trace.steps.sum()), name
        return {"events": len(numbers), "folded before the last pass": before}


def race(url: str, seconds: float) -> dict[str, Any]:
    """Let two processes follow and publish on one database at the same time."""
    end = time.monotonic() + seconds
    children = []
    for which in (0, 1):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                playbook = rk.Playbook(url)
                number = which
                with playbook.following() as following:
                    while time.monotonic() < end:
                        publish(playbook, number, f"/load/{which}")
                        number += 2
                        time.sleep(0.002)
                status = 0 if following.error is None else 2
                with open(os.environ["RACE_LOG"] + str(which), "w") as file:
                    json.dump({"published": number // 2, "passes": following.passes}, file)
                playbook.close()
            finally:
                os._exit(status)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    told = [json.loads(Path(os.environ["RACE_LOG"] + str(which)).read_text()) for which in (0, 1)]
    with rk.Playbook(url) as playbook:
        by_source = {which: [] for which in (0, 1)}  # type: dict[int, list[int]]
        for event in playbook.history().where(type="t"):
            by_source[int(event["source"][-1])].append(event["data"])
        lag = playbook.lag()
    for which in (0, 1):
        assert by_source[which] == list(range(which, 2 * told[which]["published"] + which, 2))
    # a page is folded into a view once: what the pages of a view folded adds up to what it folded
    folds = {name: int(part.folds.sum()) for name, part in lag.groupby("name")}
    return {"processes": told, "folds in the pages kept": folds, **check(url)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["kill", "race"])
    parser.add_argument("url", nargs="?", help="an SQLite file in a new folder when left out")
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=900.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--spread", type=float, default=1.5, help="the longest that a worker lives, in seconds")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="recallkit-harness-")
    os.environ["RACE_LOG"] = f"{folder}/race"
    url = options.url or f"sqlite:///{folder}/playbook.db"
    prepare(url)
    began = time.monotonic()
    if options.what == "kill":
        told = kill(url, options.times, options.seconds, options.seed, options.spread)
    else:
        told = race(url, options.seconds)
    print(json.dumps({"url": url.split("@")[-1], **told, "seconds": round(time.monotonic() - began, 1)}))
    sys.exit(0)


if __name__ == "__main__":
    main()
