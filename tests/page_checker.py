"""The page loop's schema check, run in the sandbox for the tests that compare it with the host's."""

from __future__ import annotations

import atexit
import json
from functools import cache
from typing import Any
from unittest import mock

from recallkit.sandbox import Sandbox
from recallkit.sandbox import sandbox as module
from recallkit.sandbox.schema_parts import schema_source

_CHECK = """(() => {
  const makeChecker = %s;
  // as known.wat remembers: the last record that a list or an object passed as
  const remembering = () => {
    const tags = new WeakMap(), answers = [];
    const known = (value, id) => { answers[4] = tags.get(value) === id ? 1 : 0; };
    const note = (value, id) => { tags.set(value, id); };
    const fresh = (value, id, members) => {
      if (members.some((each) => each !== null)) throw new Error('the list is in use');
      const all = Object.values(value);
      const found = all.filter((each) => tags.get(each) !== id);
      for (let i = 0; i < found.length && i < members.length; i++) members[i] = found[i];
      answers[4] = found.length > members.length ? -1 : found.length;
      answers[19] = all.length;
    };
    return { known, note, fresh, answers, members: [null, null, null, null] };
  };
  return (text) => JSON.stringify(JSON.parse(text).map(({ schema, options, values, limit }) => {
    const check = makeChecker(schema, { ...options, memory: options.memory ? remembering() : null });
    return values.map((value) => {
      const first = check(value), all = check.all(value, limit), again = check(value);
      const same = JSON.stringify([first, again]) === JSON.stringify([all[0], all[0]]);
      if (!same) throw new Error('the first issue differs');
      return all;
    });
  }));
})()"""


def unhardened(**options: Any) -> Sandbox:
    """Return a sandbox as it is when the page loop makes its check: before hardening, which takes Function away."""
    *parts, page = module._parts()
    hardening = b"dates = harden(parse(text), makeDates);"
    assert page.count(hardening) == 1
    with mock.patch.object(module, "_parts", return_value=(*parts, page.replace(hardening, b""))):
        return Sandbox(**options)


@cache
def _sandbox() -> Sandbox:
    sandbox = unhardened(memory_bytes=256 * 2**20)
    atexit.register(sandbox.close)
    return sandbox


def page_issues(
    cases: list[dict[str, Any]], *, memory: bool = False, frozen: bool = False
) -> list[list[list[tuple[str, str]]]]:
    """For each case ({schema, values, documents}), the issues of each value, as (pointer, words)."""
    asked = []
    for case in cases:
        options = {"memory": memory, "frozen": frozen, "documents": case.get("documents", {})}
        asked.append({"schema": case["schema"], "options": options, "values": case["values"], "limit": 10_000})
    text = _sandbox().call(_CHECK % schema_source(), json.dumps(asked), checkpoints=20_000, seconds=60.0)
    return [[[(issue["path"], issue["words"]) for issue in issues] for issues in values] for values in json.loads(text)]
