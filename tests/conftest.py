"""What every test runs in: no keys, no tracing, no network beyond this machine, nobody's personal settings.

The environment is set when this file is imported, before any test or notebook kernel starts.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import network_guard
import pytest

GUARD = str(Path(network_guard.__file__).resolve())
LEAKING = ("LANGSMITH_", "LANGCHAIN_", "OPENAI_", "RUNBOOK_LIVE", "ANTHROPIC_", "GOOGLE_API_KEY", "JUPYTER_TOKEN")


def clean_environment() -> None:
    """Remove what leads a run elsewhere, and switch off telemetry and update checks."""
    for name in [name for name in os.environ if name.startswith(LEAKING)]:
        del os.environ[name]
    os.environ.update(
        LANGGRAPH_CLI_NO_ANALYTICS="1",
        LANGGRAPH_NO_VERSION_CHECK="1",
        JUPYTER_PREFER_ENV_PATH="1",
    )


def guard_kernels() -> None:
    """Give notebook kernels an IPython profile of their own, whose start-up file installs the guard."""
    profile = Path(tempfile.mkdtemp(prefix="runbook-ipython-"))
    atexit.register(shutil.rmtree, profile, ignore_errors=True)
    startup = profile / "profile_default" / "startup"
    startup.mkdir(parents=True)
    code = f"exec(compile(open({GUARD!r}).read(), {GUARD!r}, 'exec'), {{'__name__': 'network_guard'}})\n"
    (startup / "00-offline.py").write_text(code, "utf-8")  # in a namespace of its own: it leaves no name behind
    os.environ["IPYTHONDIR"] = str(profile)


clean_environment()
guard_kernels()
network_guard.install()


@pytest.fixture(autouse=True)
def offline() -> Iterator[None]:
    """Fail a test during which something tried to reach another machine, even if the code swallowed that."""
    before = len(network_guard.attempts)
    yield
    assert network_guard.attempts[before:] == [], "the tests are offline"
