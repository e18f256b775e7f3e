"""`OpenUIView` without a browser: text and HTML, following a stream, actions, and the pinned bundle."""

import asyncio
import io
import tarfile
from collections.abc import AsyncIterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from runbook_lib.widgets import OpenUIView, _bundle

PROGRAM = 'root = Stack([TextContent("맑음 <b>")])'
START = {"type": "TEXT_MESSAGE_START", "messageId": "m2", "role": "assistant"}


def content(delta: str, **fields: Any) -> dict[str, Any]:
    return {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": delta, **fields}


async def arriving(items: list[Any], fault: Exception | None = None) -> AsyncIterator[Any]:
    for item in items:
        await asyncio.sleep(0)
        yield item
    if fault:
        raise fault


def follow(view: OpenUIView, items: list[Any], fault: Exception | None = None, interval: float = 0) -> list[str]:
    """What the browser gets while the items arrive."""
    sent: list[str] = []
    view.observe(lambda change: sent.append(change["new"]), "program")
    asyncio.run(view.follow(arriving(items, fault), interval=interval))
    return sent


def data(view: OpenUIView) -> dict[str, Any]:
    return view._repr_mimebundle_()[0]


def test_the_program_is_the_text() -> None:
    assert repr(OpenUIView(PROGRAM)) == f"OpenUI program (general)\n{PROGRAM}"
    assert repr(OpenUIView()) == "OpenUI program (general)"
    assert data(OpenUIView(PROGRAM))["text/plain"] == repr(OpenUIView(PROGRAM))


def test_two_views_of_one_program_read_the_same() -> None:
    one, two = OpenUIView(PROGRAM), OpenUIView(PROGRAM)
    assert data(one)["text/html"] == data(two)["text/html"]
    assert one.model_id not in data(one)["text/plain"] + data(one)["text/html"]


def test_html_escapes_the_program_and_hides_no_direction_marks() -> None:
    shown = data(OpenUIView("<script>alert(1)</script>\u202e\x1b[31m"))["text/html"]
    tags: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            tags.append(tag)

    Tags().feed(shown)
    assert tags == ["figure", "figcaption", "pre"]
    assert not {"\u202e", "\x1b"} & set(shown)


def test_a_very_long_program_is_cut_in_text() -> None:
    assert repr(OpenUIView("x" * 30_000)).endswith("… 10,000 more characters")


def test_strings_are_followed_piece_by_piece() -> None:
    view = OpenUIView("before")
    assert follow(view, ["root = ", "Stack([])"]) == ["root = ", "root = Stack([])"]
    assert view.streaming is False


def test_pieces_are_sent_together() -> None:
    assert len(follow(OpenUIView(), list(PROGRAM), interval=60)) == 2  # the first, and the rest at the end


def test_of_a_run_the_main_agents_last_message_counts() -> None:
    view = OpenUIView()
    hint = content("from a subagent", subagentRunId="s1")
    follow(view, [START, content("Let me look."), START, content("root = "), hint, content("Stack([])"), {"type": "X"}])
    assert view.program == "root = Stack([])"


def test_what_came_before_a_fault_stays() -> None:
    view = OpenUIView()
    with pytest.raises(RuntimeError, match="dropped"):
        follow(view, ["root = Sta"], RuntimeError("dropped"), interval=60)
    assert (view.program, view.streaming) == ("root = Sta", False)


def test_items_pass_through_unchanged() -> None:
    items = [START, content("a"), {"type": "RUN_FINISHED"}]

    async def read() -> list[Any]:
        return [item async for item in OpenUIView().passing(arriving(items))]

    assert asyncio.run(read()) == items


def test_a_program_that_grows_without_end_is_not_drawn() -> None:
    doubling = [f"a{i} = Stack([a{i + 1}, a{i + 1}])" for i in range(30)]
    view = OpenUIView("\n".join(["root = Stack([a0])", *doubling]))
    assert view._refused
    view.program = PROGRAM
    assert not view._refused


def test_a_lone_surrogate_does_not_reach_the_wire() -> None:
    OpenUIView("half \ud83d").program.encode()


def test_an_unknown_catalog_is_refused() -> None:
    with pytest.raises(Exception, match="catalog"):
        OpenUIView(PROGRAM, catalog="mine")


def test_actions_reach_callbacks_and_the_trait() -> None:
    view, heard = OpenUIView(PROGRAM), []
    view.on_action(heard.append)
    action = {"type": "continue_conversation", "message": "More", "params": {}, "form": "", "values": {}}
    view._handle_custom_msg({"kind": "action", "action": action}, [])
    view._handle_custom_msg({"kind": "action", "action": "not an action"}, [])
    assert heard == [action]
    assert view.last_action == action


def test_the_bundle_is_sent_as_buffers_or_as_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    view, sent = OpenUIView(PROGRAM), []
    monkeypatch.setattr(view, "send", lambda message, buffers: sent.append((message, buffers)))
    monkeypatch.setattr(_bundle, "cached", lambda: (b"script", b"styles"))
    view._handle_custom_msg({"kind": "bundle"}, [])
    monkeypatch.setattr(_bundle, "cached", lambda: None)
    monkeypatch.setenv(_bundle.CDN_SETTING, "http://127.0.0.1:1/files/")
    view._handle_custom_msg({"kind": "bundle"}, [])
    monkeypatch.setenv(_bundle.CDN_SETTING, "")
    view._handle_custom_msg({"kind": "bundle"}, [])
    assert sent[0] == ({"kind": "bundle", "cdn": []}, [b"script", b"styles"])
    assert sent[1][0]["cdn"][0]["url"] == f"http://127.0.0.1:1/files/{_bundle.SCRIPT}"
    assert sent[2] == ({"kind": "bundle", "cdn": []}, [])


def tarball(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, body in files.items():
            entry = tarfile.TarInfo(f"package/dist/{name}")
            entry.size = len(body)
            archive.addfile(entry, io.BytesIO(body))
    return packed.getvalue()


def test_a_tampered_tarball_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_bundle, "_packed", lambda: tarball(dict.fromkeys(_bundle.FILES, b"evil")))
    with pytest.raises(ValueError, match="differs from the pinned one"):
        _bundle.fetch(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_the_pinned_tarball_is_unpacked_and_checked_at_every_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {_bundle.SCRIPT: b"script", _bundle.STYLES: b"styles"}
    packed = tarball(files)
    monkeypatch.setattr(_bundle, "_packed", lambda: packed)
    monkeypatch.setattr(_bundle, "TARBALL", _bundle.integrity(packed, "sha512"))
    monkeypatch.setattr(_bundle, "FILES", {name: _bundle.integrity(body, "sha384") for name, body in files.items()})
    assert "checked" in _bundle.fetch(tmp_path)
    assert _bundle.cached(tmp_path) == (b"script", b"styles")
    assert "already" in _bundle.fetch(tmp_path)
    (tmp_path / _bundle.SCRIPT).write_bytes(b"script, changed on disk")
    assert _bundle.cached(tmp_path) is None


def test_without_npm_the_setup_says_so_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_bundle.fetch, "__defaults__", (tmp_path / "cache",))
    assert _bundle.main() == 1
    assert "npm is not on the PATH" in capsys.readouterr().err
