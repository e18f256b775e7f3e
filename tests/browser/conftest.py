"""The shared `lab` fixture: a real JupyterLab, and Chromium to visit it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lab import Lab, Server

# Playwright comes with `./runbook test --all`, which does not start without it. Other runs do not need these files.
collect_ignore_glob = [] if find_spec("playwright") else ["test_*.py"]


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One JupyterLab for all browser tests. Heavy imports happen only when a test asks for it."""
    from lab import start_server

    with start_server(tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="module")
def lab(lab_server: Server) -> Iterator[Lab]:
    """`lab.open(notebook)` gives a `LabPage` (see `lab.py`). The browser ends with its module: see `start_browser`."""
    from lab import Lab, start_browser

    with start_browser() as browser:
        yield Lab(lab_server, browser)
