"""`check_reducer`: whether a reducer keeps what a DeltaChannel asks of it, before any thread rests on it."""

import copy
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

Rule = Literal["takes a list of writes", "pure", "batching-invariant", "leaves its input alone", "survives a snapshot"]
_Split = tuple[list[Any], list[Any], list[Any]]
_Sides = Callable[..., tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that the reducer breaks, with the smallest writes found that show it and both results."""

    rule: Rule
    writes: tuple[Any, ...]
    got: str
    expected: str

    def __str__(self) -> str:
        return f"not so: {self.rule}. After writes {list(self.writes)!r} it gave {self.got}, expected {self.expected}"


def check_reducer(
    reducer: Callable[[Any, Sequence[Any]], Any],
    examples: Sequence[Any],
    *,
    empty: Callable[[], Any] = list,
    cases: int = 100,
) -> list[BrokenRule]:
    """Return the rules of DeltaChannel that a reducer breaks at the smallest writes found; empty when none is.

    `examples` are values that nodes write; hypothesis draws `cases` sequences of them, splits each at random
    places and shrinks what fails. `empty` makes the first state. An exception of the reducer is
    reported as well. Draws are the same in every run. Raises `ValueError` without examples.
    """
    from hypothesis import HealthCheck, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import Flaky, NoSuchExample

    if not examples:
        raise ValueError("check_reducer needs examples: a few values that your nodes write to the channel")
    smallest: list[BrokenRule] = []

    def fails(split: _Split) -> bool:
        broken = _broken(reducer, empty, split)
        if broken and (not smallest or len(broken[0].writes) <= len(smallest[0].writes)):
            smallest[:] = broken
        return bool(broken)

    batch = st.lists(st.sampled_from(list(examples)), max_size=6)
    quiet = settings(max_examples=cases, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    with suppress(NoSuchExample, Flaky):
        find(st.tuples(batch, batch, batch), fails, settings=quiet, random=random.Random(0))
    return smallest


def _broken(reducer: Any, empty: Callable[[], Any], split: _Split) -> list[BrokenRule]:
    """The rules broken by these batches; when writes are not even taken, that one alone."""
    writes = tuple(write for batch in split for write in batch)
    found = []
    for rule, sides in _RULES.items():
        got, expected = _outcome(sides, reducer, empty, split)
        if got != expected:
            found.append(BrokenRule(rule, writes, repr(got), repr(expected)))
        if found and rule == "takes a list of writes":
            break
    return found


def _outcome(sides: _Sides, reducer: Any, empty: Any, split: _Split) -> tuple[Any, Any]:
    try:
        return sides(reducer, empty, *copy.deepcopy(split))
    except Exception as error:
        return f"{type(error).__name__}: {error}", "no error"


def _fold(reducer: Any, state: Any, writes: list[Any]) -> Any:
    return reducer(state, writes) if writes else state


def _accepts(reducer: Any, empty: Any, first: list[Any], xs: list[Any], ys: list[Any]) -> tuple[Any, Any]:
    _fold(reducer, empty(), first + xs + ys)
    return None, None


def _again(reducer: Any, empty: Any, first: list[Any], xs: list[Any], ys: list[Any]) -> tuple[Any, Any]:
    once, *others = (_fold(reducer, empty(), copy.deepcopy(first + xs + ys)) for _ in range(5))
    return next((other for other in others if other != once), once), once


def _input_after(reducer: Any, empty: Any, first: list[Any], xs: list[Any], ys: list[Any]) -> tuple[Any, Any]:
    state = _fold(reducer, empty(), first)
    before = copy.deepcopy((state, xs))
    _fold(reducer, state, xs)
    return (state, xs), before


def _split_and_whole(reducer: Any, empty: Any, first: list[Any], xs: list[Any], ys: list[Any]) -> tuple[Any, Any]:
    split = _fold(reducer, _fold(reducer, _fold(reducer, empty(), first), xs), ys)
    return split, _fold(reducer, empty(), copy.deepcopy(first + xs + ys))


def _stored_and_live(reducer: Any, empty: Any, first: list[Any], xs: list[Any], ys: list[Any]) -> tuple[Any, Any]:
    serializer = JsonPlusSerializer()
    live = _fold(reducer, empty(), first + xs)
    stored = serializer.loads_typed(serializer.dumps_typed(live))
    return _fold(reducer, stored, ys), _fold(reducer, live, copy.deepcopy(ys))


_RULES: dict[Rule, _Sides] = {
    "takes a list of writes": _accepts,
    "pure": _again,
    "leaves its input alone": _input_after,
    "batching-invariant": _split_and_whole,
    "survives a snapshot": _stored_and_live,
}
