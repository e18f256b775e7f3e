"""`EventStreamView` in a real JupyterLab: drawn, operable by keyboard, legible in the dark, quick at 10,000 events."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lab import Lab, LabPage
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

IMPORT = "from runbook_lib.widgets import EventStreamView\n"


def tool_run() -> list[dict[str, Any]]:
    """Two parallel calls, the second answered first, then an answer that holds markup."""
    calls = [("call_a", "get_weather"), ("call_b", "get_stock_price_of_a_company_listed_anywhere_in_the_world")]
    events: list[dict[str, Any]] = [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}]
    for call_id, name in calls:
        events.append({"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": name})
        events.append({"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": '{"city": "서울"}'})
        events.append({"type": "TOOL_CALL_END", "toolCallId": call_id})
    for call_id, _ in reversed(calls):
        events.append({"type": "TOOL_CALL_RESULT", "toolCallId": call_id, "messageId": "m", "content": "맑음"})
    events.append({"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"})
    for delta in ("서울은 ", "<img src=x onerror=alert(1)>", "맑아요"):
        events.append({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": delta})
    events.append({"type": "TEXT_MESSAGE_END", "messageId": "m1"})
    events.append({"type": "A_TYPE_OF_TOMORROW", "payload": 1})
    events.append({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"})
    return [{**event, "timestamp": 1_700_000_000_000 + 100 * place} for place, event in enumerate(events)]


def long_run(count: int) -> list[dict[str, Any]]:
    """`count` events: messages of 48 deltas."""
    types = ["START", *["CONTENT"] * 48, "END"]
    messages = [
        {"type": f"TEXT_MESSAGE_{types[place % 50]}", "messageId": f"m{place // 50}", "delta": "word "}
        for place in range(count - 2)
    ]
    return [{"type": "RUN_STARTED"}, *messages, {"type": "RUN_FINISHED"}]


Show = Callable[..., Page]


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[LabPage]:
    with lab.open([""]) as opened:
        yield opened


@pytest.fixture
def show(lab: Lab, notebook: LabPage) -> Iterator[Show]:
    """Shows events in a fresh view; nothing may have gone wrong in the page by the end of the test."""
    yield lambda events, more="": draw(lab, notebook, events, more)
    assert_no_errors(notebook)


def draw(lab: Lab, notebook: LabPage, events: list[dict[str, Any]], more: str = "") -> Page:
    (lab.folder / "run.jsonl").write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
    notebook.run(f"{IMPORT}view = EventStreamView.open('run.jsonl')\n{more}\nview")
    expect(notebook.page.locator(".esv-position")).to_contain_text(f"/ {len(events):,}")
    return notebook.page


def assert_no_errors(notebook: LabPage) -> None:
    expect(notebook.page.locator(".esv-error:visible")).to_have_count(0)
    assert notebook.errors == []


def position(page: Page, text: str) -> None:
    expect(page.locator(".esv-position")).to_have_text(text)


def test_lanes_pairs_and_json_are_drawn(show: Show) -> None:
    page = show(tool_run())
    expect(page.locator(".esv-lane")).to_have_count(4)
    expect(page.locator(".esv-lane b")).to_have_text(["run", "call 1", "call 2", "message 1"])
    expect(page.locator(".esv-gap")).to_have_count(2)
    expect(page.locator(".esv-gap-label")).to_have_text(["tool is running", "tool is running"])
    expect(page.locator(".esv-result")).to_have_count(2)
    expect(page.locator(".esv-row", has_text="A_TYPE_OF_TOMORROW")).to_be_visible()
    page.locator(".esv-row", has_text="onerror").click()
    shown = page.locator(".esv-json").text_content()
    assert shown is not None
    assert json.loads(shown) == tool_run()[11]
    assert page.locator(".esv img").count() == 0


def test_an_end_leads_to_its_result_and_says_how_long_the_tool_ran(show: Show) -> None:
    page = show(tool_run(), "view.cursor = 3")
    expect(page.locator(".esv-status")).to_have_text(["running", "tool is running", "not started", "not started"])
    expect(page.locator(".esv-pairs")).to_contain_text("tool ran for 500 ms after END")
    page.locator(".esv-pair", has_text="RESULT").click()
    position(page, "9 / 16")
    expect(page.locator(".esv-status").nth(1)).to_have_text("◆ result")


def test_the_keyboard_steps_plays_and_pauses(show: Show) -> None:
    page = show(tool_run())
    page.locator(".esv-list").focus()
    position(page, "16 / 16")
    page.keyboard.press("Home")
    position(page, "1 / 16")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    position(page, "2 / 16")
    page.keyboard.press("Space")
    expect(page.get_by_label("Pause (space)")).to_be_visible()
    expect(page.locator(".esv-position")).to_have_text(re.compile(r"^[3-9] / 16"))
    page.keyboard.press("Space")
    expect(page.get_by_label("Play (space)")).to_be_visible()
    page.keyboard.press("End")
    position(page, "16 / 16")


def test_every_control_is_reached_by_tab_with_a_visible_focus(show: Show) -> None:
    page = show(tool_run())
    page.locator(".esv-lanes").focus()
    reached = []
    for _ in range(10):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("() => document.activeElement.getAttribute('aria-label') ?? ''"))
        outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", reached[-1]
    assert {"Play (space)", "Event", "Playback speed", "Events"} <= set(reached)


def test_arrows_in_the_lanes_move_between_lanes(show: Show) -> None:
    page = show(tool_run(), "view.cursor = 0")
    page.locator(".esv-lanes").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".esv-lane[aria-selected=true] b")).to_have_text("call 1")
    position(page, "2 / 16")


def test_the_filter_hides_kinds_and_stepping_skips_them(show: Show) -> None:
    page = show(tool_run(), "view.cursor = 0")
    chip = page.locator(".esv-chip[data-kind=tool]")
    expect(chip).to_have_attribute("aria-pressed", "true")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".esv-row", has_text="TOOL_CALL")).to_have_count(0)
    page.locator(".esv-list").focus()
    page.keyboard.press("ArrowDown")
    position(page, "10 / 16")


def test_lanes_run_along_time_or_order_and_can_be_stretched(show: Show) -> None:
    page = show(tool_run(), "view.cursor = 3")
    bar = page.locator(".esv-bar").first
    expect(page.locator(".esv-ruler span").first).to_have_text("0.00 s")
    width = bar.bounding_box()
    page.get_by_label("Zoom of the lanes").select_option("4")
    page.get_by_label("Lanes along").select_option("order")
    expect(page.locator(".esv-ruler span").first).to_have_text("#0")
    stretched = bar.bounding_box()
    assert width is not None
    assert stretched is not None
    assert stretched["width"] > 2 * width["width"]


def test_violations_carry_rule_and_symbol(show: Show) -> None:
    broken = "view.violations = [{'index': 6, 'rule': 'result-missing', 'message': 'No RESULT came.'}]"
    page = show(tool_run(), broken)
    expect(page.locator(".esv-rule")).to_have_text("result-missing")
    page.get_by_role("button", name="✕ 1 violation").click()
    expect(page.locator(".esv-broken .esv-cell-symbol")).to_have_text("✕")
    expect(page.locator(".esv-fault")).to_have_text("✕ result-missing No RESULT came.")


def test_only_a_checked_run_says_how_many_violations_there_are(show: Show) -> None:
    expect(show(tool_run()).locator(".esv-summary")).not_to_contain_text("violation")
    expect(show(tool_run(), "view.violations = []").locator(".esv-summary")).to_contain_text("0 violations")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_contrasts_with_its_background(lab: Lab, dark: bool) -> None:
    names = ["summary strong", "lane b", "lane-detail", "status", "gap-label", "cell-type", "cell-text", "json"]
    with lab.open([""], dark=dark) as notebook:
        page = draw(lab, notebook, tool_run())
        back = luminance(style(page, ".esv", "backgroundColor"))
        assert (back < 0.05) is dark
        for name in names:
            ink = luminance(style(page, f".esv-{name}", "fill" if name == "gap-label" else "color"))
            ratio = (max(ink, back) + 0.05) / (min(ink, back) + 0.05)
            assert ratio >= 4.5, f"{name}: {ratio:.1f}"
        assert_no_errors(notebook)


def style(page: Page, selector: str, name: str) -> str:
    found = page.locator(selector).last.evaluate("(element, name) => getComputedStyle(element)[name]", name)
    return str(found)


def luminance(color: str) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [float(part) / 255 for part in re.findall(r"[\d.]+", color)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_ten_thousand_events_keep_the_page_small_and_a_scrub_answers(show: Show) -> None:
    page = show(long_run(10_000))
    position(page, "10,000 / 10,000")
    page.locator(".esv-scrub").fill("4321")
    position(page, "4,322 / 10,000")
    expect(page.locator(".esv-row[aria-selected=true] .esv-cell-number")).to_have_text("4321")
    assert page.locator(".esv-list *").count() < 300
    assert page.locator(".esv-lanes *").count() < 600


def test_a_live_run_arrives_in_every_view_of_it(lab: Lab) -> None:
    live = (
        "import asyncio\n"
        "async def run():\n"
        "    for place in range(200):\n"
        "        yield {'type': 'TEXT_MESSAGE_CONTENT', 'messageId': 'm1', 'delta': str(place)}\n"
        "        await asyncio.sleep(0.002)\n"
        "await view.follow(run())"
    )
    with lab.open([""]) as notebook:
        page = draw(lab, notebook, tool_run())
        notebook.run_below(live)  # its result is the view again: a second drawing, made after the last batch
        expect(page.locator(".esv-position")).to_have_text(["216 / 216", "216 / 216"])
        assert_no_errors(notebook)


def test_what_the_reader_selects_reaches_python(show: Show, notebook: LabPage, tmp_path: Path) -> None:
    heard = tmp_path / "cursor"
    page = show(tool_run())
    page.locator(".esv-row", has_text="onerror").click()
    page.wait_for_timeout(200)
    notebook.run_below(f"import pathlib\npathlib.Path({str(heard)!r}).write_text(str(view.cursor));")
    expect(page.locator(".esv-row[aria-selected=true] .esv-cell-number")).to_have_text(heard.read_text())


def test_a_fault_in_the_view_is_shown_in_it(notebook: LabPage, lab: Lab) -> None:
    page = draw(lab, notebook, tool_run())
    notebook.run_below("view.set_trait('_violations', [None]);")
    expect(page.get_by_role("alert")).to_contain_text("could not be drawn")
