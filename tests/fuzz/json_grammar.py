"""Random JSON: values, events and schemas, drawn from so few names and values that they meet."""

from __future__ import annotations

from random import Random
from typing import Any

# names that a list or object inherits, that count as an index or only look like one, of any length in UTF-8
NAMES = ["a", "b", "list", "n", "1", "0", "01", "-1", "4294967295", "__proto__", "toString", "toJSON", "constructor"]
NAMES += ["length", "é", "😀", "\ud800", ""]
SCALARS = [
    None,
    True,
    False,
    0,
    -0.0,
    1,
    7,
    1.5,
    -1,
    0.1,
    1e21,
    1e-7,
    5e-324,
    2**53,
    "",
    "s",
    "a",
    "ab",
    "-0",
    "é\u2028",
]
SCALARS += ["\ud800", "\udc00", "😀", '"\\\u0000\u001f', "a" * 30]
TYPES = ["string", "number", "integer", "boolean", "null", "array", "object"]


def draw_value(chance: Random, depth: int = 0) -> Any:
    """Draw a JSON value."""
    kind = chance.randrange(9 if depth < 4 else 5)
    if kind < 5:
        return "é" * chance.choice([300, 9000]) if chance.randrange(150) == 0 else chance.choice(SCALARS)
    if kind < 7:
        return [draw_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(NAMES): draw_value(chance, depth + 1) for _ in range(chance.randrange(4))}


def draw_events(chance: Random, most: int = 16) -> list[dict[str, Any]]:
    """Draw events of a few types."""
    return [
        {
            "specversion": "1.0",
            "id": str(n),
            "type": chance.choice("ab"),
            "source": "/s",
            "time": f"2026-01-01T00:{n:02d}:00.{chance.choice(['000', '5', '123456789'])}Z",
            "data": draw_value(chance),
        }
        for n in range(chance.randint(4, most))
    ]


class Schemas:
    """Draws one schema, with definitions that refer to each other.

    Parameters
    ----------
    chance : Random
        Every choice comes from it.
    lenient : bool
        Bounds that a small value seldom passes, for a view that is to be folded for a while.
    """

    def __init__(self, chance: Random, *, lenient: bool) -> None:
        self.chance = chance
        self.lenient = lenient
        self.defined = [f"d{n}" for n in range(chance.randrange(3))]

    def draw(self) -> Any:
        """Draw the schema."""
        made = self._schema(0)
        if self.defined and isinstance(made, dict):
            # a reference stands below a property or an item, so that none loops
            made = {**made, "$defs": {name: self._schema(1) for name in self.defined}}
            if self.chance.random() < 0.5:
                made.setdefault("properties", {})["a"] = {"$ref": f"#/$defs/{self.chance.choice(self.defined)}"}
        return made

    def _schema(self, depth: int) -> Any:
        chance = self.chance
        if depth > 3 or chance.random() < 0.15:
            if chance.random() < (0.1 if self.lenient else 0.4):
                return chance.random() < 0.7
            return {"type": self._types()}
        made: dict[str, Any] = {}
        for _ in range(chance.randint(1, 4)):
            made.update(self._keyword(depth + 1))
        return made

    def _types(self) -> Any:
        count = self.chance.randint(5, 7) if self.lenient else self.chance.randint(1, 3)
        some = self.chance.sample(TYPES, count)
        return some if self.lenient or self.chance.random() < 0.5 else some[0]

    def _inner(self, depth: int) -> Any:
        """Draw the schema of a member or an item: there a reference may stand."""
        if self.defined and self.chance.random() < 0.25:
            return {"$ref": f"#/$defs/{self.chance.choice(self.defined)}"}
        return self._schema(depth)

    def _map(self, depth: int) -> dict[str, Any]:
        return {self.chance.choice(NAMES): self._inner(depth) for _ in range(self.chance.randint(1, 3))}

    def _list(self, depth: int) -> list[Any]:
        return [self._schema(depth) for _ in range(self.chance.randint(1, 2))]

    def _names(self) -> list[str]:
        return self.chance.sample(NAMES, self.chance.randrange(1 if self.lenient else 3))

    def _keyword(self, depth: int) -> dict[str, Any]:
        chance = self.chance
        most = chance.randint(3, 60) if self.lenient else chance.randint(0, 3)
        least = 0 if self.lenient and chance.random() < 0.9 else chance.randint(0, 2)
        scalar = chance.choice([-1, 0, 1, 1.5, 7])
        choose = {
            "type": lambda: self._types(),
            "maxItems": lambda: most,
            "maxProperties": lambda: most,
            "maxLength": lambda: most * 20,
            "minItems": lambda: least,
            "minProperties": lambda: least,
            "minLength": lambda: least,
            "uniqueItems": lambda: chance.random() < 0.7,
            "minimum": lambda: scalar - (10 if self.lenient else 0),
            "exclusiveMaximum": lambda: scalar + (1e22 if self.lenient else 0),
            "multipleOf": lambda: chance.choice([0.5, 0.1, 5e-324] if self.lenient else [1, 2, 0.5, 0.1]),
            "pattern": lambda: "^[^z]*$" if self.lenient else chance.choice(["^a", "b$", "^.$", "\\p{L}"]),
            "properties": lambda: self._map(depth),
            "patternProperties": lambda: {chance.choice(["^a", "b$", "1", "."]): self._inner(depth)},
            "additionalProperties": lambda: self._inner(depth),
            "propertyNames": lambda: {"maxLength": most} if self.lenient else self._schema(depth),
            "required": lambda: self._names(),
            "dependentRequired": lambda: {chance.choice(NAMES): self._names()},
            "dependentSchemas": lambda: {chance.choice(NAMES): self._schema(depth)},
            "items": lambda: self._inner(depth),
            "prefixItems": lambda: [self._inner(depth) for _ in range(chance.randint(1, 2))],
            "contains": lambda: True if self.lenient else self._schema(depth),
            "minContains": lambda: least,
            "maxContains": lambda: most + 1,
            "allOf": lambda: self._list(depth),
            "anyOf": lambda: [*self._list(depth), *([True] if self.lenient else [])],
            "oneOf": lambda: self._list(depth),
            "not": lambda: {"const": draw_value(chance)} if self.lenient else self._schema(depth),
            "if": lambda: self._schema(depth),
            "then": lambda: self._schema(depth),
            "else": lambda: self._schema(depth),
            "const": lambda: draw_value(chance),
            "enum": lambda: [draw_value(chance) for _ in range(chance.randint(1, 3))],
            "unevaluatedItems": lambda: self._schema(depth),
            "unevaluatedProperties": lambda: self._schema(depth),
        }
        seldom = {"const", "enum", "oneOf", "contains", "minContains", "uniqueItems"} if self.lenient else set()
        name = chance.choice([each for each in choose if each not in seldom or chance.random() < 0.3])
        return {name: choose[name]()}


def draw_schema(chance: Random, *, lenient: bool = False) -> Any:
    """Draw a JSON Schema of 2020-12 that has no problem."""
    return Schemas(chance, lenient=lenient).draw()
