"""OpenUI Lang: speed against lang-core in Node.js, a Node.js pipe for each call, and lang-core in mini-racer.

    python bench/openui_speed.py [--json FILE]

All are measured in one run, in turns, on the same programs. Ratios are ours divided by theirs: below 1 is faster.
Times are milliseconds, the best of many; the "median" columns are the ratios of the medians. Needs Node.js and
npm; mini-racer only where it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from node_env import node_packages  # noqa: E402

from runbook_lib.openui import Catalog, StreamingParser, parse  # noqa: E402

SCHEMA = REPOSITORY / "tests" / "openui" / "truths" / "general.schema.json"
SIZES = (1, 5, 10, 20, 100, 1_000)
CHUNK = 20
LINES = (
    't{i} = TextContent("Line {i} of the report", "small")',
    'c{i} = Card([TextContent("Title {i}"), TextContent("Value {i}", "large-heavy")], "sunk")',
    'b{i} = BarChart(["Q1", "Q2", "Q3"], [Series("Sales", [1, {i}, 3])], "grouped", "x")',
    'u{i} = Buttons([Button("Go {i}", Action([@ToAssistant("open {i}")]))])',
)
NODE = """
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [core, schemaFile] = process.argv.slice(2);
const { createParser, createStreamingParser } = await import(core);
const schema = JSON.parse(readFileSync(schemaFile, "utf8")), parser = createParser(schema, "Stack");
const run = {
  parse: ({ source }) => parser.parse(source),
  repeat({ source, times }) {
    const spent = [];
    for (let i = 0; i < times; i++) {
      const start = performance.now(); parser.parse(source); spent.push(performance.now() - start);
    }
    return spent;
  },
  stream({ source, size }) {
    const stream = createStreamingParser(schema, "Stack"), spent = [];
    for (let at = 0; at < source.length; at += size) {
      const start = performance.now(); stream.push(source.slice(at, at + size)); spent.push(performance.now() - start);
    }
    return spent;
  },
};
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const request = JSON.parse(line);
  process.stdout.write(JSON.stringify(run[request.op](request)) + "\\n");
}
"""


def program(statements: int) -> str:
    """A valid program of that many statements."""
    names = [f"{'tcbu'[index % 4]}{index}" for index in range(statements - 1)]
    lines = [LINES[index % 4].replace("{i}", str(index)) for index in range(statements - 1)]
    return "\n".join([f"root = Stack([{', '.join(names)}])", *lines])


class Node:
    """lang-core in one Node.js process that answers JSON lines."""

    def __init__(self) -> None:
        core = (node_packages() / "node_modules/@openuidev/lang-core/dist/index.mjs").as_uri()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("OPENUI_")}
        command = ["node", "--input-type=module", "-e", NODE, "node", core, str(SCHEMA)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def __call__(self, op: str, **request: Any) -> Any:
        """One answer."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps({"op": op, **request}).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait(10)


def mini_racer() -> Callable[[str], Any] | None:
    """lang-core in a warm V8 context inside this process, or None where mini-racer is not installed."""
    try:
        from py_mini_racer import MiniRacer
    except ImportError:
        return None
    text = (node_packages() / "node_modules/@openuidev/lang-core/dist/index.mjs").read_text("utf-8")
    text = re.sub(r"^import .*?;$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^export \{.*?\};?$", "", text, flags=re.MULTILINE | re.DOTALL)
    stubs = "const getPostHogConfig=()=>null, normalizeProjectIdentity=()=>null, TELEMETRY_REQUEST_TIMEOUT_MS=0;"
    stubs += "const isRuntimeTelemetryEnabled=()=>false, object=()=>({}), z={}, process={env:{}};"
    context = MiniRacer()
    context.eval(stubs + text + ";0")
    context.eval(f'const P=createParser({SCHEMA.read_text("utf-8")},"Stack");const run=s=>JSON.stringify(P.parse(s));0')
    return lambda source: json.loads(context.call("run", source))


def clock(work: Callable[[], Any]) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def one_shot(node: Node, racer: Callable[[str], Any] | None) -> list[dict[str, Any]]:
    """A whole program, from text to result, for each size."""
    return [one_size(size, node, racer) for size in SIZES]


def one_size(size: int, node: Node, racer: Callable[[str], Any] | None) -> dict[str, Any]:
    """Each peer in turn, many times: the best of them, since other work on the machine only ever adds."""
    catalog, source = Catalog.load("general"), program(size)
    spent: dict[str, list[float]] = {"ours": [], "pipe": [], "mini-racer": [], "node": []}
    for _ in range(300 if size < 500 else 15):
        spent["ours"].append(clock(lambda: parse(source, catalog).as_dict()))
        spent["pipe"].append(clock(lambda: node("parse", source=source)))
        spent["node"] += node("repeat", source=source, times=3)
        if racer:
            spent["mini-racer"].append(clock(lambda: racer(source)))
    best = {name: min(values) for name, values in spent.items() if values}
    middle = {name: statistics.median(values) for name, values in spent.items() if values}
    ratios = {f"ours/{name}": best["ours"] / value for name, value in best.items() if name != "ours"}
    medians = {f"median {name}": middle["ours"] / value for name, value in middle.items() if name != "ours"}
    return {"statements": size, **best, **ratios, **medians}


def stream(source: str, read: str) -> list[float]:
    """Milliseconds of each push; `read` the tree after every push, at the end, or never."""
    parser, spent = StreamingParser("general"), []
    for at in range(0, len(source), CHUNK):
        start = time.perf_counter()
        result = parser.push(source[at : at + CHUNK])
        if read == "every push" or (read == "at the end" and at + CHUNK >= len(source)):
            result.as_dict()
        spent.append((time.perf_counter() - start) * 1e3)
    return spent


def streaming(node: Node) -> list[dict[str, Any]]:
    """A 1,000-statement stream in 20-character chunks: the total."""
    source = program(1_000)
    theirs = sum(node("stream", source=source, size=CHUNK))
    rows = []
    for read in ("at the end", "every push"):
        ours = min(sum(stream(source, read)) for _ in range(2))
        rows.append({"tree read": read, "ours": ours, "node": theirs, "ours/node": ours / theirs})
    return rows


def growth() -> dict[str, float]:
    """The cost of a push at the start and at the end of a 5,000-statement stream of equal lines."""
    lines = [LINES[0].replace("{i}", f"{index:04}") for index in range(5_000)]
    spent = stream("\n".join(lines), "never")
    tenth = len(spent) // 10
    start, end = statistics.median(spent[50:tenth]), statistics.median(spent[-tenth:])
    return {"start": start, "end": end, "end/start": end / start}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as aligned text."""
    head = list(rows[0])
    cells = [head] + [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in cells)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", help="write the figures to this file as well")
    chosen = options.parse_args()
    node, racer = Node(), mini_racer()
    figures = {"one-shot": one_shot(node, racer), "streaming": streaming(node), "growth": [growth()]}
    node.close()
    for title, rows in figures.items():
        print(f"\n{title} (milliseconds, ratios)\n{table(rows)}")
    if racer is None:
        print("\nmini-racer is not installed: its column is missing")
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
