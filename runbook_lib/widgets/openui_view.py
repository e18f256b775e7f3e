"""`OpenUIView`: a program in OpenUI Lang drawn by the real components, in a notebook."""

import time
from collections.abc import AsyncIterable, AsyncIterator, Callable
from html import escape
from pathlib import Path
from typing import Any, Self, TypeVar

import anywidget
import traitlets

from runbook_lib.openui import parse
from runbook_lib.widgets import _bundle
from runbook_lib.widgets._lanes import attribution
from runbook_lib.widgets._wire import as_event

_HERE = Path(__file__).parent
_SHOWN = 20_000
_UNSEEN = (*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = dict.fromkeys(_UNSEEN, "\ufffd")

Action = dict[str, Any]
Item = TypeVar("Item")


class OpenUIView(anywidget.AnyWidget):
    """A program in OpenUI Lang, drawn by OpenUI's React components inside a sandboxed frame.

    Assign `program`, or add to it: the view is drawn anew as the text grows. The program is untrusted: the frame has
    an origin of its own and no network, links open after the reader's consent, and remote images do not load. The
    components come from the set-up's cache or from a CDN; without either the program is shown as text.

    `catalog` is "general" (root `Stack`, as in the runbook's prompt) or "chat" (root `Card`), see `runbook_lib.openui`.
    """

    _esm = _HERE / "openui_view.js"
    _css = _HERE / "openui_view.css"

    program = traitlets.Unicode("", help="The program, whole or so far.").tag(sync=True)
    catalog = traitlets.Enum(("general", "chat"), "general", help="Which root and which Card.").tag(sync=True)
    streaming = traitlets.Bool(False, help="More text is on its way, so errors are not final.").tag(sync=True)
    last_action = traitlets.Dict(None, allow_none=True, help="What the reader did last, None before that.")
    _refused = traitlets.Unicode("", help="Why the program is not drawn at all.").tag(sync=True)

    def __init__(self, program: str = "", *, catalog: str = "general", **traits: Any) -> None:
        self._heard: list[Callable[[Action], object]] = []
        super().__init__(program=program, catalog=catalog, **traits)
        self.on_msg(self._receive)

    def on_action(self, callback: Callable[[Action], object]) -> None:
        """Call `callback` with each action of the reader: a dict with `type`, `message`, `params`, `form`, `values`.

        `type` is `continue_conversation` for a button without an action of its own; `values` are the form's fields.
        """
        self._heard.append(callback)

    async def follow(self, source: AsyncIterable[object], *, interval: float = 0.05) -> Self:
        """Show text as an async iterable yields it: strings, or the AG-UI events of a run.

        Of events the main agent's text counts, and a new message starts the program over. Returns the view when the
        source has ended; what arrived before an error or a cancellation stays.
        """
        async for _ in self.passing(source, interval=interval):
            pass
        return self

    async def passing(self, source: AsyncIterable[Item], *, interval: float = 0.05) -> AsyncIterator[Item]:
        """`follow` for a source that others read too: each item is yielded on, unchanged."""
        text, due = "", 0.0
        self.streaming = True
        try:
            async for item in source:
                text = _text_after(text, item)
                started = time.monotonic()
                if text != self.program and started >= due:
                    self.program, ended = text, time.monotonic()
                    due = ended + max(interval, 4 * (ended - started))  # a long program is drawn less often
                yield item
        finally:
            self.program = text or self.program
            self.streaming = False

    @traitlets.validate("program")
    def _check_size(self, proposal: Any) -> str:
        """Lone surrogates cannot be sent; a program that expands without end must not be drawn."""
        program = str(proposal["value"]).encode("utf-8", "replace").decode()
        errors = parse(program, self.catalog).as_dict()["meta"]["errors"]
        self._refused = next((error["message"] for error in errors if error["code"] == "limit-exceeded"), "")
        return program

    def _receive(self, _: object, content: dict[str, Any], buffers: object) -> None:
        if content.get("kind") == "bundle":
            self._send_bundle()
        elif content.get("kind") == "action" and isinstance(content.get("action"), dict):
            self.last_action = content["action"]
            for callback in self._heard:
                callback(content["action"])

    def _send_bundle(self) -> None:
        found = _bundle.cached()
        self.send({"kind": "bundle", "cdn": [] if found else _bundle.cdn_files()}, buffers=list(found or ()))

    def __repr__(self) -> str:
        return f"OpenUI program ({self.catalog})\n{shown_text(self.program)}".rstrip()

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if bundle else ({"text/plain": repr(self)}, {})
        return {**data, "text/html": as_html(f"OpenUI program ({self.catalog})", self.program)}, metadata


def shown_text(text: str) -> str:
    """Return text fit for a cell: no control or text-direction characters, and cut when it is very long."""
    shown = text[:_SHOWN].translate(_CONTROLS)
    return shown if len(text) <= _SHOWN else f"{shown}\n… {len(text) - _SHOWN:,} more characters"


def as_html(caption: str, text: str) -> str:
    """Return text as static HTML, all of it escaped."""
    return f"<figure><figcaption>{escape(caption)}</figcaption><pre>{escape(shown_text(text))}</pre></figure>"


def _text_after(text: str, item: object) -> str:
    """The program after one more item: a piece of text, or an event."""
    if isinstance(item, str):
        return text + item
    event = as_event(item)
    if attribution(event)[0]:
        return text
    if event.get("type") == "TEXT_MESSAGE_START":
        return ""
    delta = event.get("delta")
    return text + delta if event.get("type") == "TEXT_MESSAGE_CONTENT" and isinstance(delta, str) else text
