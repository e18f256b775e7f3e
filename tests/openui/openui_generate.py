"""Programs nobody wrote: grown from the catalogs' signatures, then damaged, from one seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from openui_truths import programs

from runbook_lib.openui import Catalog

TEXTS = [
    "Sales",
    "",
    "매출 요약",
    "a \\n b",
    "it's",
    "50%",
    "https://e.org/a//b",
    "# no comment",
    "\\u00e9 \\q",
    "🌧 rain",
    "```",
]
NUMBERS = ["0", "7", "-3", "2.5", "1e3", "-0", "1e999", "5e-324", "9007199254740993", "1e", "007"]
OPERATORS = ["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "&", "|"]
BUILTINS = ["Count", "Sum", "First", "Filter", "Sort", "Round", "Each", "Nope", "Card", "toString"]
NOISE = [*"()[],:=?{}\n\"'\\`#;$@.- é\u00a0🙂\t", "```\n", "//", "null", "root", "__proto__", "x = ", "\r\n", "-1"]


class Generator:
    """One stream of programs."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.catalogs = {name: Catalog.load(name) for name in ("general", "chat")}
        self.corpus = [(row["catalog"], row["source"]) for row in programs().values() if len(row["source"]) < 3_000]

    def programs(self, count: int) -> Iterator[tuple[str, str]]:
        """(catalog, source), `count` times."""
        for _ in range(count):
            name, source = self.corpus_program() if self.random.random() < 0.3 else self.grown()
            for _ in range(self.random.choice((0, 0, 0, 1, 1, 2, 4, 8))):
                source = self.damaged(source)
            yield name, source

    def corpus_program(self) -> tuple[str, str]:
        """A program of the corpus, often with lines of another one."""
        name, source = self.random.choice(self.corpus)
        if self.random.random() < 0.4:
            lines = source.split("\n") + self.random.choice(self.corpus)[1].split("\n")
            source = "\n".join(self.random.sample(lines, len(lines)))
        return name, source

    def grown(self) -> tuple[str, str]:
        """A program of up to a dozen statements; most arguments fit their slots."""
        pick = self.random
        name = pick.choice(("general", "chat"))
        self.catalog = self.catalogs[name]
        self.names = ["root", "$n", "$list", "data", *[f"s{index}" for index in range(pick.randint(1, 6))]]
        lines = []
        for index, statement in enumerate(self.names):
            self.later = self.names[index + 1 :]
            if statement == "root":
                lines.append(f"root = {self.call(self.catalog.root, 0)}")
            elif statement == "data":
                lines.append(f"data = {pick.choice(('Query', 'Query', 'Mutation'))}({self.several(0, 4)})")
            else:
                lines.append(f"{statement} = {self.statement()}")
        if pick.random() < 0.3:
            pick.shuffle(lines)
        text = "\n".join(lines)
        return name, pick.choice((text, text, text, f"```\n{text}\n```", f"Here: it's\n{text}", f"{text}\n// end"))

    def statement(self) -> str:
        pick = self.random.random()
        if pick < 0.6:
            return self.call(self.random.choice(list(self.catalog.components)), 0)
        return self.value(None, 0)

    def call(self, name: str, depth: int) -> str:
        params = list(self.catalog.components[name].params)
        keep = len(params)
        while keep and not params[keep - 1].required and self.random.random() < 0.6:
            keep -= 1
        args = [self.value(slot, depth + 1) for slot in params[:keep]]
        if self.random.random() < 0.05:
            args.append(self.value(None, depth + 1))
        return f"{name}({', '.join(args)})"

    def value(self, slot, depth: int) -> str:
        pick = self.random
        if depth > 3 or pick.random() < 0.15:
            return pick.choice((self.name(), self.name(), "null", self.number()))
        if slot is None or pick.random() < 0.08:
            return self.anything(depth)
        if slot.kind == "array":
            return "[" + ", ".join([self.value(slot.items, depth + 1) for _ in range(pick.randint(0, 3))]) + "]"
        if slot.kind == "component":
            return self.call(pick.choice(slot.components), depth + 1)
        if slot.kind == "object":
            fields = [f"{key}: {self.value(field, depth)}" for key, field in slot.fields.items() if pick.random() < 0.8]
            return "{" + ", ".join(fields) + "}"
        if slot.kind == "union":
            return self.value(pick.choice(slot.options), depth)
        if slot.kind == "enum":
            return f'"{pick.choice(slot.choices)}"'
        simple = {"string": self.text, "number": self.number, "boolean": lambda: pick.choice(("true", "false"))}
        return simple[slot.kind]() if slot.kind in simple else self.anything(depth)

    def anything(self, depth: int) -> str:
        pick, inner = self.random, depth + 1
        choice = pick.randrange(12)
        if choice == 0:
            return f"{self.value(None, inner)} {pick.choice(OPERATORS)} {self.value(None, inner)}"
        if choice == 1:
            return f"{self.value(None, inner)} ? {self.value(None, inner)} : {self.value(None, inner)}"
        if choice == 2:
            return f"@{pick.choice(BUILTINS)}({self.several(0, 3)})"
        if choice == 3:
            return f"{self.name()}{pick.choice(('.rows', '[0]', '.a.b', '[$n]', '.5'))}"
        if choice == 4:
            return f'@Each({self.name()}, "it", {self.call(pick.choice(list(self.catalog.components)), inner)})'
        if choice == 5:
            return f"Action([@{pick.choice(('ToAssistant', 'OpenUrl', 'Run', 'Set', 'Reset'))}({self.several(1, 2)})])"
        if choice == 6:
            keys = pick.sample(("a", '"b c"', "type", "k", "1", "$n", "__proto__", "left"), pick.randint(0, 3))
            return "{" + ", ".join([f"{key}: {self.value(None, inner)}" for key in keys]) + "}"
        if choice == 7:
            return pick.choice(("!", "-", "(", "- ")) + self.value(None, inner)
        if choice == 8:
            return f"[{self.several(0, 3)}]"
        return pick.choice(
            (self.text, self.number, self.name, lambda: self.call(pick.choice(list(self.catalog.components)), inner))
        )()

    def several(self, least: int, most: int) -> str:
        return ", ".join([self.value(None, 3) for _ in range(self.random.randint(least, most))])

    def name(self) -> str:
        """A statement further down as a rule; cycles and unknown names now and then."""
        if self.later and self.random.random() < 0.95:
            return self.random.choice(self.later)
        return self.random.choice([*self.names, "missing", "it", "Card"])

    def text(self) -> str:
        quote = self.random.choice('"""\'')
        return quote + self.random.choice(TEXTS) + quote

    def number(self) -> str:
        return self.random.choice(NUMBERS)

    def damaged(self, source: str) -> str:
        """The program with one thing gone, added, doubled, moved or cut off."""
        pick = self.random
        at = pick.randint(0, len(source))
        kind = pick.randrange(7)
        if kind <= 1:
            return source[:at] + pick.choice(NOISE) + source[at:]
        if kind <= 3:
            return source[:at] + source[at + pick.choice((1, 1, 2, 9)) :]
        lines = source.split("\n")
        if kind == 4:
            lines.insert(pick.randint(0, len(lines)), pick.choice(lines))
            return "\n".join(lines)
        if kind == 5:
            pick.shuffle(lines)
            return "\n".join(lines)
        return source[:at] if pick.random() < 0.5 else source[at:]
