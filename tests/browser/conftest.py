"""The shared `lab` fixture: one JupyterLab and one Chromium for all browser tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lab import Lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """`lab.open(notebook)` gives a `LabPage` (see `lab.py`); Playwright is imported only when a test asks."""
    from lab import start_lab

    with start_lab(tmp_path_factory.mktemp("lab")) as running:
        yield running
