"""Executing a notebook, and the one form in which it is saved: two runs give the same bytes."""

import copy
import re
from pathlib import Path
from typing import Any

from runbook_lib.cli.project import ROOT

__all__ = ["as_text", "execute", "keep_unchanged", "normalise", "sanitisers"]

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}
CELL_METADATA = ("alt", "jupyter", "reason", "tags")
OUTPUT_METADATA = ("alt", "height", "width")
# A saved view has no kernel behind it and its model id is random: its text and HTML forms stay.
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KEEPS_OUTPUT, KEEPS_IMAGE = "nbval-ignore-output", "image-varies"


def execute(notebook: Any, folder: Path, timeout_seconds: int = 600) -> Any:
    """Return a copy of the notebook, run from the top in a fresh kernel of this environment.

    Raises `nbclient.exceptions.CellExecutionError`, which quotes the failing cell, and
    `nbclient.exceptions.CellTimeoutError`.
    """
    from nbclient import NotebookClient

    fresh = copy.deepcopy(notebook)
    client = NotebookClient(
        fresh,
        timeout=timeout_seconds,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],  # it warns that it listens on loopback unencrypted
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return fresh


def normalise(notebook: Any) -> Any:
    """Return the notebook with fixed metadata, merged streams, and nothing that differs from run to run."""
    from nbformat import from_dict

    cells = [normalise_cell(cell, number) for number, cell in enumerate(notebook["cells"], start=1)]
    fixed = {"metadata": copy.deepcopy(METADATA), "nbformat": 4, "nbformat_minor": 5}
    return from_dict({"cells": cells, **fixed})


def normalise_cell(cell: Any, number: int) -> dict[str, Any]:
    """Return one cell in its saved form; a cell without an id gets its number as one."""
    kept = {key: cell["metadata"][key] for key in CELL_METADATA if cell["metadata"].get(key)}
    saved = {
        "cell_type": cell["cell_type"],
        "id": cell.get("id") or f"cell-{number:02}",
        "metadata": kept,
        "source": cell["source"].rstrip("\n"),
    }
    if cell.get("attachments"):
        saved["attachments"] = cell["attachments"]
    if cell["cell_type"] == "code":
        saved["execution_count"] = cell["execution_count"]
        saved["outputs"] = [normalise_output(output) for output in merge_streams(cell["outputs"])]
    return saved


def merge_streams(outputs: list[Any]) -> list[Any]:
    """Return the outputs with neighbouring pieces of a stream joined: the kernel cuts anywhere."""
    merged: list[Any] = []
    for output in outputs:
        last = merged[-1] if merged else {"output_type": ""}
        if output["output_type"] == last["output_type"] == "stream" and output["name"] == last["name"]:
            merged[-1] = {**last, "text": last["text"] + output["text"]}
        else:
            merged.append(output)
    return merged


def normalise_output(output: Any) -> Any:
    """Return one output without widget models and without metadata that nobody reads."""
    if "data" not in output:
        return output
    data = {kind: value for kind, value in sorted(output["data"].items()) if kind != WIDGET_VIEW}
    metadata = {kind: kept_fields(fields) for kind, fields in sorted(output["metadata"].items())}
    return {**output, "data": data, "metadata": {kind: fields for kind, fields in metadata.items() if fields}}


def kept_fields(fields: Any) -> Any:
    """Return what is kept of an output's metadata for one media type; a plain value is kept as it is."""
    return {key: fields[key] for key in OUTPUT_METADATA if key in fields} if isinstance(fields, dict) else fields


def as_text(notebook: Any) -> str:
    """Return the bytes of the file, as text: sorted keys, one-space indent, one newline at the end."""
    from nbformat import validate, writes

    validate(notebook)
    return str(writes(notebook)).rstrip("\n") + "\n"


def sanitisers(text: str) -> list[tuple[re.Pattern[str], str]]:
    """Return the pattern and replacement pairs of an nbval sanitiser file.

    nbval reads only adjacent `regex:` and `replace:` lines; so does this.
    """
    pairs = re.findall(r"^regex: (.*)\nreplace: (.*)$", text, re.MULTILINE)
    return [(re.compile(pattern), replacement) for pattern, replacement in pairs]


def keep_unchanged(old: Any, new: Any) -> Any:
    """Return `new` with the old outputs wherever nbval would call them equal, so that times do not churn."""
    from nbformat import from_dict

    path = ROOT / "tests" / "nbval_sanitize.cfg"
    patterns = sanitisers(path.read_text("utf-8")) if path.exists() else []
    before = {cell["id"]: cell for cell in old["cells"] if cell["cell_type"] == "code"}
    for cell in new["cells"]:
        saved = before.get(cell["id"])
        if cell["cell_type"] == "code" and saved and same_outputs(saved, cell, patterns):
            count = cell["execution_count"]
            cell["outputs"] = [from_dict(recounted(output, count)) for output in saved["outputs"]]
    return new


def recounted(output: Any, count: int) -> Any:
    """Return a saved output with the execution count of the new run."""
    return {**output, "execution_count": count} if "execution_count" in output else output


def same_outputs(old: Any, new: Any, patterns: list[tuple[re.Pattern[str], str]]) -> bool:
    """Return whether two runs of a cell say the same, but for what its tags and the sanitisers exempt."""
    tags = new["metadata"].get("tags", [])
    if old["source"] != new["source"]:
        return False
    if KEEPS_OUTPUT in tags:
        return [kinds(output) for output in old["outputs"]] == [kinds(output) for output in new["outputs"]]
    images = KEEPS_IMAGE not in tags
    return comparable(old["outputs"], patterns, images) == comparable(new["outputs"], patterns, images)


def kinds(output: Any) -> tuple[str, ...]:
    """Return what sort of output this is: its type and the media types in it."""
    return (output["output_type"], output.get("name", ""), *sorted(output.get("data", {})))


def comparable(outputs: list[Any], patterns: list[tuple[re.Pattern[str], str]], images: bool) -> list[Any]:
    """Return the outputs with what varies replaced; images only when they are compared."""
    rows = []
    for output in outputs:
        parts = output.get("data", {"text": output.get("text", output.get("traceback", ""))})
        compared = {kind: part for kind, part in parts.items() if images or not kind.startswith("image/")}
        rows.append((kinds(output), {kind: replaced(str(part), patterns) for kind, part in compared.items()}))
    return rows


def replaced(text: str, patterns: list[tuple[re.Pattern[str], str]]) -> str:
    """Return the text after every sanitiser."""
    for pattern, replacement in patterns:
        text = pattern.sub(replacement, text)
    return text
