"""What the keywords beside ``unevaluatedProperties`` and ``unevaluatedItems`` look at in a value."""

from __future__ import annotations

from typing import Any

from recallkit.definitions.json_text import engine_order
from recallkit.definitions.schema_keywords import passes
from recallkit.definitions.schema_run import active


def left_over(validator: Any, value: Any, schema: Any) -> list[Any]:
    """Give the members (or places) of a value that no keyword of the schema evaluates.

    Keywords that must pass anyway (``properties``, ``$ref``, ``allOf`` …) count whether or not they do: where
    one fails, the value is refused for that. Branches of ``anyOf``, ``oneOf`` and ``if`` count when they pass.
    """
    seen: set[Any] = set()
    if _mark(validator, value, schema, seen, top=True):
        return []
    names = range(len(value)) if isinstance(value, list) else [name for name, _ in engine_order(value)]
    return [name for name in names if name not in seen]


def _mark(validator: Any, value: Any, schema: Any, seen: set[Any], *, top: bool = False) -> bool:
    """Add what the schema evaluates to `seen`; true where that is everything."""
    if not isinstance(schema, dict) or not validator.MODERN:
        return False
    active.run.step()
    if isinstance(value, list):
        if "items" in schema or ("unevaluatedItems" in schema and not top):
            return True
        seen.update(range(len(schema.get("prefixItems", []))))
        if "contains" in schema:
            seen.update(place for place, item in enumerate(value) if passes(validator, item, schema["contains"]))
    else:
        if "additionalProperties" in schema or ("unevaluatedProperties" in schema and not top):
            return True
        seen.update(schema.get("properties", {}))
        for pattern in schema.get("patternProperties", {}):
            seen.update(name for name in value if active.run.found(pattern, name) is not False)
    for reference in (schema.get("$ref"), schema.get("$dynamicRef")):
        if reference is not None:
            found = validator._resolver.lookup(reference)
            if _mark(_under(validator, found.contents, found.resolver), value, found.contents, seen):
                return True
    return any(_mark(_under(validator, rule), value, rule, seen) for rule in _branches(validator, value, schema))


def _branches(validator: Any, value: Any, schema: Any) -> list[Any]:
    """The schemas that apply to the value itself."""
    rules = []
    if isinstance(value, dict):
        rules += [rule for name, rule in schema.get("dependentSchemas", {}).items() if name in value]
    rules += schema.get("allOf", [])
    for keyword in ("anyOf", "oneOf"):
        rules += [rule for rule in schema.get(keyword, []) if passes(validator, value, rule)]
    if "if" in schema:
        if passes(validator, value, schema["if"]):
            rules.append(schema["if"])
            rules.append(schema.get("then", True))
        else:
            rules.append(schema.get("else", True))
    return rules


def _under(validator: Any, schema: Any, resolver: Any = None) -> Any:
    """The validator at a schema, as ``descend`` would make it."""
    if not isinstance(schema, dict):
        return validator
    resource = validator.SPECIFICATION.create_resource(schema)
    return validator.evolve(schema=schema, _resolver=(resolver or validator._resolver).in_subresource(resource))
