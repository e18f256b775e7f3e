"""`runbook test`: pytest on the library, the notebooks' structure and, through nbval, every saved output."""

import importlib.util
import os
import sys
from typing import Annotated

import typer

from runbook_lib.cli.project import ROOT, become, quiet_environment

__all__ = ["pytest_command", "run_tests"]


def run_tests(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Also browser, Node and long drills.")] = False,
) -> None:
    """Run the tests, notebooks included. Other arguments go to pytest: `-k weather -x`."""
    if everything and importlib.util.find_spec("playwright") is None:
        print("Some packages of test --all are missing. Install them with: ./runbook test --all")
        raise typer.Exit(2)
    os.chdir(ROOT)
    become(pytest_command(everything, context.args, os.cpu_count() or 1), quiet_environment(live=False))


def pytest_command(everything: bool, arguments: list[str], cores: int) -> list[str]:
    """Return the pytest command line.

    At most two workers, for laptops; `loadfile` keeps the cells of a notebook in one worker and in order.
    """
    command = [sys.executable, "-m", "pytest"]
    if cores > 1:
        command += ["-n", "2", "--dist", "loadfile"]
    return command + (["-m", ""] if everything else []) + arguments
