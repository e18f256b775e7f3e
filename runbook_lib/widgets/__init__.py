"""Views for notebooks: Python owns the state, one ES module each draws it."""

from runbook_lib.widgets.event_stream import EventStreamView
from runbook_lib.widgets.openui_view import OpenUIView
from runbook_lib.widgets.playground import AgentPlayground

__all__ = ["AgentPlayground", "EventStreamView", "OpenUIView"]
