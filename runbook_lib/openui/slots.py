"""What an argument may be: one `Slot` for each parameter, list item or object field of a catalog.

A slot is read from the catalog's own notation (`{"type": "string", "enum": [...]}`) or from JSON
Schema. `Slot.kind` is one of any, string, number, boolean, enum, component, array, object, record,
union, or other (a schema type the language has no value for).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .nodes import SCALARS

KINDS = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean"}
NULL: frozenset[type] = frozenset({type(None)})
PYTHON_TYPES: dict[str, frozenset[type]] = {
    "string": frozenset({str, type(None)}),
    "number": frozenset({int, float, type(None)}),
    "boolean": frozenset({bool, type(None)}),
    **dict.fromkeys(("any", "component", "union", "other"), SCALARS),
}
COMPOSITE = ("$ref", "anyOf", "oneOf", "allOf")


MISSING: Any = object()  # no default (None is a legal one)


@dataclass(eq=False, slots=True)
class Slot:
    """One place a value goes: a parameter, a list item, or a field of an object."""

    kind: str = "any"
    name: str = ""
    required: bool = False
    default: Any = MISSING
    choices: tuple[Any, ...] = ()
    components: tuple[str, ...] = ()
    items: Slot | None = None
    fields: dict[str, Slot] = field(default_factory=dict)
    options: tuple[Slot, ...] = ()
    min_items: int = 0
    binding: bool = False
    action: bool = False
    open: bool = False  # an object that may carry keys the catalog does not name
    free: bool = True  # lang-core accepts any data here (components are another matter, see `plain`)
    plain: bool = False  # lang-core refuses a component here
    accepts: frozenset[Any] = frozenset()  # the members of an all-string enum
    types: frozenset[type] = frozenset()  # Python types that fit without looking at the value

    def __post_init__(self) -> None:
        self.plain = self.plain or self.kind not in ("any", "component", "union")
        self.free = self.kind in ("any", "component", "union", "other")
        self.types = PYTHON_TYPES.get(self.kind, NULL)
        if self.kind == "enum" and all(type(choice) is str for choice in self.choices):
            self.accepts = frozenset(self.choices)


def from_notation(entry: Mapping[str, Any]) -> Slot:
    """The slot a catalog file describes, e.g. `{"name": "gap", "type": "string", "enum": ["s", "m"]}`.

    Raises:
        ValueError: a type the notation does not have.
    """
    return replace(
        _shape(entry),
        name=entry.get("name", ""),
        required=bool(entry.get("required")),
        default=entry.get("default", MISSING),
        binding=bool(entry.get("binding")),
        action=bool(entry.get("action")),
    )


def _shape(entry: Mapping[str, Any]) -> Slot:
    kind = entry.get("type", "any")
    if "enum" in entry or "const" in entry:
        return Slot("enum", choices=tuple(entry["enum"]) if "enum" in entry else (entry["const"],))
    if kind in KINDS:
        return Slot(KINDS[kind])
    if kind == "component":
        return Slot("component", components=tuple(entry.get("ref", ())))
    if kind == "array":
        items = entry.get("items")
        return Slot("array", items=from_notation(items) if items else None, min_items=entry.get("min_items", 0))
    if kind == "object" and "values" in entry:
        return Slot("record", items=from_notation(entry["values"]))
    if kind == "object":
        return Slot("object", fields=_named(map(from_notation, entry.get("fields", ()))))
    if kind == "union":
        return Slot("union", options=tuple(map(from_notation, entry.get("of", ()))))
    if kind == "any":
        return Slot()
    raise ValueError(
        f'catalog: unknown type "{kind}" of "{entry.get("name", "?")}". '
        "Known: any, string, number, boolean, component, array, object, union."
    )


def _named(slots: Iterable[Slot]) -> dict[str, Slot]:
    return {slot.name: slot for slot in slots}


def from_schema(schema: Any, name: str = "", required: bool = False) -> Slot:
    """The slot a JSON Schema fragment describes, read the way lang-core's `createParser` reads it."""
    if not isinstance(schema, Mapping):
        return Slot(name=name, required=required)
    slot = _schema_shape(schema)
    return replace(slot, name=name, required=required, default=schema.get("default", MISSING))


def _schema_shape(schema: Mapping[str, Any]) -> Slot:
    if any(key in schema for key in COMPOSITE):
        return _composite(schema)
    kind = schema.get("type")
    if kind == "object":
        return _schema_object(schema)
    if kind == "array":
        items = schema.get("items")
        return Slot(
            "array", items=from_schema(items) if isinstance(items, Mapping) else None,
            min_items=schema.get("minItems", 0),
        )  # fmt: skip
    if isinstance(schema.get("enum"), list):
        return Slot("enum", choices=tuple(schema["enum"]))
    if "const" in schema:
        return Slot("enum", choices=(schema["const"],))
    if isinstance(kind, str):
        return Slot(KINDS.get(kind, "other"))
    return Slot()


def _schema_object(schema: Mapping[str, Any]) -> Slot:
    fields, values = schema.get("properties"), schema.get("additionalProperties")
    if not fields and isinstance(values, Mapping):
        return Slot("record", items=from_schema(values))
    required = schema.get("required", ())
    named = {key: from_schema(value, key, key in required) for key, value in (fields or {}).items()}
    return Slot("object", fields=named, open=values is not False)


def _composite(schema: Mapping[str, Any]) -> Slot:
    options = [from_schema(part) for part in schema.get("anyOf") or schema.get("oneOf") or ()]
    if "$ref" in schema:
        return Slot("component", components=(str(schema["$ref"]).rsplit("/", 1)[-1],))
    if options and all(option.kind == "component" for option in options):
        return Slot("component", components=tuple(name for option in options for name in option.components))
    acts = any("type" in option.fields for option in options)  # what Action(...) comes to has a `type`
    return Slot("union", options=tuple(options), action=acts) if options else Slot()


def python_fields(params: Mapping[str, Any]) -> list[Slot]:
    """Slots from Python: `{"text": str, "tone?": ("good", "bad")}` (see `Catalog.of`)."""
    return [
        replace(_python(kind), name=name.removesuffix("?"), required=not name.endswith("?"))
        for name, kind in params.items()
    ]


def _python(kind: Any) -> Slot:
    if isinstance(kind, type):
        names = {str: "string", float: "number", int: "number", bool: "boolean", object: "any"}
        return Slot(names[kind])
    if isinstance(kind, str):
        return Slot("component", components=(kind,))
    if isinstance(kind, tuple):
        return Slot("enum", choices=kind)
    if isinstance(kind, dict):
        return Slot("object", fields=_named(python_fields(kind)))
    names_only = len(kind) > 1 or isinstance(kind[0], str)
    return Slot("array", items=Slot("component", components=tuple(kind)) if names_only else _python(kind[0]))
