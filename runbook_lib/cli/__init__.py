"""The `runbook` command. Each verb is one function in one small file, registered by one line below.

To add a verb: write `def verb(...) -> None` with typer options in a module that imports nothing heavy at its
top (heavy imports go inside the function), and add a line `app.command("verb", rich_help_panel=MORE)(verb)`.
"""

import os

import typer

from runbook_lib.checkpoints.command import inspect
from runbook_lib.cli._lab import lab
from runbook_lib.cli._lock import lock
from runbook_lib.cli._refresh import refresh
from runbook_lib.cli._serve import serve
from runbook_lib.cli._setup import setup
from runbook_lib.cli._tests import run_tests
from runbook_lib.openui.command import validate_command

__all__ = ["app", "main"]

ABOUT = """
An executable runbook for OpenUI and LangGraph 1.2.

Notebooks in which every factual sentence is a claim that runs: with the real
libraries, offline, in a minute, on a laptop.
Start with [bold]runbook lab[/bold] and run the cells of the first notebook from the top.
"""
PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
START = "The three commands you need"
USE = "The tools, without the tutorial"
MORE = "When you change something"

app = typer.Typer(
    help=ABOUT,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Nothing here calls a paid model unless RUNBOOK_LIVE=1 and OPENAI_API_KEY are both set.",
)

app.command("lab", rich_help_panel=START)(lab)
app.command("test", rich_help_panel=START, context_settings=PASS_ON)(run_tests)
app.command("setup", rich_help_panel=START)(setup)
app.command("serve", rich_help_panel=USE)(serve)
app.command("validate", rich_help_panel=USE)(validate_command)
app.command("inspect", rich_help_panel=USE)(inspect)
app.command("refresh", rich_help_panel=MORE)(refresh)
app.command("lock", rich_help_panel=MORE)(lock)


def main() -> None:
    """Run the command line; the `runbook` console script calls this."""
    # Without bytecode each kernel and server compiles its imports again, which takes longer than the notebook.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    app(prog_name="runbook")
