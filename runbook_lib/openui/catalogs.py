"""A `Catalog`: the components a program may use, and the order of their arguments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from .signatures import named_text
from .slots import Slot, from_notation, from_schema, python_fields

DATA = Path(__file__).parent / "catalog"


@dataclass(eq=False, slots=True)
class Component:
    """A component's name and its positional parameters, in order."""

    name: str
    params: tuple[Slot, ...]
    required: tuple[Slot, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.required = tuple(slot for slot in self.params if slot.required)

    def signature(self) -> str:
        """One line, e.g. `Series(category: string, values: [number])`."""
        return f"{self.name}({named_text(self.params)})"


@dataclass(eq=False)
class Catalog:
    """The components of one component library, and the name of its root component.

    Build one with `Catalog.load` (a JSON file, or "general" or "chat"), `Catalog.from_schema` (the
    JSON Schema lang-core's `createParser` takes) or `Catalog.of` (a few lines of Python).
    """

    components: dict[str, Component]
    root: str | None = None

    @classmethod
    def load(cls, source: str | Path | Catalog) -> Catalog:
        """The catalog of that name or in that file; a `Catalog` is returned as it is.

        Raises:
            FileNotFoundError: neither a built-in name nor a file.
            ValueError: the file is not a catalog.
        """
        return source if isinstance(source, Catalog) else _load(str(source))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Catalog:
        """A catalog from its JSON form: `{"name", "root", "components": {name: [parameter, ...]}}`."""
        components = {}
        for name, entry in data["components"].items():
            params = entry["params"] if isinstance(entry, Mapping) else entry
            components[name] = Component(name, tuple(map(from_notation, params)))
        return cls(components, data.get("root"))

    @classmethod
    def from_schema(cls, schema: Mapping[str, Any], root: str | None = None) -> Catalog:
        """A catalog from a JSON Schema document whose `$defs` are the components."""
        components = {}
        for component, definition in schema.get("$defs", {}).items():
            required = definition.get("required", ())
            params = definition.get("properties", {}).items()
            slots = tuple(from_schema(part, key, key in required) for key, part in params)
            components[component] = Component(component, slots)
        return cls(components, root)

    @classmethod
    def of(cls, root: str, components: Mapping[str, Mapping[str, Any]]) -> Catalog:
        """A catalog from lines of Python, parameters in order; a `?` at the end of a name makes it optional.

        `{"Panel": {"parts": ["Text", "Chart"]}, "Text": {"text": str, "tone?": ("good", "bad")}}`: str, float
        and bool are values, object is anything, "Name" a component, a tuple its literals, [..] a list, {..} an
        object.
        """
        built = {key: Component(key, tuple(python_fields(params))) for key, params in components.items()}
        return cls(built, root)

    def signatures(self, only: Iterable[str] | None = None) -> str:
        """One signature a line, of every component or of those named."""
        names = self.components if only is None else only
        return "\n".join(self.components[name].signature() for name in names)

    def prompt(self, only: Iterable[str] | None = None) -> str:
        """A system prompt section that teaches a model this catalog: rules, signatures and two examples.

        `only` keeps the prompt small: those components and whatever their slots need.
        """
        from .prompt import prompt_section

        return prompt_section(self, only)


@cache
def _load(source: str) -> Catalog:
    path = DATA / f"{source}.json"
    if not path.is_file():
        path = Path(source)
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in DATA.glob("*.json")))
        raise FileNotFoundError(f'No catalog "{source}". Give one of {known}, or the path of a JSON file.')
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if "$defs" in data:
            return Catalog.from_schema(data, _schema_root(path))
        return Catalog.from_dict(data)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path} is not a catalog: {error!r}. It needs a `components` object, or `$defs` as in JSON Schema."
        ) from error


def _schema_root(path: Path) -> str | None:
    """The root a schema file cannot name: that of the catalog file beside it, if there is one."""
    beside = path.with_name(path.name.replace(".schema.json", ".json"))
    if beside == path or not beside.is_file():
        return None
    root = json.loads(beside.read_text(encoding="utf-8")).get("root")
    return root if isinstance(root, str) else None
