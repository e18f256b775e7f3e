"""`AgentPlayground` in a real JupyterLab: ask, watch, decide, click in the answer, stop, go on."""

from collections.abc import Iterator

import pytest
from lab import Lab, LabPage
from playwright.sync_api import FrameLocator, Page, expect

from runbook_lib.widgets import _bundle

pytestmark = pytest.mark.browser

START = """\
from runbook_lib.deep_agent import build_agent
from runbook_lib.model import call, chat_model, http_error, say, stall
from runbook_lib.widgets import AgentPlayground
"""
IDEAS = 'root = Stack([Card([TextContent("Hello"), Buttons([Button("What is the weather in Seoul?")])])])'


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[LabPage]:
    _bundle.fetch()
    with lab.open([""]) as opened:
        yield opened


def play(notebook: LabPage, agent: str = "build_agent()") -> tuple[Page, FrameLocator]:
    notebook.run(f"{START}playground = AgentPlayground({agent})\nplayground")
    expect(notebook.page.get_by_role("textbox", name="Message")).to_be_visible()
    return notebook.page, notebook.page.frame_locator(".ouv-frame")


def ask(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Message").fill(text)
    page.get_by_role("textbox", name="Message").press("Enter")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")


def test_two_turns_on_one_thread(notebook: LabPage) -> None:
    page, answer = play(notebook)
    ask(page, "What is the Apple stock price?")
    expect(answer.get_by_text("$189.32")).to_be_visible()
    expect(page.locator(".apg-call")).to_contain_text('get_stock_price {"symbol": "AAPL"} ✓')
    expect(page.locator(".esv-lane b").first).to_have_text("run")
    ask(page, "And Microsoft?")
    expect(answer.get_by_text("MSFT")).to_be_visible()
    expect(page.locator(".apg-asked")).to_have_text(["What is the Apple stock price?", "And Microsoft?"])
    page.get_by_role("button", name="Show answer").click()
    expect(answer.get_by_text("$189.32")).to_be_visible()
    assert notebook.errors == []


@pytest.mark.parametrize(("choice", "outcome"), [("Approve", "Humidity"), ("Reject", "did not work")])
def test_a_tool_is_approved_or_rejected(notebook: LabPage, choice: str, outcome: str) -> None:
    page, answer = play(notebook, "build_agent(interrupt_on={'get_weather': True})")
    ask(page, "What is the weather in Seoul?")
    expect(page.locator(".apg-question code")).to_have_text('get_weather {"city":"Seoul"}')
    page.get_by_role("button", name=choice).click()
    expect(answer.get_by_text(outcome)).to_be_visible()
    expect(page.locator(".apg-question")).to_have_count(0)


def test_a_click_in_the_answer_is_the_next_message(notebook: LabPage) -> None:
    page, answer = play(
        notebook, f"build_agent(chat_model([say({IDEAS!r}), call('get_weather', city='Seoul'), say('Hi')]))"
    )
    ask(page, "Hello")
    answer.get_by_role("button", name="What is the weather in Seoul?").click()
    expect(page.locator(".apg-asked")).to_have_text(["Hello", "What is the weather in Seoul?"])
    expect(page.locator(".apg-call")).to_contain_text("get_weather")


def test_a_turn_is_stopped_and_goes_on(notebook: LabPage) -> None:
    turns = f"iter([stall(6, 60, say({IDEAS!r})), http_error(500), say({IDEAS!r})])"
    page, answer = play(notebook, f"build_agent(chat_model(lambda _, turns={turns}: next(turns)))")
    ask(page, "Hello")
    expect(page.locator(".apg-running")).to_have_count(1)
    page.get_by_role("textbox", name="Message").fill("typed meanwhile")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".apg-status").first).to_have_text("Stopped.")
    page.get_by_role("button", name="Go on from here").click()
    expect(page.locator(".apg-error")).to_contain_text("500")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("typed meanwhile")
    page.get_by_role("button", name="Go on from here").click()
    expect(answer.get_by_text("Hello")).to_be_visible()
    expect(page.locator(".apg-error")).to_have_count(0)
