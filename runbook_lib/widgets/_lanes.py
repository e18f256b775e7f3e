"""What a run's AG-UI events mean: who an event belongs to, and which events form a pair.

Pure: text, HTML and the browser view all draw what `StreamReader` says. Event types and fields are those of
`ag_ui.core` 1.0.0; older and unknown types are kept and shown.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from runbook_lib.widgets._wire import Event, to_json

Kind = Literal["run", "text", "tool", "state", "other"]
KINDS: tuple[Kind, ...] = ("run", "text", "tool", "state", "other")

# Prefix of the type -> lane family, kind to filter by, field with the lane's id.
_FAMILIES: tuple[tuple[str, str, Kind, str], ...] = (
    ("TEXT_MESSAGE_", "message", "text", "messageId"),
    ("TOOL_CALL_", "call", "tool", "toolCallId"),
    ("REASONING_", "reasoning", "text", "messageId"),
    ("THINKING_", "reasoning", "text", "messageId"),
    ("ACTIVITY_", "activity", "state", "messageId"),
    ("SUBAGENT_", "subagent", "run", "subagentRunId"),
    ("RUN_", "run", "run", ""),
    ("STEP_", "run", "run", ""),
    ("STATE_", "run", "state", ""),
    ("MESSAGES_", "run", "state", ""),
)
_FAILURES = frozenset({"ERROR", "RUN_ERROR"})
_STARTS = frozenset({"START", "STARTED", "RUN_STARTED"})
_ENDS = frozenset({"END", "MESSAGE_END", "TEXT_MESSAGE_END", "FINISHED", "ERROR", "RUN_FINISHED", "RUN_ERROR"})
_TEXT_FIELDS = (
    *("delta", "content", "message", "toolCallName", "stepName", "name", "snapshot", "messages", "patch"),
    *("value", "event", "outcome", "result", "role"),
)
_PREVIEW = 160
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")
_DECEPTIVE = re.compile("[\u202a-\u202e\u2066-\u2069\ud800-\udfff]")  # text direction, lone surrogates


@dataclass(frozen=True)
class Row:
    """One event: its lane (index into the lanes), kind, phase within the lane, and a one-line text."""

    type: str
    kind: Kind
    phase: str
    lane: int
    text: str


@dataclass(frozen=True)
class Lane:
    """One message, tool call, reasoning block, activity, subagent or run.

    `start`, `end` and `result` are event indexes or None. `steps` is the run-length coded order of phases.
    `agent` names the subagent the lane belongs to ("" for the main agent).
    """

    family: str
    number: int
    detail: str
    agent: str
    order: tuple[int, int]
    first: int
    last: int
    start: int | None
    end: int | None
    result: int | None
    failed: bool
    steps: tuple[tuple[str, int], ...]
    text: str
    answer: str

    @property
    def short_name(self) -> str:
        """Family and number, such as `call 1`."""
        return "run" if (self.family, self.number) == ("run", 1) else f"{self.family} {self.number}"

    @property
    def name(self) -> str:
        """Name that stays the same from run to run, such as `call 1 get_weather`."""
        return f"{self.short_name} {self.detail}".rstrip()

    @property
    def is_waiting(self) -> bool:
        """True for a call whose arguments have ended and whose result has not come: END is not done."""
        return self.family == "call" and self.end is not None and self.result is None


@dataclass
class _Draft:
    """A lane while its events arrive."""

    family: str
    number: int
    agent: str
    order: tuple[int, int]
    first: int
    detail: str = ""
    last: int = 0
    start: int | None = None
    end: int | None = None
    result: int | None = None
    failed: bool = False
    steps: list[tuple[str, int]] = field(default_factory=list)
    text: str = ""
    answer: str = ""

    def add(self, index: int, phase: str, event: Event) -> None:
        self.last = index
        if self.steps and self.steps[-1][0] == phase:
            self.steps[-1] = (phase, self.steps[-1][1] + 1)
        else:
            self.steps.append((phase, 1))
        if phase in _STARTS:
            self.start = index
        elif phase in _ENDS:
            self.end = index
        elif phase == "RESULT":
            self.result = index
        self.failed = self.failed or phase in _FAILURES
        self._add_text(phase, event)

    def _add_text(self, phase: str, event: Event) -> None:
        self.detail = self.detail or _detail(self.family, event)
        if phase in ("RESULT", "FINISHED", "RUN_FINISHED") or phase in _FAILURES:
            self.answer = _event_text(event)
        elif self.family != "run" and isinstance(event.get("delta"), str) and len(self.text) < _PREVIEW:
            self.text = (self.text + event["delta"])[: 2 * _PREVIEW]

    def freeze(self) -> Lane:
        fields = {**vars(self), "steps": tuple(self.steps), "text": one_line(self.text)}
        return Lane(**fields)


@dataclass(frozen=True)
class _Agent:
    """A subagent: its number, its name on screen, and the index of its first lane."""

    number: int
    name: str
    home: int


class StreamReader:
    """Reads events one by one; `rows` has one entry per event, `lanes` one per thing that happened."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.rows: list[Row] = []
        self._drafts: list[_Draft] = []
        self._open: dict[tuple[str, str], int] = {}
        self._agents: dict[str, _Agent] = {}
        self._numbers: Counter[str] = Counter()
        for event in events:
            self.add(event)

    def add(self, event: Event) -> Row:
        """Place the next event in its lane and return its row."""
        kind, family, phase, id_field = _classify(_type_of(event))
        place = self._lane_of(family, phase, event.get(id_field), event)
        draft = self._drafts[place]
        draft.add(len(self.rows), phase, event)
        row = Row(one_line(_type_of(event), 80), kind, one_line(phase, 80), place, _event_text(event))
        self.rows.append(row)
        return row

    def lane(self, place: int) -> Lane:
        """Return the lane at that index as it stands now."""
        return self._drafts[place].freeze()

    def lanes(self) -> list[Lane]:
        """Return all lanes in order of their first event."""
        return [draft.freeze() for draft in self._drafts]

    def lanes_in_reading_order(self) -> list[Lane]:
        """Return all lanes with those of a subagent gathered under its first one."""
        return sorted(self.lanes(), key=lambda lane: lane.order)

    def _lane_of(self, family: str, phase: str, lane_id: object, event: Event) -> int:
        """The lane an event continues, or a new one: an id that starts again gets a second lane."""
        latest = (family, "")
        key = latest if lane_id in (None, "") else (family, str(lane_id))
        place = self._open.get(key)
        if place is None or (phase in _STARTS and self._drafts[place].start is not None):
            place = self._open_lane(family, event)
        self._open[key] = self._open[latest] = place
        return place

    def _open_lane(self, family: str, event: Event) -> int:
        place = len(self._drafts)
        agent = self._agent(event, place)
        if family == "subagent" and agent:
            number, name = agent.number, ""
        else:
            number, name = self._next_number(family), agent.name if agent else ""
        home = agent.home if agent else place
        self._drafts.append(_Draft(family, number, name, (home, place), len(self.rows)))
        return place

    def _next_number(self, family: str) -> int:
        self._numbers[family] += 1
        return self._numbers[family]

    def _agent(self, event: Event, place: int) -> _Agent | None:
        key, name = attribution(event)
        if not key:
            return None
        if key not in self._agents:
            number = self._next_number("subagent")
            self._agents[key] = _Agent(number, f"subagent {number} {one_line(name, 60)}".strip(), place)
        return self._agents[key]


def attribution(event: Event) -> tuple[str, str]:
    """Return key and readable name of the subagent an event is attributed to, or two empty strings.

    AG-UI 1.0 attributes by `subagentRunId`; `subagent`, `agentName` and LangGraph's `namespace` are read too.
    """
    run_id = event.get("subagentRunId")
    if isinstance(run_id, str) and run_id:
        return run_id, str(event.get("name") or "") if _type_of(event).startswith("SUBAGENT_") else ""
    for name in (event.get("subagent"), event.get("agentName")):
        if isinstance(name, str) and name:
            return name, name
    namespace = event.get("namespace")
    if isinstance(namespace, list):
        return "/".join(map(str, namespace)), ""
    return (namespace, "") if isinstance(namespace, str) else ("", "")


def one_line(text: str, limit: int = _PREVIEW) -> str:
    """Return text fit for one line: no control or text-direction characters, at most `limit` long."""
    shown = " ".join(_CONTROLS.sub(" ", text[: 2 * limit]).split())
    shown = _DECEPTIVE.sub("\ufffd", shown)
    return shown if len(shown) <= limit and len(text) <= 2 * limit else shown[: limit - 1] + "…"


def _type_of(event: Event) -> str:
    found = event.get("type")
    return found if isinstance(found, str) and found else "(no type)"


def _classify(event_type: str) -> tuple[Kind, str, str, str]:
    for prefix, family, kind, id_field in _FAMILIES:
        if event_type.startswith(prefix):
            phase = event_type if family == "run" else event_type.removeprefix(prefix)
            return kind, family, phase, id_field
    return "other", "run", event_type, ""


def _detail(family: str, event: Event) -> str:
    """What is worth knowing of a lane besides its number: the tool, the speaker, the subagent's name."""
    names = {"call": "toolCallName", "message": "role", "subagent": "name", "activity": "activityType"}
    found = event.get(names.get(family, ""))
    is_default = family == "message" and found == "assistant"
    return one_line(found, 60) if isinstance(found, str) and not is_default else ""


def _event_text(event: Event) -> str:
    found: Any = next((event[name] for name in _TEXT_FIELDS if event.get(name) not in (None, "")), "")
    if isinstance(found, dict) and set(found) == {"type"}:
        found = found["type"]
    return one_line(found if isinstance(found, str) else to_json(found))
