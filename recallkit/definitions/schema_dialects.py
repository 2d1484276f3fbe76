"""The dialects of JSON Schema that recallkit reads, as validator classes of ``jsonschema``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from recallkit.definitions import json_schema
from recallkit.definitions.json_schema import (
    SPECIFICATIONS,
    Draft7Validator,
    Draft202012Validator,
    Registry,
    Resource,
    validators,
)
from recallkit.definitions.schema_keywords import (
    DRAFT_7_KEYWORDS,
    DRAFT_2020_KEYWORDS,
    ORDER,
    VALIDATION,
)
from recallkit.definitions.schema_run import active

DRAFT_2020: Final = "https://json-schema.org/draft/2020-12/schema"
DRAFT_7: Final = "http://json-schema.org/draft-07/schema"
CORE_VOCABULARY: Final = "https://json-schema.org/draft/2020-12/vocab/core"
VALIDATION_VOCABULARY: Final = "https://json-schema.org/draft/2020-12/vocab/validation"


def _applicable_2020(schema: Any) -> Iterable[tuple[str, Any]]:
    active.run.step()
    return [(name, schema[name]) for name in ORDER if name in schema]


def _applicable_7(schema: Any) -> Iterable[tuple[str, Any]]:
    active.run.step()
    if "$ref" in schema:
        return [("$ref", schema["$ref"])]
    pairs = [(name, schema[name]) for name in ORDER if name in schema]
    if "dependencies" in schema:
        pairs.append(("dependencies, schemas", schema["dependencies"]))
    return pairs


def _make(base: Any, keywords: Mapping[str, Any], applicable: Any, specification: Any, modern: bool) -> Any:
    made: Any = validators.create(
        meta_schema=base.META_SCHEMA,
        validators=keywords,
        type_checker=base.TYPE_CHECKER,
        id_of=specification.id_of,
        applicable_validators=applicable,
    )
    made.MODERN = modern
    made.SPECIFICATION = specification
    made.evolve = _evolve
    return made


def _evolve(self: Any, **changes: Any) -> Any:
    # jsonschema's own would fall back on its own classes, and on Python's patterns, at a schema with `$schema`.
    schema = changes.get("schema", self.schema)
    made = dialect_of(schema, type(self), self._registry)
    return made(
        schema=schema,
        registry=self._registry,
        _resolver=changes.get("_resolver", self._resolver),
    )


@cache
def draft_2020() -> Any:
    return _make(Draft202012Validator, DRAFT_2020_KEYWORDS, _applicable_2020, json_schema.DRAFT_2020, modern=True)


@cache
def draft_7() -> Any:
    return _make(Draft7Validator, DRAFT_7_KEYWORDS, _applicable_7, json_schema.DRAFT_7, modern=False)


@cache
def draft_2020_without_validation() -> Any:
    keywords = {name: check for name, check in DRAFT_2020_KEYWORDS.items() if name not in VALIDATION}
    return _make(Draft202012Validator, keywords, _applicable_2020, json_schema.DRAFT_2020, modern=True)


def dialect_of(schema: Any, default: Any, registry: Any) -> Any:
    """The validator class for a schema: what its ``$schema`` names, else the default."""
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(named, str):
        return default
    uri = named.partition("#")[0]
    if uri == DRAFT_2020:
        return draft_2020()
    if uri == DRAFT_7:
        return draft_7()
    meta = registry[uri].contents if uri in registry else None
    vocabularies = meta.get("$vocabulary") if isinstance(meta, dict) else None
    if not isinstance(vocabularies, dict) or CORE_VOCABULARY not in vocabularies:
        return default
    return draft_2020() if VALIDATION_VOCABULARY in vocabularies else draft_2020_without_validation()


def known_dialect(named: str, documents: Mapping[str, Any]) -> bool:
    uri = named.partition("#")[0]
    return uri in (DRAFT_2020, DRAFT_7) or uri in documents


def registry_of(documents: Mapping[str, Any], specification: Any) -> Any:
    """A registry of the documents given and the meta-schemas; it never fetches anything."""
    resources = [
        (uri, Resource.from_contents(contents, default_specification=specification))
        for uri, contents in documents.items()
    ]
    registry: Any = Registry()
    return SPECIFICATIONS.combine(registry.with_resources(resources)).crawl()


def specification_documents() -> dict[str, Any]:
    """The meta-schemas of both dialects, by URI, for the page loop's check."""
    kept = ("/draft/2020-12/", "/draft-07/")
    return {
        uri.rstrip("#"): SPECIFICATIONS.contents(uri) for uri in SPECIFICATIONS if any(part in uri for part in kept)
    }
