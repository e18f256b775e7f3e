"""`python -m runbook_lib.cli` is the `runbook` command."""

from runbook_lib.cli import main

main()
