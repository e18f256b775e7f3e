"""Recorded results of lang-core 0.2.18, and the comparison with ours."""

from __future__ import annotations

import hashlib
import json
import math
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

TRUTHS = Path(__file__).parent / "truths"
ERROR_KEYS = ("code", "component", "path", "statementId")


def rows(name: str) -> list[dict[str, Any]]:
    """The records of one JSON Lines file in `truths/`."""
    text = (TRUTHS / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def programs() -> dict[str, dict[str, Any]]:
    """The corpus by id: catalog, class, source, `clean` and `defect`."""
    return {row["id"]: row for row in rows("programs.jsonl")}


def plain(value: Any) -> Any:
    """A result as the truths spell it: numbers as JavaScript writes them, error texts left out."""
    if isinstance(value, dict):
        return {text(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"$num": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    return text(value) if isinstance(value, str) else value


def text(value: str) -> str:
    """Join the halves of surrogate pairs, as JavaScript strings do."""
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def shape(result: dict[str, Any]) -> dict[str, Any]:
    """`as_dict()` in the shape of the truths."""
    meta = dict(result["meta"])
    meta["errors"] = [{key: error[key] for key in ERROR_KEYS} for error in meta["errors"]]
    return plain({**result, "meta": meta})


def same(expected: Any, got: Any) -> bool:
    """Equality that tells true from 1."""
    return canonical(plain(expected)) == canonical(got)


def canonical(value: Any) -> str:
    """JSON with sorted keys, as the hashes of the stream truths are made from."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", lambda m: f"\\u{ord(m[0]):04x}", json.dumps(value, ensure_ascii=False))
    return number(value) if type(value) in (int, float) else json.dumps(value)


def number(value: float) -> str:
    """A finite number as JavaScript writes it."""
    digits = repr(float(value))
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        return format(Decimal(digits), "f").removesuffix(".0") if value else "0"
    mantissa, _, exponent = digits.partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"


def digest(value: Any) -> str:
    """The hash by which the stream truths know a value."""
    return hashlib.sha256(canonical(value).encode("utf-8")).hexdigest()[:16]
