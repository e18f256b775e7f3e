"""The rules that every saved notebook keeps. Each is a function of a notebook and returns what breaks it."""

import ast
import re
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

MAX_TEXT_BYTES, MAX_IMAGE_BYTES = 60_000, 500_000
MAX_CELL_LINES, MAX_CODE_CELLS_IN_A_ROW, MAX_IGNORED_SHARE = 25, 3, 0.05
MACHINE_PATH = re.compile(
    r"(?:(?<![\w.:/])/(?:home|root|work|tmp|Users|opt|var/folders)/\w|[A-Za-z]:\\+Users\\|site-packages)"
)
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
WARNING_FILTER = re.compile(r"\b(?:filterwarnings|simplefilter|catch_warnings|captureWarnings)\b")
GATE_COMMENT = re.compile(r"#\s*(?:NBVAL_\w+|PYTEST_VALIDATE_\w+)", re.IGNORECASE)
IGNORED_TAGS = {"nbval-ignore-output", "raises-exception", "image-varies"}
FORBIDDEN_TAGS = {"nbval-skip", "skip-execution", "nbval-test-listed"}

Rule = Callable[[Any], list[str]]


def code_cells(notebook: Any) -> list[Any]:
    """Return the code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell: Any) -> set[str]:
    """Return the tags of a cell."""
    return set(cell.metadata.get("tags", []))


def outputs(notebook: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each output with its cell."""
    for cell in code_cells(notebook):
        for output in cell.outputs:
            yield cell, output


def texts(output: Any) -> Iterator[str]:
    """Yield what an output says: stream text, each text form of a result, a traceback."""
    yield output.get("text", "")
    yield "\n".join(output.get("traceback", []))
    for kind, value in output.get("data", {}).items():
        if not is_image(kind):
            yield value if isinstance(value, str) else str(value)


def is_image(kind: str) -> bool:
    """Return whether a media type is a picture stored as base64."""
    return kind.startswith("image/") and kind != "image/svg+xml"


def start(cell: Any) -> str:
    """Return the first line of a cell, to find it by."""
    return repr(cell.source.partition("\n")[0][:60])


def trees(notebook: Any) -> Iterator[tuple[Any, ast.Module]]:
    """Yield each code cell with its syntax tree; magics are turned into calls first."""
    for cell in code_cells(notebook):
        yield cell, ast.parse(TransformerManager().transform_cell(cell.source))


# What was run


def executed_in_order(notebook: Any) -> list[str]:
    """Every code cell was executed, from the top, once."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    return [] if counts == list(range(1, len(counts) + 1)) else [f"execution counts are {counts}"]


def no_empty_code_cell(notebook: Any) -> list[str]:
    """A cell that runs has something in it."""
    return [f"code cell {cell.id} is empty" for cell in code_cells(notebook) if not cell.source.strip()]


def no_errors(notebook: Any) -> list[str]:
    """No cell ended in an exception."""
    return [
        f"{start(cell)} raised {output.ename}" for cell, output in outputs(notebook) if output.output_type == "error"
    ]


def no_stderr(notebook: Any) -> list[str]:
    """No cell wrote to stderr: warnings and logs are not part of the story."""
    return [
        f"{start(cell)}: {output.text[:80]!r}" for cell, output in outputs(notebook) if output.get("name") == "stderr"
    ]


def nothing_of_this_machine(notebook: Any) -> list[str]:
    """No path and no memory address of the machine that ran it, in sources or outputs."""
    said = [(cell, text) for cell, output in outputs(notebook) for text in texts(output)]
    said += [(cell, cell.source) for cell in notebook.cells]
    found = [(cell, pattern.search(text)) for cell, text in said for pattern in (MACHINE_PATH, ADDRESS)]
    return [f"{start(cell)}: {match[0]}" for cell, match in found if match]


def small(notebook: Any) -> list[str]:
    """A notebook loads at once, also on GitHub."""
    text = sum(len(part.encode()) for _, output in outputs(notebook) for part in texts(output))
    data = [output.get("data", {}) for _, output in outputs(notebook)]
    images = sum(len(str(value)) for parts in data for kind, value in parts.items() if is_image(kind))
    over = [("text and HTML", text, MAX_TEXT_BYTES), ("images", images, MAX_IMAGE_BYTES)]
    return [f"{size} bytes of {what}, at most {most}" for what, size, most in over if size > most]


# How it reads


def prose(cell: Any) -> str:
    """Return a Markdown cell without its fenced code."""
    return re.sub(r"^(```|~~~).*?^\1", "", cell.source, flags=re.MULTILINE | re.DOTALL)


def headings(notebook: Any) -> list[tuple[int, str]]:
    """Return level and text of each heading."""
    markdown = [prose(cell) for cell in notebook.cells if cell.cell_type == "markdown"]
    return [(len(level), text) for source in markdown for level, text in re.findall(r"^(#{1,6}) +(.+)$", source, re.M)]


def headings_in_order(notebook: Any) -> list[str]:
    """One title, first of all, and no level left out on the way down."""
    levels = [level for level, _ in headings(notebook)]
    problems = (
        [] if levels[:1] == [1] and levels.count(1) == 1 else [f"heading levels are {levels}, not one title first"]
    )
    jumps = [pair for pair in pairwise(headings(notebook)) if pair[1][0] > pair[0][0] + 1]
    return problems + [f"{below[1]!r} skips a level below {above[1]!r}" for above, below in jumps]


def says_do_learn_need(notebook: Any) -> list[str]:
    """The first cell says, in bold or as headings, what the reader will do, learn and need."""
    first = notebook.cells[0] if notebook.cells else None
    if first is None or first.cell_type != "markdown":
        return ["the first cell is not Markdown"]
    marked = " ".join(bold_and_headings(first.source))
    return [f"the first cell does not say what you {word}" for word in ("do", "learn", "need") if not has(word, marked)]


def bold_and_headings(source: str) -> list[str]:
    """Return the texts in bold and the headings of a Markdown source."""
    return [bold or heading for bold, heading in re.findall(r"\*\*(.+?)\*\*|^#{2,6} +(.+)$", source, re.M)]


def has(word: str, text: str) -> bool:
    """Return whether a word occurs, in any case."""
    return re.search(rf"\b{word}\b", text, re.IGNORECASE) is not None


def prose_between_code(notebook: Any) -> list[str]:
    """Never more than three code cells without a word in between."""
    runs = [list(group) for kind, group in groupby(notebook.cells, key=lambda cell: cell.cell_type) if kind == "code"]
    return [
        f"{len(run)} code cells in a row from {start(run[0])}" for run in runs if len(run) > MAX_CODE_CELLS_IN_A_ROW
    ]


def short_cells(notebook: Any) -> list[str]:
    """A cell fits on a screen, unless its length is the lesson."""
    counted = [(cell, len(cell.source.splitlines())) for cell in code_cells(notebook) if "lesson" not in tags(cell)]
    return [f"{start(cell)} has {count} lines" for cell, count in counted if count > MAX_CELL_LINES]


def images_have_alt_text(notebook: Any) -> list[str]:
    """Every picture can be read aloud: Markdown images, HTML images, and the pictures that cells draw.

    A drawing cell says it in its metadata (`"alt": "..."`) or in the output's own metadata.
    """
    problems = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            problems += [f"{match} has no alt text" for match in re.findall(r"!\[\s*\]\([^)]*\)", prose(cell))]
            problems += [f"{image} has no alt text" for image in without_alt(cell.source)]
    for cell, output in outputs(notebook):
        problems += [
            f"{start(cell)}: {image[:60]} has no alt text" for text in texts(output) for image in without_alt(text)
        ]
        for kind in filter(is_image, output.get("data", {})):
            alt = output.metadata.get(kind, {}).get("alt") or cell.metadata.get("alt")
            problems += [] if alt and str(alt).strip() else [f"{start(cell)} draws a picture without alt text"]
    return problems


def without_alt(html: str) -> list[str]:
    """Return the <img> tags that have no alt attribute."""
    return [
        image for image in re.findall(r"<img\b[^>]*>", html) if not re.search(r"\balt\s*=\s*[\"']?[^\"'\s>]", image)
    ]


# What its code may do


def few_and_reasoned_exceptions(notebook: Any) -> list[str]:
    """At most one code cell in twenty is exempt from comparison; each says why; none is skipped."""
    cells = code_cells(notebook)
    exempt = [cell for cell in cells if tags(cell) & IGNORED_TAGS]
    problems = [f"{start(cell)} is exempt without metadata.reason" for cell in exempt if not has_reason(cell)]
    problems += [
        f"{start(cell)} is tagged {sorted(tags(cell) & FORBIDDEN_TAGS)}"
        for cell in cells
        if tags(cell) & FORBIDDEN_TAGS
    ]
    problems += [f"{start(cell)} exempts itself in a comment" for cell in cells if GATE_COMMENT.search(cell.source)]
    if len(exempt) > MAX_IGNORED_SHARE * len(cells):
        problems.append(f"{len(exempt)} of {len(cells)} code cells are exempt from comparison")
    return problems


def has_reason(cell: Any) -> bool:
    """Return whether the cell's metadata says in words why it is exempt."""
    reason = cell.metadata.get("reason")
    return isinstance(reason, str) and len(reason.split()) >= 3


def no_warning_filters(notebook: Any) -> list[str]:
    """Warnings are settled in the library, not hidden from the reader."""
    return [f"{start(cell)} filters warnings" for cell in code_cells(notebook) if WARNING_FILTER.search(cell.source)]


def no_hidden_library(notebook: Any) -> list[str]:
    """Functions live in the library, unless writing one is the lesson or the exercise."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    plain = [(cell, tree) for cell, tree in trees(notebook) if not tags(cell) & {"lesson", "exercise"}]
    defined = [(cell, node) for cell, tree in plain for node in ast.walk(tree) if isinstance(node, kinds)]
    return [f"{start(cell)} defines {node.name}()" for cell, node in defined]


def no_asyncio_run(notebook: Any) -> list[str]:
    """A kernel has a running loop: cells await."""
    calls = [(cell, node) for cell, tree in trees(notebook) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [f"{start(cell)} calls asyncio.run" for cell, call in calls if ast.unparse(call.func) == "asyncio.run"]


RULES: list[Rule] = [
    executed_in_order,
    no_empty_code_cell,
    no_errors,
    no_stderr,
    nothing_of_this_machine,
    small,
    headings_in_order,
    says_do_learn_need,
    prose_between_code,
    short_cells,
    images_have_alt_text,
    few_and_reasoned_exceptions,
    no_warning_filters,
    no_hidden_library,
    no_asyncio_run,
]
