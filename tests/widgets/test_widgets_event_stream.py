"""`EventStreamView` without a browser: what is sent, what is shown as text and HTML, recordings, live runs."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import TextMessageContentEvent
from hypothesis import given, settings
from hypothesis import strategies as st

from runbook_lib.widgets import EventStreamView
from runbook_lib.widgets._lanes import StreamReader
from runbook_lib.widgets._static import as_html, as_text
from runbook_lib.widgets._wire import as_event, to_json

RUN: list[dict[str, Any]] = [
    {"type": "RUN_STARTED", "threadId": "thread-9f", "runId": "run-77", "timestamp": 1700000000000},
    {"type": "TOOL_CALL_START", "toolCallId": "call-8Jx", "toolCallName": "get_weather", "timestamp": 1700000000010},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "call-8Jx", "delta": '{"city": "서울"}', "timestamp": 1700000000020},
    {"type": "TOOL_CALL_END", "toolCallId": "call-8Jx", "timestamp": 1700000000030},
    {"type": "TOOL_CALL_RESULT", "toolCallId": "call-8Jx", "messageId": "tm-1", "content": "맑음, 21 °C"},
    {"type": "TEXT_MESSAGE_START", "messageId": "lc-019a", "role": "assistant"},
    *[{"type": "TEXT_MESSAGE_CONTENT", "messageId": "lc-019a", "delta": delta} for delta in ("<b>맑", "음</b>")],
    {"type": "TEXT_MESSAGE_END", "messageId": "lc-019a"},
    {"type": "RUN_FINISHED", "threadId": "thread-9f", "runId": "run-77", "outcome": {"type": "success"}},
]
TEXT = """\
AG-UI run: 10 events, 3 lanes
run                 RUN_STARTED, RUN_FINISHED  | success
call 1 get_weather  START, ARGS, END, tool is running, RESULT  | {"city": "서울"} → 맑음, 21 °C
message 1           START, CONTENT x2, END  | <b>맑음</b>"""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
field_names = st.sampled_from(
    ["type", "messageId", "toolCallId", "toolCallName", "delta", "content", "subagentRunId", "namespace", "role"]
)
types = st.sampled_from([event["type"] for event in RUN] + ["SUBAGENT_STARTED", "REASONING_START", "STATE_DELTA", "?"])
any_event = st.dictionaries(field_names | st.text(), json_values, max_size=6)
likely_event = st.builds(lambda event, kind: {**event, "type": kind}, any_event, types)


@dataclass(frozen=True)
class Broken:
    """A violation as a checker may return it."""

    index: int | None
    rule: str
    message: str


def packet(view: EventStreamView, name: str = "_recording") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(view.get_state(name)[name])
    return found


def html(view: EventStreamView) -> str:
    return str(view._repr_mimebundle_()[0]["text/html"])


def test_plain_text_is_a_table_of_lanes() -> None:
    assert repr(EventStreamView(RUN)) == TEXT


def test_the_bundle_has_the_view_the_text_and_the_html() -> None:
    data, _ = EventStreamView(RUN)._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert data["text/plain"] == TEXT


def test_two_views_of_two_equal_runs_read_the_same() -> None:
    """Ids, times and model ids differ from run to run; neither text nor HTML may show them."""
    other = json.loads(json.dumps(RUN).replace("8Jx", "Zq0").replace("019a", "77ff").replace("17000", "18000"))
    one, two = EventStreamView(RUN), EventStreamView(other)
    assert repr(one) == repr(two)
    assert html(one) == html(two)
    for secret in ("8Jx", "019a", "17000", "thread-9f", "run-77", one.model_id):
        assert secret not in repr(one) + html(one)


def test_html_escapes_everything_an_event_says() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    events = [
        {"type": f"{hostile}_TYPE", "value": hostile},
        {"type": "TOOL_CALL_START", "toolCallId": hostile, "toolCallName": hostile},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": hostile, "agentName": hostile},
    ]
    shown = html(EventStreamView(events, [Broken(0, hostile, hostile)]))
    assert tags(shown) <= {
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
        "details",
        "summary",
        "p",
    }
    assert "&lt;img src=x" in shown


def tags(markup: str) -> set[str]:
    found: set[str] = set()

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            found.add(tag)

    Tags().feed(markup)
    return found


@given(st.lists(any_event | likely_event, max_size=12))
def test_no_event_is_refused_lost_or_fatal(events: list[dict[str, Any]]) -> None:
    taken = [as_event(event) for event in events]
    reader = StreamReader(taken)
    assert len(reader.rows) == len(events)
    assert {row.lane for row in reader.rows} == set(range(len(reader.lanes())))
    to_json(taken).encode()
    as_text(reader, []).encode()
    as_html(reader, []).encode()


@settings(max_examples=20)
@given(st.lists(likely_event, max_size=12), st.integers(0, 12))
def test_appending_says_the_same_as_opening(events: list[dict[str, Any]], cut: int) -> None:
    whole, grown = EventStreamView(events), EventStreamView(events[:cut])
    for event in events[cut:]:
        grown.append(event)
    assert packet(whole) == packet(grown)


def test_what_json_cannot_carry_is_shown_as_text() -> None:
    loop: list[Any] = []
    loop.append(loop)
    view = EventStreamView([{"type": "RAW", "event": loop, "value": float("nan"), "id": {1, 2}}, "not an event"])
    raw, stray = view.events
    assert raw == {"type": "RAW", "event": "[[...]]", "value": "nan", "id": "{1, 2}"}
    assert stray == {"type": "NOT_AN_EVENT", "value": "not an event"}


def test_protocol_objects_are_taken_in_wire_form() -> None:
    view = EventStreamView([TextMessageContentEvent(message_id="m", delta="hi")])
    assert view.events == [{"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "hi"}]


def test_violations_may_be_objects_or_dicts_and_may_concern_the_whole_run() -> None:
    view = EventStreamView(RUN, [Broken(4, "R1", "too late"), {"index": None, "rule": "R2", "message": "no end"}])
    assert [(each.index, each.rule) for each in view.violations] == [(4, "R1"), (None, "R2")]
    assert repr(view).splitlines()[-2:] == [
        "✕ R1 at event 4, TOOL_CALL_RESULT of call 1 get_weather: too late",
        "✕ R2: no end",
    ]
    assert "✕ R1 at event 4" in html(view)
    view.violations = [Broken(99, "R3", "beyond")]
    assert [each.index for each in view.violations] == [None]


def test_only_a_checked_run_says_how_many_violations_there_are() -> None:
    view = EventStreamView(RUN)
    assert view.violations is None
    assert "violation" not in repr(view) + html(view)
    view.violations = []
    assert (view.violations, view.get_state("_violations")["_violations"]) == ([], [])
    assert repr(view).startswith("AG-UI run: 10 events, 3 lanes, 0 violations\n")
    assert "3 lanes, 0 violations</caption>" in html(view)
    view.violations = None
    assert repr(view) == TEXT


def test_a_call_without_a_result_says_so() -> None:
    assert "END, no RESULT" in repr(EventStreamView(RUN[:4]))


def test_long_runs_stay_short_as_text_and_html() -> None:
    events = [{"type": "TEXT_MESSAGE_CONTENT", "messageId": str(place), "delta": "x"} for place in range(5000)]
    view = EventStreamView(events)
    assert "… and 4940 more lanes" in repr(view)
    assert len(repr(view)) < 10_000
    assert len(html(view)) < 20_000


def test_only_what_is_new_is_sent() -> None:
    view = EventStreamView(RUN[:6])
    view.append(RUN[6])
    sent = packet(view, "_batch")
    assert (sent["start"], sent["events"]) == (6, [RUN[6]])
    assert [lane["name"] for lane in sent["lanes"].values()] == ["message 1"]


def test_replacing_the_events_starts_afresh() -> None:
    view = EventStreamView(RUN, [Broken(4, "R1", "")])
    before = packet(view)["revision"]
    view.events = RUN[:2]
    assert packet(view)["revision"] == before + 1
    assert (view.events, view.violations, view.cursor) == (RUN[:2], None, -1)


def batches(view: EventStreamView) -> list[int]:
    starts: list[int] = []
    view.observe(lambda change: starts.append(change["new"]), "_batch")
    return starts


def test_extend_sends_an_iterable_together() -> None:
    view = EventStreamView(RUN[:1])
    starts = batches(view)
    assert view.extend(iter(RUN[1:]), interval=60).events == RUN
    assert starts == [1]


async def arriving(events: list[dict[str, Any]], fault: Exception | None = None) -> AsyncIterator[dict[str, Any]]:
    for event in events:
        await asyncio.sleep(0)
        yield event
    if fault:
        raise fault


def test_follow_sends_batches_and_ends_with_the_run() -> None:
    view = EventStreamView(RUN[:1])
    starts = batches(view)
    asyncio.run(view.follow(arriving(RUN[1:]), interval=60))
    assert view.events == RUN
    assert starts == [1]


def test_follow_shows_events_while_the_run_goes_on() -> None:
    view = EventStreamView()

    async def watch() -> int:
        gate = asyncio.Event()

        async def run() -> AsyncIterator[dict[str, Any]]:
            yield RUN[0]
            await gate.wait()
            yield RUN[1]

        following = asyncio.create_task(view.follow(run(), interval=0.001))
        while not view.events:
            await asyncio.sleep(0.001)
        seen = len(view.events)
        gate.set()
        await following
        return seen

    assert asyncio.run(watch()) == 1
    assert view.events == RUN[:2]


def test_what_came_before_a_fault_is_kept() -> None:
    view = EventStreamView()
    with pytest.raises(RuntimeError, match="dropped"):
        asyncio.run(view.follow(arriving(RUN[:3], RuntimeError("dropped")), interval=60))
    assert view.events == RUN[:3]


def test_a_recording_opens_as_it_was_saved(tmp_path: Path) -> None:
    events = [*RUN, {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "half \ud83d, line\u2028break"}]
    file = EventStreamView(events).save(tmp_path / "run.jsonl")
    assert EventStreamView.open(file).events == events
    assert len(file.read_bytes().split(b"\n")) == len(events) + 1
    assert "서울" in file.read_text("utf-8")
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("line", ["{broken", "[1]", '"text"'])
def test_a_damaged_recording_names_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text(f'{{"type": "RUN_STARTED"}}\n\n{line}\n', "utf-8")
    with pytest.raises(ValueError, match=r"Line 3 of run\.jsonl is not an AG-UI event"):
        EventStreamView.open(file)


def test_a_recording_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, other = EventStreamView(RUN).save(tmp_path / "run.jsonl"), EventStreamView(RUN[:1])
    with monkeypatch.context() as patch:
        patch.setattr("runbook_lib.widgets._wire.to_json", lambda value: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            other.save(file)
    assert EventStreamView.open(file).events == RUN


def test_the_widget_can_still_be_closed_and_opened() -> None:
    view = EventStreamView(RUN)
    view.close()
    view.open()
    assert view.comm is not None
