"""The command `recallkit playbook URL …`: a playbook from the terminal."""

from __future__ import annotations

import argparse
import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recallkit.cli_sources import STDIN, UsageError, load_function, open_history, read_input, read_source
from recallkit.cli_words import FINE, REFUSED, Raw, count, one_line, paint, pretty, say, say_json
from recallkit.errors import Conflict, InvalidInput, NotFound
from recallkit.events.event import deeply

if TYPE_CHECKING:
    from recallkit.playbook.playbook import Playbook

# what a person may do with a playbook → what it is for
ACTIONS: Final = {
    "init": "make a playbook, or bring an older one up to date",
    "save": "save a function document under a name, or a new version of it",
    "publish": "record events: JSON, one a line or an array",
    "import": "record a history's events as they are: order, times and ids kept",
    "run": "run a function with an input",
    "standing": "show how each view stands",
    "follow": "bring the views up to date, or keep them so until Ctrl-C",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `recallkit playbook` takes to its parser."""
    parser.add_argument("url", metavar="URL", help="sqlite:///FILE, postgresql://…, or a file's path")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    made = {name: actions.add_parser(name, help=words, description=f"{words}.") for name, words in ACTIONS.items()}
    for name in ("save", "run"):
        made[name].add_argument("name", metavar="NAME", help="the function's name in the playbook")
    made["save"].add_argument("document", metavar="DOC", help="the function document; - for standard input")
    made["publish"].add_argument("events", metavar="EVENTS", help="a file of events; - for standard input")
    made["import"].add_argument("history", metavar="HISTORY", help="as for recallkit fold; - for standard input")
    made["run"].add_argument("--type", choices=["recall", "computation"], help="told from the name when left out")
    made["run"].add_argument("--input", metavar="JSON", help="strict JSON, @FILE, or - for standard input")
    made["run"].add_argument("--run-id", metavar="UUID", help="the same id again gives a success as recorded")
    made["follow"].add_argument("--once", action="store_true", help="until every view is up to date, then end")
    made["follow"].add_argument("--seconds", metavar="N", type=float, help="for so long, then end")
    for each in made.values():
        each.add_argument("--caller", metavar="WHO", default="cli", help="who acts, for the events (cli)")
        each.add_argument("--json", action="store_true", help="print one JSON object instead of words")


def playbook(options: Namespace) -> int:
    """`recallkit playbook URL ACTION`."""
    from recallkit.playbook.playbook import Playbook

    action = _ACTIONS[options.action]
    url = options.url if ":" in options.url else Path(options.url)
    if options.action != "init" and isinstance(url, Path) and not url.is_file():
        raise UsageError(f"There is no playbook {one_line(options.url)}; make it with recallkit playbook … init.")
    try:
        with Playbook(url) as opened:
            return action(opened, options)
    except (InvalidInput, NotFound, Conflict) as error:
        raise UsageError(str(error)) from None


def init(playbook: Playbook, options: Namespace) -> int:
    """`recallkit playbook URL init`."""
    if options.json:
        say_json({"id": playbook.id, "records": _records(playbook)})
    else:
        say(f"{one_line(repr(playbook).strip('<>'))}: {count(_records(playbook), 'record')}")
    return FINE


def save(playbook: Playbook, options: Namespace) -> int:
    """`recallkit playbook URL save NAME DOC`."""
    function = load_function(read_source(options.document))
    given: dict[str, Any] = {"type": function.definition.kind, "name": options.name}
    try:
        before = playbook.get_definition(**given).version
        told = playbook.update_definition(**given, source=function, caller=options.caller)
    except NotFound:
        before = 0
        told = playbook.create_definition(**given, source=function, caller=options.caller)
    if options.json:
        say_json({name: told[name] for name in ("type", "name", "version", "status") if name in told})
    else:
        words = "was saved before" if told.version == before else "is saved"
        say(f"{told.type}/{told.name}: version {told.version} {words}")
    return FINE


def publish(playbook: Playbook, options: Namespace) -> int:
    """`recallkit playbook URL publish EVENTS`."""
    data = sys.stdin.buffer.read() if options.events == STDIN else _file(options.events)
    told = playbook.publish_events(_events(data))
    if options.json:
        say_json({"published": [{"id": each["id"], "source": each["source"]} for each in told]})
    else:
        say(f"published {count(len(told), 'event')}")
    return FINE


def import_(playbook: Playbook, options: Namespace) -> int:
    """`recallkit playbook URL import HISTORY`."""
    told = playbook.import_history(open_history(options.history))
    if options.json:
        say_json({"recorded": told.recorded, "known": told.known, "passed_over": told.passed_over})
        return FINE
    more = [f"{told.known:,} known before"] if told.known else []
    more += [f"{told.passed_over:,} passed over"] if told.passed_over else []
    words = f" ({', '.join(more)})" if more else ""
    say(f"imported {count(told.recorded, 'event')}{words}")
    return FINE


def run(playbook: Playbook, options: Namespace) -> int:
    """`recallkit playbook URL run NAME`."""
    given = {} if options.input is None else {"input": read_input(options.input)}
    type = options.type or _type_of(playbook, options.name)
    ran = playbook.run_definition(type=type, name=options.name, run_id=options.run_id, caller=options.caller, **given)
    if options.json:
        output = None if ran.output_text is None else Raw(ran.output_text)
        members = {"run_id": ran.run_id, "status": ran.status, "ending": ran.ending, "kind": ran.kind}
        say_json({**members, "output": output, "rejection": ran.rejection, "record": ran.record})
        return FINE if ran.ok else REFUSED
    if ran.ok and ran.output_text is not None:
        say(pretty(ran.output_text)[0])
        return FINE
    ending = ran.ending if ran.kind is None else f"{ran.ending}, {ran.kind}"
    again = f" (after {ran.retry_after} seconds)" if ran.retry_after else ""
    words = f"{one_line(options.name)}: {paint(ending, 'bold', 'red', to=sys.stderr)}: {one_line(ran.detail)}{again}"
    say(words, to=sys.stderr)
    return REFUSED


def standing(playbook: Playbook, options: Namespace) -> int:
    """`recallkit playbook URL standing`."""
    return _say_standing(playbook, options)


def follow(playbook: Playbook, options: Namespace) -> int:
    """`recallkit playbook URL follow`."""
    if options.seconds is not None and not 0 <= options.seconds < float("inf"):
        raise UsageError(f"--seconds takes a number from 0; not {options.seconds}.")
    if options.once:
        playbook.catch_up()
        return _say_standing(playbook, options)
    end = None if options.seconds is None else time.monotonic() + options.seconds
    if not options.json:
        say(f"following {one_line(repr(playbook).strip('<>'))}; Ctrl-C ends it", to=sys.stderr)
    told: dict[str, str] = {}
    try:
        with playbook.following():
            while end is None or time.monotonic() < end:
                if not options.json:
                    _say_changes(playbook, told)
                time.sleep(0.5 if end is None else min(0.5, max(0.0, end - time.monotonic())))
    except KeyboardInterrupt:
        if options.json:
            raise
    return _say_standing(playbook, options)


_ACTIONS: Final[dict[str, Callable[[Playbook, Namespace], int]]] = {
    "init": init,
    "save": save,
    "publish": publish,
    "import": import_,
    "run": run,
    "standing": standing,
    "follow": follow,
}


def _records(playbook: Playbook) -> int:
    newest = playbook.list_playbook_events(newest_first=True, limit=1)
    return int(newest[0].metadata["global_position"]) if newest else 0


def _type_of(playbook: Playbook, name: str) -> str:
    for type in ("recall", "computation"):
        try:
            playbook.get_definition(type=type, name=name)
        except NotFound:
            continue
        return type
    raise UsageError(f"The playbook has no function {one_line(name)}; save it first.")


def _events(data: bytes) -> list[Any]:
    """Return the texts of events: one a line, or the members of an array (whose numbers are read here)."""
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UsageError(f"The events are no UTF-8 at byte {error.start:,}; save them as UTF-8.") from None
    if text.lstrip().startswith("["):
        try:
            return list(deeply(lambda: json.loads(text)))
        except RecursionError:
            raise UsageError("The events nest too deeply; a published event's data has a bounded depth.") from None
        except ValueError as error:
            raise UsageError(f"The events are no JSON: {error}.") from None
    # a text in JSON may hold other signs that end a line for splitlines, such as U+2028
    lines = [line for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if line.strip()]
    if len(lines) > 1 and not lines[0].rstrip().endswith("}"):
        return [text]  # one event over several lines
    return list(lines)


def _file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise UsageError(f"{one_line(path)} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def _rows(playbook: Playbook) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name in playbook.standing().name.tolist():
        rows.append({"name": name, **playbook.get_definition(type="recall", name=name).standing})
    return rows


def _say_standing(playbook: Playbook, options: Namespace) -> int:
    rows = _rows(playbook)
    stalled = [row for row in rows if row["state"] == "stalled"]
    if options.json:
        say_json({"views": rows})
    elif not rows:
        say("The playbook has no recall function.")
    for row in rows if not options.json else ():
        say(_line(row))
    return REFUSED if stalled else FINE


def _line(row: dict[str, Any]) -> str:
    colour = {"live": "green", "stalled": "red"}.get(row["state"], "yellow")
    behind = "" if row["lag_ms"] is None else f", {row['lag_ms'] / 1_000:,.3f} s behind"
    line = f"{row['name']}: {paint(row['state'], 'bold', colour)}, version {row['version']}, "
    line += f"{count(row['folded'], 'event')} folded{behind}"
    stall = row["stalled"]
    if stall is not None:
        where = f" on line {stall['line']}" if stall["line"] is not None else ""
        line += f"; {stall['kind']} at {one_line(stall['event']['id'])}{where}: {one_line(stall['error'])}"
    return line


def _say_changes(playbook: Playbook, told: dict[str, str]) -> None:
    for row in _rows(playbook):
        line = _line(row)
        if told.get(row["name"]) != line:
            told[row["name"]] = line
            say(line)
