"""Why a JSON value is no schema that can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recallkit.bounds import LEVELS
from recallkit.definitions import schema_dialects
from recallkit.definitions.issue_words import TOO_LONG, escaped, shown
from recallkit.definitions.json_schema import Unresolvable
from recallkit.definitions.patterns import pattern_problems
from recallkit.definitions.schema_keywords import words_of
from recallkit.definitions.schema_production import LIST, MAP, ONE, _levels
from recallkit.definitions.schema_run import Run, TooMuch, active

if TYPE_CHECKING:
    from recallkit.definitions.schemas import Schema

Told = list[tuple[str, str]]
# Keywords whose schemas look at the value itself, not at a part of it.
IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")


def problems_of(schema: Schema) -> Told:
    """Give a pointer into the schema and a sentence for each problem."""
    if isinstance(schema.json, bool):
        return []
    if not isinstance(schema.json, dict):
        return [("", "A schema must be an object, true or false.")]
    if _levels(schema.json) > LEVELS:
        return [("", f"The schema nests more than {LEVELS} levels deep.")]
    named = schema.json.get("$schema")
    if isinstance(named, str) and not schema_dialects.known_dialect(named, schema.documents):
        return [("/$schema", _dialect_words(named))]
    told = _against_meta_schema(schema)
    if told:
        return told
    return _References(schema).problems()


def _dialect_words(named: str) -> str:
    return f"{shown(named)} is no dialect that is read here; leave it out for 2020-12."


def _against_meta_schema(schema: Schema) -> Told:
    made = type(schema._validator)
    return _meta_problems(made, schema.json)


def _meta_problems(made: Any, json: Any) -> Told:
    active.run = Run({}, alone=True)
    validator = made(schema=made.META_SCHEMA, registry=schema_dialects.registry_of({}, made.SPECIFICATION))
    told: dict[tuple[str, str], None] = {}
    try:
        for error in validator.iter_errors(json):
            pointer = "".join(f"/{escaped(str(part))}" for part in error.path)
            subject = f"`{error.path[-1]}`" if error.path else "The schema"
            told[pointer, f"{subject} {words_of(error)}."] = None
    except TooMuch:
        return [("", f"The schema {TOO_LONG}.")]
    return list(told)


class _References:
    """A walk over every schema that can be reached, to try its references and patterns."""

    def __init__(self, schema: Schema) -> None:
        self._root = schema.json
        self._documents = schema.documents
        self._made = type(schema._validator)
        self._told: Told = []
        self._patterns: list[tuple[str, str]] = []
        self._edges: dict[int, list[tuple[int, str | None]]] = {}
        self._waiting: list[tuple[Any, Any, str, bool]] = []
        self._references: list[tuple[Any, str, Any, str]] = []
        self._kept: list[Any] = []  # keeps the schemas alive, so that their ids stay theirs
        self._dynamic: dict[str, list[int]] = {}
        self._dynamic_uses: list[tuple[int, str, str]] = []
        self._visit(self._root, schema._validator._resolver, "", inside=True)

    def problems(self) -> Told:
        # What stands in the schema itself comes first, so that it is told where it stands.
        while self._waiting or self._references:
            if self._waiting:
                self._walk(*self._waiting.pop())
            else:
                self._follow(*self._references.pop(0))
        for node, name, pointer in self._dynamic_uses:
            self._edges[node] += [(other, pointer) for other in self._dynamic.get(name, [])]
        broken = pattern_problems(pattern for _, pattern in self._patterns)
        for pointer, pattern in self._patterns:
            if pattern in broken:
                words = f"{shown(pattern)} is no regular expression of ECMAScript: {broken[pattern]}."
                self._told.append((pointer, words))
        if not self._told:
            self._told += self._loops()
        return list(dict.fromkeys(self._told))

    def _visit(self, node: Any, resolver: Any, pointer: str, *, inside: bool) -> None:
        if isinstance(node, dict) and id(node) not in self._edges:
            self._edges[id(node)] = []
            self._kept.append(node)
            self._waiting.append((node, resolver, pointer, inside))

    def _walk(self, node: Any, resolver: Any, pointer: str, inside: bool) -> None:
        # A problem in another document is told at the reference that led there, and so is all beneath it.
        def at(part: str) -> str:
            return f"{pointer}/{part}" if inside else pointer

        edges = self._edges[id(node)]
        named = node.get("$schema")
        if isinstance(named, str) and not schema_dialects.known_dialect(named, self._documents):
            self._told.append((at("$schema"), _dialect_words(named)))
        legacy = not self._made.MODERN
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(node.get(keyword), str):
                self._references.append((node, keyword, resolver, at(keyword)))
        if legacy and "$ref" in node:
            return
        if isinstance(node.get("$dynamicAnchor"), str):
            self._dynamic.setdefault(node["$dynamicAnchor"], []).append(id(node))
        if isinstance(node.get("pattern"), str):
            self._patterns.append((at("pattern"), node["pattern"]))
        inner: list[tuple[str, str, Any]] = []
        for name, value in node.items():
            if name in ONE and not isinstance(value, list):
                inner.append((name, name, value))
            elif name in LIST and isinstance(value, list):
                inner += [(name, f"{name}/{place}", each) for place, each in enumerate(value)]
            elif name in MAP and isinstance(value, dict):
                inner += [(name, f"{escaped(name)}/{escaped(key)}", each) for key, each in value.items()]
                if name == "patternProperties":
                    self._patterns += [(at(f"{name}/{escaped(key)}"), key) for key in value]
        for name, part, child in reversed(inner):
            if isinstance(child, dict):
                if name in IN_PLACE and (name not in ("then", "else") or "if" in node):
                    edges.append((id(child), None))
                self._visit(child, self._within(resolver, child), at(part), inside=inside)

    def _within(self, resolver: Any, node: Any) -> Any:
        return resolver.in_subresource(self._made.SPECIFICATION.create_resource(node))

    def _follow(self, node: Any, keyword: str, resolver: Any, pointer: str) -> None:
        reference = node[keyword]
        try:
            found = resolver.lookup(reference)
        except (Unresolvable, ValueError):
            self._told.append((pointer, f"{shown(reference)} leads to no schema; nothing is fetched."))
            return
        target = found.contents
        if isinstance(target, bool):
            return
        if not isinstance(target, dict) or (id(target) not in self._edges and _meta_problems(self._made, target)):
            self._told.append((pointer, f"{shown(reference)} leads to what is no schema."))
            return
        if keyword == "$dynamicRef":
            self._dynamic_uses.append((id(node), reference.rpartition("#")[2], pointer))
        self._visit(target, self._within(found.resolver, target), pointer, inside=False)
        self._edges[id(node)].append((id(target), pointer))

    def _loops(self) -> Told:
        """References that lead back to themselves while still looking at the same value."""
        told: Told = []
        done: set[int] = set()
        for start in self._edges:
            if start in done:
                continue
            path: list[tuple[int, str | None, int]] = [(start, None, 0)]
            on_path = {start: 0}
            while path:
                node, via, turn = path.pop()
                if turn == len(self._edges[node]):
                    done.add(node)
                    del on_path[node]
                    continue
                path.append((node, via, turn + 1))
                target, pointer = self._edges[node][turn]
                if target in on_path:
                    around = [step[1] for step in path[on_path[target] + 1 :]] + [pointer]
                    first = next((each for each in around if each is not None), "")
                    told.append((first, "This reference leads back to itself with no member or item between."))
                elif target not in done:
                    on_path[target] = len(path)
                    path.append((target, pointer, 0))
        return told
