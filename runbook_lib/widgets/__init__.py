"""Views for notebooks: Python owns the state, one ES module each draws it."""

from runbook_lib.widgets.checkpoint_explorer import CheckpointExplorer
from runbook_lib.widgets.event_stream import EventStreamView
from runbook_lib.widgets.openui_view import OpenUIView
from runbook_lib.widgets.playground import AgentPlayground
from runbook_lib.widgets.timeout_timeline import TimeoutTimeline

__all__ = ["AgentPlayground", "CheckpointExplorer", "EventStreamView", "OpenUIView", "TimeoutTimeline"]
