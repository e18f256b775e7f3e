"""Views for notebooks: Python owns the state, one ES module each draws it."""

from runbook_lib.widgets.event_stream import EventStreamView

__all__ = ["EventStreamView"]
