import pytest

from runbook_lib.checkpoints import crash


def test_a_process_killed_between_writes_loses_nothing(database):
    crashes = crash(database, [9])
    assert [each.call for each in crashes] == [9]
    assert all(each.safe for each in crashes), crashes


@pytest.mark.drill
def test_thirty_kills_lose_nothing(database):
    crashes = crash(database, range(1, 31))
    assert {each.turns_returned for each in crashes} >= {0, 1, 2, 3}
    assert len({each.kept for each in crashes}) > 8
    assert all(each.safe for each in crashes), [each for each in crashes if not each.safe]
