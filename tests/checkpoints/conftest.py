import pytest

from runbook_lib.checkpoints import PostgresUnavailable, open_store
from runbook_lib.checkpoints._postgres import postgres_url

KINDS = ("memory", "sqlite", "postgres")


def _can_run_here(kind):
    if kind == "postgres":
        try:
            postgres_url()
        except PostgresUnavailable as reason:
            pytest.skip(str(reason))
    return kind


@pytest.fixture(params=KINDS)
def kind(request):
    return _can_run_here(request.param)


@pytest.fixture(params=["sqlite", "postgres"])
def database(request):
    return _can_run_here(request.param)


@pytest.fixture
def store(kind):
    with open_store(kind) as opened:
        yield opened


@pytest.fixture
def postgres():
    return _can_run_here("postgres")
