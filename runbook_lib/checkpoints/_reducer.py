"""`check_reducer`: whether a reducer keeps what a DeltaChannel asks of it, before any thread rests on it."""

import copy
import random
from collections.abc import Callable, Sequence
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
    """Return the rules of DeltaChannel that a reducer breaks; empty when none was found broken.

    `examples` are values that nodes write; hypothesis draws `cases` sequences of them, splits each at random
    places and shrinks what fails. `empty` makes the first state. An exception of the reducer is
    reported as well. Draws are the same in every run. Raises `ValueError` without examples.
    """
    if not examples:
        raise ValueError("check_reducer needs examples: a few values that your nodes write to the channel")

    def broken(sides: _Sides) -> Callable[[_Split], bool]:
        return lambda split: _differ(*_outcome(sides, reducer, empty, split))

    if _smallest(lambda split: any(broken(sides)(split) for sides in _RULES.values()), examples, cases) is None:
        return []
    found = []
    for rule, sides in _RULES.items():
        split = _smallest(broken(sides), examples, cases)
        if split is not None:
            got, expected = _outcome(sides, reducer, empty, split)
            found.append(
                BrokenRule(rule, tuple(write for batch in split for write in batch), repr(got), repr(expected))
            )
        if found and rule == "takes a list of writes":
            break
    return found


def _smallest(fails: Callable[[_Split], bool], examples: Sequence[Any], cases: int) -> _Split | None:
    """The smallest three batches of writes that fail, if hypothesis finds any."""
    from hypothesis import HealthCheck, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

    batch = st.lists(st.sampled_from(list(examples)), max_size=6)
    quiet = settings(max_examples=cases, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    try:
        smallest: _Split = find(st.tuples(batch, batch, batch), fails, settings=quiet, random=random.Random(0))
    except NoSuchExample:
        return None
    return smallest


def _differ(got: Any, expected: Any) -> bool:
    return bool(got != expected)


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


def _twice(reducer: Any, empty: Any, first: list[Any], xs: list[Any], ys: list[Any]) -> tuple[Any, Any]:
    again = copy.deepcopy(first)
    return _fold(reducer, empty(), first), _fold(reducer, empty(), again)


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
    "pure": _twice,
    "leaves its input alone": _input_after,
    "batching-invariant": _split_and_whole,
    "survives a snapshot": _stored_and_live,
}
