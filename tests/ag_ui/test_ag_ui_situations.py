"""Every situation, sync and async: legal stream, whole texts, and a client that ends with what the checkpoint holds."""

import pytest
from ag_ui_play import Situation, own, play, wire
from ag_ui_situations import ROWS

from runbook_lib.ag_ui import check_events

CASES = [pytest.param(row, mode, id=f"{row.name}-{mode}") for row in ROWS for mode in row.modes]


@pytest.mark.parametrize(("situation", "mode"), CASES)
def test_situation(situation: Situation, mode: str) -> None:
    turns = play(situation, mode)
    for turn in turns:
        assert check_events(turn.events, turn.state if situation.settled else None, held=turn.held) == []
        if situation.settled:
            client, state = own(turn.client), own(wire(turn.state))
            assert client == state if situation.ordered else sorted(client, key=str) == sorted(state, key=str)
    situation.see(*turns)
