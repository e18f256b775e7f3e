"""TimeoutTimeline's own drawing, in headless Chromium: what is on the page is what Python said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runbook_lib.timeouts import Attempt, Recording, Signal
from runbook_lib.widgets import timeout_timeline
from runbook_lib.widgets.timeout_timeline import TimeoutTimeline

pytestmark = pytest.mark.browser
HERE = Path(timeout_timeline.__file__).parent
PAGE = """<!doctype html><style>{css}</style><div id="view"></div><script type="module">{js}
const state = {state}, listeners = [];
const model = {{ get: (name) => state[name], on: (_, call) => listeners.push(call), off() {{}} }};
window.change = (next) => {{ Object.assign(state, next); listeners.forEach((call) => call()); }};
Widget.render({{ model, el: document.getElementById("view") }});
</script>"""


def attempt(node: str, number: int, start: float, **more: Any) -> Attempt:
    return Attempt(node, "t", number, start, start + 1.0, start + 1.0, **{"outcome": "done", **more})


RECORDING = Recording(
    (
        attempt(
            "<img src=x onerror=boom()>", 1, 0.0, outcome="idle timeout", idle_timeout_seconds=0.5, refresh_on="auto",
            signals=(Signal("model chunk", 0.5), Signal("stream writer", 1.4, late=True)),
        ),
        attempt("<img src=x onerror=boom()>", 2, 1.5, run_timeout_seconds=0.9),
    )
)  # fmt: skip


def state(recording: Recording) -> dict[str, Any]:
    view = TimeoutTimeline(recording)
    return {"_headline": view._headline, "_lanes": view._lanes}


@pytest.fixture
def page() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    js = (HERE / "timeout_timeline.js").read_text("utf-8").replace("export default", "const Widget =")
    html = PAGE.format(
        css=(HERE / "timeout_timeline.css").read_text("utf-8"), js=js, state=json.dumps(state(RECORDING))
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opened = browser.new_page()
        problems: list[str] = []
        opened.on("pageerror", lambda error: problems.append(str(error)))
        opened.set_content(html)
        yield opened
        browser.close()
    assert problems == []


def test_lanes_deadlines_pause_and_table_are_drawn(page: Any) -> None:
    assert page.locator(".ttl-bar").count() == 2
    assert page.locator(".ttl-idle-clock").count() == 1
    assert page.locator(".ttl-run-clock").count() == 1
    assert page.locator(".ttl-pause title").text_content() == "back-off 0.50 s"
    assert page.locator(".ttl-late title").text_content() == "too late: stream writer at 1.40 s"
    assert page.locator(".ttl-table tbody tr").count() == 2
    assert "table below" in page.locator("svg").get_attribute("aria-label")


def test_names_are_text_and_nothing_else(page: Any) -> None:
    assert page.locator("img").count() == 0
    assert page.locator(".ttl-table td").first.text_content() == "<img src=x onerror=boom()>"


def test_another_recording_replaces_the_picture(page: Any) -> None:
    page.evaluate("next => change(next)", state(Recording((attempt("answer", 1, 0.0),))))
    assert page.locator(".ttl-bar").count() == 1
    assert page.locator(".ttl-head").text_content() == "Timeouts: 1 attempt, done"
