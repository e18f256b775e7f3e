"""`OpenUIView` in a real JupyterLab: OpenUI's own components, and a frame that nothing leaves."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from lab import Lab, LabPage
from playwright.sync_api import FrameLocator, Page, expect

from runbook_lib.widgets import _bundle

pytestmark = pytest.mark.browser

# The answer that the source prints for the Apple stock price.
AAPL = """\
root = Stack([card])
card = Card([header, price, change, details], "card", "column", "m", "start", "center")
header = TextContent("Apple Stock (AAPL)", "large-heavy")
price = TextContent("$189.32", "large-heavy")
change = TextContent("-0.52 (-0.27%)", "default")
details = EntityList([
{left: "Volume", right: "45.1M"},
{left: "Day High", right: "$191.86"},
{left: "Day Low", right: "$188.12"}
], "default")"""
LINKS = """\
root = Stack([Buttons([evil, site, relative]), MarkDownRenderer("[inline](https://example.com/inline)")])
evil = Button("Evil", Action([@OpenUrl("javascript:alert(1)")]))
site = Button("Site", Action([@OpenUrl("https://example.com/page")]))
relative = Button("Relative", Action([@OpenUrl("/api/contents")]))"""
FORM = """\
root = Stack([Card([more, form])])
more = Buttons([Button("Tell me more")])
form = Form("contact", Buttons([Button("Send")]), [FormControl("Name", Input("name", "Your name"))])"""
DOUBLING = "\n".join(["root = Stack([a0])", *(f"a{i} = Stack([a{i + 1}, a{i + 1}])" for i in range(30))])
REACH_OUT = """async (address) => {
    const attempt = async (act) => { try { await act(); return 'reached'; } catch (error) { return error.name; } };
    return {
        page: await attempt(() => window.parent.document.body.innerHTML),
        top: await attempt(() => { window.top.location.href = address; return window.top.location.href; }),
        storage: await attempt(() => window.localStorage.length),
        cookie: await attempt(() => document.cookie),
        network: await attempt(() => fetch(address)),
        code: await attempt(() => {
            const script = document.createElement('script');
            script.textContent = 'window.intruded = true';
            document.body.append(script);
            if (!window.intruded) throw new RangeError('the policy holds');
        }),
    };
}"""
CRASH = b";window.__OpenUI.Renderer = () => { throw new Error('a component broke'); };"


@dataclass
class Files:
    """A server on loopback that counts who comes."""

    url: str
    content: dict[str, bytes]
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def files() -> Iterator[Files]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            body = served.content.get(self.path.lstrip("/"))
            self.send_response(200 if body is not None else 404)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served = Files(f"http://127.0.0.1:{server.server_port}", {})
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield served
        server.shutdown()


@pytest.fixture(scope="session")
def bundle() -> tuple[bytes, bytes]:
    """The pinned bundle; the first test that needs it fetches it with npm, as the set-up does."""
    _bundle.fetch()
    found = _bundle.cached()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def notebook(lab: Lab, bundle: object) -> Iterator[LabPage]:
    with lab.open([""]) as opened:
        yield opened


def draw(notebook: LabPage, program: str, more: str = "") -> FrameLocator:
    notebook.run(f"from runbook_lib.widgets import OpenUIView, _bundle\n{more}\nview = OpenUIView({program!r})\nview")
    return notebook.page.frame_locator(".ouv-frame")


def note(page: Page, text: str) -> None:
    expect(page.locator(".ouv-note")).to_contain_text(text)
    expect(page.locator(".ouv-text")).to_be_visible()


def told(notebook: LabPage, lab: Lab, expression: str) -> str:
    """What an expression is in the kernel, as text."""
    file = lab.folder / "told"
    file.unlink(missing_ok=True)
    notebook.run_below(f"import pathlib\npathlib.Path({str(file)!r}).write_text(str({expression}));")
    return file.read_text("utf-8")


def test_the_sample_of_the_source_is_drawn_by_the_real_components(notebook: LabPage) -> None:
    inside = draw(notebook, AAPL)
    expect(inside.get_by_text("$189.32")).to_be_visible()
    expect(inside.locator("[class*=openui-entity-list]").first).to_contain_text("Day High")
    frame = notebook.page.locator(".ouv-frame")
    assert frame.get_attribute("sandbox") == "allow-scripts"
    box, content = frame.bounding_box(), inside.locator("#root").bounding_box()
    assert box is not None
    assert content is not None
    assert abs(box["height"] - content["height"]) < 2
    expect(notebook.page.locator(".ouv-text")).to_be_hidden()
    expect(notebook.page.locator(".ouv-problems")).to_be_hidden()
    assert notebook.errors == []


def test_the_view_is_rebuilt_as_the_text_streams_in(notebook: LabPage) -> None:
    cut = AAPL.index("price = ")
    inside = draw(notebook, AAPL[:cut])
    expect(inside.get_by_text("Apple Stock (AAPL)")).to_be_visible()
    assert inside.get_by_text("$189.32").count() == 0
    notebook.run_below(
        "import asyncio\nasync def text():\n"
        f"    for piece in {[AAPL[at : at + 20] for at in range(0, len(AAPL), 20)]!r}:\n"
        "        yield piece\n        await asyncio.sleep(0.005)\n"
        "await view.follow(text());"
    )
    expect(inside.get_by_text("$188.12")).to_be_visible()


def test_what_the_reader_does_arrives_in_python(notebook: LabPage, lab: Lab) -> None:
    inside = draw(notebook, FORM, "heard = []")
    notebook.run_below("view.on_action(heard.append);")
    inside.get_by_role("button", name="Tell me more").click()
    inside.get_by_placeholder("Your name").fill("Min-ji")
    inside.get_by_role("button", name="Send").click()
    notebook.page.wait_for_timeout(200)
    assert told(notebook, lab, "[each['message'] for each in heard]") == "['Tell me more', 'Send']"
    assert told(notebook, lab, "view.last_action['form']") == "contact"
    assert told(notebook, lab, "view.last_action['values']") == "{'name': 'Min-ji'}"


def test_links_are_refused_or_opened_after_consent(notebook: LabPage) -> None:
    page, inside = notebook.page, draw(notebook, LINKS)
    for name in ("Evil", "Relative"):
        inside.get_by_role("button", name=name).click()
        expect(page.locator(".ouv-refusal")).to_contain_text("Link refused")
        expect(page.locator(".ouv-consent")).to_be_hidden()
    inside.get_by_role("link", name="inline").click()
    expect(page.locator(".ouv-consent b")).to_have_text("https://example.com/inline")
    page.get_by_role("button", name="Cancel").click()
    page.context.route("https://example.com/**", lambda route: route.fulfill(body="there"))
    inside.get_by_role("button", name="Site").click()
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Open", exact=True).click()
    assert opened.value.url == "https://example.com/page"
    opened.value.close()
    assert len(page.context.pages) == 1


def test_a_remote_image_is_not_loaded(notebook: LabPage, files: Files) -> None:
    address = f"{files.url}/beacon.png"
    inside = draw(notebook, f'root = Stack([ImageBlock("{address}", "Chart"), MarkDownRenderer("![x]({address}?md)")])')
    expect(inside.locator("img[data-remote]")).to_have_count(2)
    inside.locator("img[data-remote]").first.click()
    expect(notebook.page.locator(".ouv-consent b")).to_have_text(address)
    assert files.asked == []
    notebook.errors.clear()  # the browser says that its policy held


def test_from_inside_there_is_no_page_no_storage_and_no_network(notebook: LabPage, files: Files) -> None:
    expect(draw(notebook, AAPL).get_by_text("$189.32")).to_be_visible()
    before = notebook.page.url
    element = notebook.page.locator(".ouv-frame").element_handle()
    frame = element.content_frame()
    assert frame is not None
    found = frame.evaluate(REACH_OUT, f"{files.url}/leak")
    assert found == {
        "page": "SecurityError",
        "top": "SecurityError",
        "storage": "SecurityError",
        "cookie": "SecurityError",
        "network": "TypeError",
        "code": "RangeError",
    }
    assert files.asked == []
    assert notebook.page.url == before
    notebook.errors.clear()


def test_text_that_cannot_be_drawn_is_shown_with_the_reason(notebook: LabPage) -> None:
    draw(notebook, "Sorry, I have <b>no</b> program.")
    note(notebook.page, "Nothing to draw")
    expect(notebook.page.locator(".ouv-text")).to_have_text("Sorry, I have <b>no</b> program.")
    draw(notebook, DOUBLING)
    note(notebook.page, "Not drawn")
    expect(draw(notebook, AAPL).get_by_text("$189.32")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_components_follow_the_theme(lab: Lab, bundle: object, dark: bool) -> None:
    with lab.open([""], dark=dark) as opened:
        price = draw(opened, AAPL).get_by_text("$189.32")
        expect(price).to_be_visible()
        assert (lightness(price.evaluate("(element) => getComputedStyle(element).color")) > 0.9) is dark
        opened.page.evaluate("(light) => { document.body.dataset.jpThemeLight = String(light); }", dark)
        changed = "oklch(0.097 0 0)" if dark else "oklch(0.985 0 89.876)"
        expect(price).to_have_css("color", changed)
        assert opened.errors == []


def lightness(color: str) -> float:
    """L of `oklch(L C H)`."""
    return float(color.removeprefix("oklch(").split()[0])


def test_a_broken_component_library_leaves_program_and_error(lab: Lab, bundle: tuple[bytes, bytes]) -> None:
    with lab.open([""]) as opened:
        broken = f"script, styles = _bundle.cached()\n_bundle.cached = lambda: (script + {CRASH!r}, styles)"
        draw(opened, AAPL, broken)
        note(opened.page, "a component broke")
        expect(opened.page.locator(".ouv-text")).to_contain_text("$189.32")


@pytest.mark.parametrize("tampered", [False, True], ids=["intact", "tampered"])
def test_without_a_cache_the_browser_asks_the_cdn(
    lab: Lab, bundle: tuple[bytes, bytes], files: Files, tampered: bool
) -> None:
    script, styles = bundle
    files.content = {_bundle.SCRIPT: script + b"//" * tampered, _bundle.STYLES: styles}
    cdn = f"import os\nos.environ[_bundle.CDN_SETTING] = {files.url!r}\n_bundle.cached = lambda: None"
    with lab.open([""]) as opened:
        inside = draw(opened, AAPL, cdn)
        if tampered:
            note(opened.page, "Shown as text: the components did not come from 127.0.0.1")
            draw(opened, AAPL, "os.environ[_bundle.CDN_SETTING] = ''")
            note(opened.page, "no CDN is set")
        else:
            expect(inside.get_by_text("$189.32")).to_be_visible()
        assert sorted(files.asked) == [f"/{_bundle.SCRIPT}", f"/{_bundle.STYLES}"]
