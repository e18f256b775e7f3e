"""The whole grid of notebook 03, measured: savers x channels at 200 and 500 turns, beside the formula.

Also one turn before each: every K of the grid divides the updates of 200 and of 500 turns or nearly, so that the newest
checkpoint is a snapshot there, and the turn before shows what a restore replays.

    python bench/checkpoints_grid.py [--turns 500] [--bytes 200] [--savers memory,sqlite,postgres]

Prints a Markdown table: logical bytes and rows, what a restore reads, mean times, and the formula's error.
"""

import argparse
from collections.abc import Iterable

from langgraph.channels.delta import DeltaChannel
from langgraph.graph.message import _messages_delta_reducer, add_messages
from rich.console import Console
from rich.progress import Progress

from runbook_lib.checkpoints import Measurement, PostgresUnavailable, Sample, measure, predict

KS = (None, 1, 10, 50, 100, 1000)
HEAD = (
    "saver", "channel", "turns", "MB logical", "MB store", "rows", "statements", "rows read",
    "ms a turn", "ms to restore", "formula, bytes", "formula, rows read",
)  # fmt: skip


def main() -> None:
    """Measure the grid with a progress bar and print the table."""
    options = arguments()
    lines = [row(HEAD), row(["---"] * len(HEAD))]
    savers = options.savers.split(",")
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("grid", total=len(savers) * len(KS))
        for saver in savers:
            for k in KS:
                progress.update(task, description=f"{saver} {'full' if k is None else f'K={k}'}")
                lines += measured(saver, k, options)
                progress.advance(task)
    print("\n".join(lines))


def arguments() -> argparse.Namespace:
    """What to measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--bytes", type=int, default=200)
    parser.add_argument("--savers", default="memory,sqlite,postgres")
    return parser.parse_args()


def measured(saver: str, k: int | None, options: argparse.Namespace) -> list[str]:
    """The rows of one run; one row with the reason where the saver cannot run."""
    channel = add_messages if k is None else DeltaChannel(_messages_delta_reducer, snapshot_frequency=k)
    at = [turn for turn in (199, 200, options.turns - 1) if 0 < turn < options.turns]
    try:
        run = measure(channel, saver, options.turns, options.bytes, at=at)
    except PostgresUnavailable as reason:
        return [row([saver, "not run", str(reason)])]
    return [row(cells(run, sample)) for sample in run.samples]


def cells(run: Measurement, sample: Sample) -> list[str]:
    """The figures of one sample, and the formula's error."""
    formula = predict(run.saver, sample.turn, run.message_bytes, k=run.k)
    store = "-" if sample.physical_bytes is None else f"{sample.physical_bytes / 1e6:.2f}"
    return [
        run.saver, run.label, str(sample.turn), f"{sample.sizes.bytes / 1e6:.2f}", store,
        f"{sample.sizes.rows:,}", str(sample.restore.statements), f"{sample.restore.rows_read:,}",
        f"{sample.turn_seconds * 1e3:.1f}", f"{sample.restore_seconds * 1e3:.1f}",
        f"{100 * (formula.sizes.bytes / sample.sizes.bytes - 1):+.2f} %",
        f"{formula.restore.rows_read - sample.restore.rows_read:+d}",
    ]  # fmt: skip


def row(parts: Iterable[str]) -> str:
    """One line of a Markdown table."""
    return "| " + " | ".join(parts) + " |"


if __name__ == "__main__":
    main()
