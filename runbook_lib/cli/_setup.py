"""`runbook setup`: the launcher's set-up, also from inside the venv."""

import sys

from runbook_lib.cli.project import ROOT, become, quiet_environment

__all__ = ["setup"]


def setup() -> None:
    """Bring .venv up to date, and try again what could not be installed before."""
    # The Python that the venv was made from: the launcher may have to replace the venv's own.
    outer_python = str(getattr(sys, "_base_executable", sys.executable))
    become([outer_python, str(ROOT / "runbook"), "setup"], quiet_environment())
