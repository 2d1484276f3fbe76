"""What each keyword of JSON Schema asks of a value, as functions for ``jsonschema``, with sentences of our own.

``jsonschema`` drives them: it follows references, keeps the base URIs and hands each keyword its value. They
differ from its own functions where the page loop's check does (numbers are doubles, patterns are ECMAScript's)
and where those fall short of the specification (what ``unevaluated…`` sees).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

from recallkit.definitions.issue_words import (
    LEFT_OUT,
    choice_words,
    counted,
    shown,
    slow_pattern,
    type_words,
)
from recallkit.definitions.json_schema import ValidationError
from recallkit.definitions.json_text import engine_order
from recallkit.definitions.schema_run import active

Errors = Iterator[ValidationError]
Keyword = Callable[[Any, Any, Any, Any], Errors]


def is_type(value: Any, name: str) -> bool:
    """Whether a JSON value is of a type as JSON Schema names it; numbers are doubles, so 1.0 is an integer."""
    match name:
        case "string":
            return isinstance(value, str)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "integer":
            if isinstance(value, bool):
                return False
            return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
    return False


def alike(value: Any) -> Any:
    """Something hashable that is the same for values that are equal as JSON, and for no others."""
    if isinstance(value, bool) or value is None:
        return (value,)
    if isinstance(value, list):
        return ("list", *map(alike, value))
    if isinstance(value, dict):
        return frozenset((name, alike(member)) for name, member in value.items())
    return value


def equal(one: Any, two: Any) -> bool:
    """Whether two JSON values are equal."""
    if isinstance(one, dict | list) != isinstance(two, dict | list):
        return False
    return bool(alike(one) == alike(two))


def is_multiple(value: float, divisor: float) -> bool:
    """Exact where the divisor is whole, else whether the quotient of the two doubles is whole."""
    value, divisor = float(value), float(divisor)
    if math.isinf(value):
        return False
    if divisor.is_integer():
        return math.fmod(value, divisor) == 0
    quotient = value / divisor
    return math.fmod(value, divisor) == 0 if math.isinf(quotient) else quotient.is_integer()


def down(validator: Any, value: Any, schema: Any, path: Any = None) -> Errors:
    """What a schema says of a value, or of a part of it at `path`."""
    if schema is False:  # jsonschema's own would forget the path
        yield ValidationError(LEFT_OUT, path=() if path is None else (path,))
    elif schema is not True:
        yield from validator.descend(value, schema, path=path)


def passes(validator: Any, value: Any, schema: Any) -> bool:
    """Whether a schema accepts a value. Asked again and again of the same value by nested `unevaluated…`."""
    verdicts = active.run.verdicts
    if verdicts is None or not isinstance(value, dict | list) or not isinstance(schema, dict):
        return next(down(validator, value, schema), None) is None
    key = (id(schema), id(value))
    if key not in verdicts:
        verdicts[key] = next(down(validator, value, schema), None) is None
    return verdicts[key]


def _type(validator: Any, wanted: Any, value: Any, schema: Any) -> Errors:
    types = wanted if isinstance(wanted, list) else [wanted]
    if not any(is_type(value, name) for name in types):
        yield ValidationError(type_words(types))


def _const(validator: Any, wanted: Any, value: Any, schema: Any) -> Errors:
    if not equal(value, wanted):
        yield ValidationError(f"must be {shown(wanted)}")


def _enum(validator: Any, choices: Any, value: Any, schema: Any) -> Errors:
    if not any(equal(value, each) for each in choices):
        yield ValidationError(choice_words(choices))


def _required(validator: Any, names: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, dict):
        for name in names:
            if name not in value:
                yield ValidationError(f"must have the member {shown(name)}")


def _size(bound: str, kind: type[Any], one: str, many: str) -> Keyword:
    def check(validator: Any, limit: Any, value: Any, schema: Any) -> Errors:
        if isinstance(value, kind) and (len(value) < limit if bound == "least" else len(value) > limit):
            yield ValidationError(f"must have at {bound} {counted(limit, one, many)}, not {len(value)}")

    return check


def _length(bound: str) -> Keyword:
    def check(validator: Any, limit: Any, value: Any, schema: Any) -> Errors:
        if isinstance(value, str) and (len(value) < limit if bound == "least" else len(value) > limit):
            words = counted(limit, "character", "characters")
            yield ValidationError(f"must be at {bound} {words} long, not {len(value)}")

    return check


def _limit(words: str, holds: Callable[[Any, Any], bool]) -> Keyword:
    def check(validator: Any, limit: Any, value: Any, schema: Any) -> Errors:
        if is_type(value, "number") and not holds(value, limit):
            yield ValidationError(f"must be {words} {shown(limit)}")

    return check


def _property_names(validator: Any, rule: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, dict):
        for name, _ in engine_order(value):
            error = next(down(validator, name, rule), None)
            if error is not None:
                yield ValidationError(f"must have another name: the name {words_of(error)}", path=[name])


def _dependent_required(validator: Any, map_: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, dict):
        for name, wanted in engine_order(map_):
            if name in value and isinstance(wanted, list):
                for each in wanted:
                    if each not in value:
                        yield ValidationError(f"must have the member {shown(each)} beside {shown(name)}")


def _dependent_schemas(validator: Any, map_: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, dict):
        for name, wanted in engine_order(map_):
            if name in value and not isinstance(wanted, list):
                yield from down(validator, value, wanted)


def _properties(validator: Any, map_: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, dict):
        for name, rule in engine_order(map_):
            if name in value and not plainly(rule, value[name]):
                yield from down(validator, value[name], rule, path=name)


def _pattern_properties(validator: Any, map_: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, dict):
        for pattern, rule in engine_order(map_):
            for name, member in engine_order(value):
                found = active.run.found(pattern, name)
                if found is None:
                    yield ValidationError(slow_pattern(pattern), path=[name])
                elif found:
                    yield from down(validator, member, rule, path=name)


def _additional_properties(validator: Any, rule: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, dict):
        known = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        for name, member in engine_order(value):
            # Where a pattern took too long, patternProperties says so, and the member counts as known.
            if name in known or any(active.run.found(pattern, name) is not False for pattern in patterns):
                continue
            if not plainly(rule, member):
                yield from down(validator, member, rule, path=name)


def _unique_items(validator: Any, wanted: Any, value: Any, schema: Any) -> Errors:
    if wanted is True and isinstance(value, list):
        places: dict[Any, int] = {}
        for place, item in enumerate(value):
            first = places.setdefault(alike(item), place)
            if first != place:
                yield ValidationError(f"must have no two equal items, but {first} and {place} are equal")
                return


def _prefix_items(validator: Any, rules: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, list):
        for place, (item, rule) in enumerate(zip(value, rules, strict=False)):
            yield from down(validator, item, rule, path=place)


def _rest(validator: Any, rule: Any, value: Any, start: int) -> Errors:
    for place in range(start, len(value)):
        if not plainly(rule, value[place]):
            yield from down(validator, value[place], rule, path=place)


def _items(validator: Any, rule: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, list):
        yield from _rest(validator, rule, value, len(schema.get("prefixItems", [])))


def _items_or_tuple(validator: Any, rule: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, list):
        if isinstance(rule, list):
            yield from _prefix_items(validator, rule, value, schema)
        else:
            yield from _rest(validator, rule, value, 0)


def _additional_items(validator: Any, rule: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, list) and isinstance(schema.get("items"), list):
        yield from _rest(validator, rule, value, len(schema["items"]))


def _contains(counts: bool) -> Keyword:
    def check(validator: Any, rule: Any, value: Any, schema: Any) -> Errors:
        if not isinstance(value, list):
            return
        least = schema.get("minContains", 1) if counts else 1
        most = schema.get("maxContains", math.inf) if counts else math.inf
        matches = sum(passes(validator, item, rule) for item in value)
        for bound, limit, wrong in (("least", least, matches < least), ("most", most, matches > most)):
            if wrong:
                words = counted(limit, "item that matches", "items that match")
                yield ValidationError(f"must have at {bound} {words} contains, not {matches}")

    return check


def _pattern(validator: Any, pattern: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, str):
        found = active.run.found(pattern, value)
        if found is None:
            yield ValidationError(slow_pattern(pattern))
        elif not found:
            yield ValidationError(f"must match the pattern {shown(pattern)}")


def _ref(validator: Any, reference: Any, value: Any, schema: Any) -> Errors:
    yield from validator._validate_reference(ref=reference, instance=value)


def _all_of(validator: Any, rules: Any, value: Any, schema: Any) -> Errors:
    for rule in rules:
        yield from down(validator, value, rule)


def _any_of(validator: Any, rules: Any, value: Any, schema: Any) -> Errors:
    if not any(passes(validator, value, rule) for rule in rules):
        yield ValidationError(f"must match at least one of the {counted(len(rules), 'schema', 'schemas')} of anyOf")


def _one_of(validator: Any, rules: Any, value: Any, schema: Any) -> Errors:
    matches = sum(passes(validator, value, rule) for rule in rules)
    if matches != 1:
        words = counted(len(rules), "schema", "schemas")
        yield ValidationError(f"must match exactly one of the {words} of oneOf, not {matches or 'none'}")


def _not(validator: Any, rule: Any, value: Any, schema: Any) -> Errors:
    if passes(validator, value, rule):
        yield ValidationError("must not match the schema of not")


def _if(validator: Any, rule: Any, value: Any, schema: Any) -> Errors:
    branch = "then" if passes(validator, value, rule) else "else"
    if branch in schema:
        yield from down(validator, value, schema[branch])


def _unevaluated(kind: type[Any]) -> Keyword:
    def check(validator: Any, rule: Any, value: Any, schema: Any) -> Errors:
        if isinstance(value, kind):
            from recallkit.definitions.schema_evaluated import left_over

            for name in left_over(validator, value, schema):
                yield from down(validator, value[name], rule, path=name)

    return check


_PLAIN: Final = frozenset({"type", "title", "description", "default", "examples", "$comment", "format", "deprecated"})


def plainly(rule: Any, value: Any) -> bool:
    """Whether a value passes a rule that only names a type: the quick answer for most members and items."""
    if rule is True:
        return True
    return (
        isinstance(rule, dict)
        and isinstance(rule.get("type"), str)
        and rule.keys() <= _PLAIN
        and is_type(value, rule["type"])
    )


def words_of(error: ValidationError) -> str:
    """The sentence of an error, its own or that of a schema that is `false`."""
    schema: Any = error.schema
    keyword: Any = error.validator  # None where the schema itself is `false`
    return LEFT_OUT if schema is False and keyword is None else error.message


_COMMON: Final[dict[str, Keyword]] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "required": _required,
    "minProperties": _size("least", dict, "member", "members"),
    "maxProperties": _size("most", dict, "member", "members"),
    "propertyNames": _property_names,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "minItems": _size("least", list, "item", "items"),
    "maxItems": _size("most", list, "item", "items"),
    "uniqueItems": _unique_items,
    "minLength": _length("least"),
    "maxLength": _length("most"),
    "pattern": _pattern,
    "minimum": _limit("at least", lambda value, limit: value >= limit),
    "maximum": _limit("at most", lambda value, limit: value <= limit),
    "exclusiveMinimum": _limit("more than", lambda value, limit: value > limit),
    "exclusiveMaximum": _limit("less than", lambda value, limit: value < limit),
    "multipleOf": _limit("a multiple of", is_multiple),
    "$ref": _ref,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
}
DRAFT_2020_KEYWORDS: Final[dict[str, Keyword]] = _COMMON | {
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "prefixItems": _prefix_items,
    "items": _items,
    "contains": _contains(True),
    "$dynamicRef": _ref,
    "unevaluatedItems": _unevaluated(list),
    "unevaluatedProperties": _unevaluated(dict),
}
# Draft 7's `dependencies` is two things; the second is told where dependentSchemas would be.
DRAFT_7_KEYWORDS: Final[dict[str, Keyword]] = _COMMON | {
    "dependencies": _dependent_required,
    "dependencies, schemas": _dependent_schemas,
    "items": _items_or_tuple,
    "additionalItems": _additional_items,
    "contains": _contains(False),
}
# Issues at one place are told in this order, here and in the page loop.
ORDER: Final = (
    *("type", "const", "enum", "required", "minProperties", "maxProperties", "propertyNames", "dependentRequired"),
    *("dependencies", "properties", "patternProperties", "additionalProperties", "minItems", "maxItems"),
    *("uniqueItems", "prefixItems", "items", "additionalItems", "contains", "minLength", "maxLength", "pattern"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "$ref", "$dynamicRef", "allOf"),
    *("anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies, schemas", "unevaluatedItems"),
    "unevaluatedProperties",
)
VALIDATION: Final = frozenset(
    (
        *("type", "const", "enum", "required", "minProperties", "maxProperties", "dependentRequired", "minItems"),
        *("maxItems", "uniqueItems", "minContains", "maxContains", "minLength", "maxLength", "pattern", "minimum"),
        *("maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    )
)
