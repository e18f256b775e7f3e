"""`CheckpointExplorer`'s module in Chromium, with a model that stands in for Jupyter's."""

import json
import shutil
from pathlib import Path

import pytest

from runbook_lib.widgets import checkpoint_explorer
from runbook_lib.widgets.checkpoint_explorer import CheckpointExplorer

pytestmark = pytest.mark.browser

TRAITS = ("saver", "turns", "message_bytes", "k", "nodes", "_curves", "_points", "_summary")
PAGE = """
<!doctype html><style>%s</style><div id="view"></div><script type="module">
const state = %s, listeners = [];
const hears = (events, name) => events.split(" ").includes(`change:${name}`);
const changed = (name) => listeners.filter(([events]) => hears(events, name)).forEach(([, call]) => call());
window.model = {
  saved: 0, get: (name) => state[name], set: (name, value) => { state[name] = value; },
  on: (events, call) => listeners.push([events, call]),
  off: (events, call) => listeners.splice(listeners.findIndex(([, each]) => each === call), 1),
  save_changes() { this.saved += 1; Object.keys(state).forEach(changed); },
};
const widget = await import("data:text/javascript;base64,%s");
window.close_view = widget.default.render({ model: window.model, el: document.getElementById("view") });
</script>
"""


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    assert chromium, "browser tests need Chromium on the PATH"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    from base64 import b64encode

    folder = Path(checkpoint_explorer.__file__).parent
    view = CheckpointExplorer(saver="sqlite", turns=100, k=10)
    view._points = [[10, 147_000, "full"], [10, 42_000, "K=10"]]
    state = json.dumps({name: getattr(view, name) for name in TRAITS})
    module = b64encode((folder / "checkpoint_explorer.js").read_bytes()).decode()
    opened = browser.new_page(viewport={"width": 900, "height": 560})
    problems = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.set_content(PAGE % ((folder / "checkpoint_explorer.css").read_text(), state, module))
    opened.wait_for_selector(".cpx svg")
    yield opened
    assert problems == []
    opened.close()


def test_curves_points_and_summary_are_drawn(page):
    assert page.locator("polyline").count() == 2
    assert page.locator("circle.cpx-point").count() == page.locator("rect.cpx-point").count() == 1
    assert "sqlite, 100 turns" in page.locator(".cpx-summary").inner_text()
    assert page.locator("svg[role=img]").get_attribute("aria-label").startswith("sqlite, 100 turns")


def test_every_control_has_a_name_and_writes_its_trait(page):
    for name, trait in (("turns", "turns"), ("bytes of text", "message_bytes"), ("K", "k"), ("nodes a turn", "nodes")):
        slider = page.get_by_role("slider", name=name, exact=True)
        before = page.evaluate(f"model.get('{trait}')")
        slider.focus()
        page.keyboard.press("End")
        assert page.evaluate(f"model.get('{trait}')") > before
    page.get_by_label("saver").select_option("postgres")
    assert page.evaluate("model.get('saver')") == "postgres"
    assert page.evaluate("model.saved") >= 5


def test_sliders_stay_within_the_traits_limits(page):
    for key, expected in (("Home", [2, 0, 1, 1]), ("End", [5000, 20000, 5000, 10])):
        for slider in page.get_by_role("slider").all():
            slider.focus()
            page.keyboard.press(key)
        assert page.evaluate("['turns', 'message_bytes', 'k', 'nodes'].map((name) => model.get(name))") == expected


def test_a_closed_view_draws_no_more(page):
    page.evaluate("close_view()")
    page.evaluate("model.set('_summary', 'late'); model.save_changes()")
    assert page.locator(".cpx-summary").inner_text() != "late"
