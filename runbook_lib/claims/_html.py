"""HTML of cards, tables and the scoreboard: inline styles only, light and dark, readable without colour.

Colours come from JupyterLab's CSS variables; the fallbacks are mid-tones that work on white and on black, and
are used for rules and symbols only, so that all text keeps the page's own contrast. Everything is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from runbook_lib.claims._register import Claim, Verdict
from runbook_lib.claims._settle import Settled

_SYMBOLS = {
    Verdict.HOLDS: "✓",
    Verdict.PARTLY: "◐",
    Verdict.DIFFERS: "✗",
    Verdict.NOT_CHECKED: "○",
    Verdict.RECORDED: "▪",
}
_ACCENTS = {
    Verdict.HOLDS: "var(--jp-success-color1,#3a9a4e)",
    Verdict.PARTLY: "var(--jp-warn-color1,#c77700)",
    Verdict.DIFFERS: "var(--jp-error-color1,#d64545)",
    Verdict.NOT_CHECKED: "var(--jp-border-color0,#8a8a8a)",
    Verdict.RECORDED: "var(--jp-info-color1,#2f84c6)",
}
_NOTE_LABELS = {Verdict.NOT_CHECKED: "Why", Verdict.RECORDED: "Recorded"}
_LINE = "var(--jp-border-color2,rgba(128,128,128,.35))"
_TEXT = "color:var(--jp-content-font-color1,inherit);line-height:1.45"
_MUTED = "color:var(--jp-content-font-color2,inherit)"
_CELL = "text-align:left;vertical-align:top;padding:6px 10px"


def card(settled: Settled) -> str:
    """One claim: verdict, what is true, what was seen, its parts; what the source said folded away."""
    return (
        f'<section aria-label="{escape(settled.headline)}" style="{_TEXT};max-width:76ch;margin:4px 0;'
        f"padding:8px 14px 10px;border:1px solid {_LINE};border-radius:4px;border-left:4px solid "
        f'{_accent(settled)}">'
        f"<div>{_verdict(settled)}</div>"
        f'<div style="margin:4px 0 0;font-size:1.08em">{_instead(settled)}</div>'
        f"{_evidence(settled)}{_said(settled.claim)}</section>"
    )


def table(rows: Sequence[Settled]) -> str:
    """Several claims, one row each: verdict on the left; what is true, and the rest folded, on the right."""
    body = "".join(
        f'<tr style="border-top:1px solid {_LINE}">'
        f'<th scope="row" style="{_CELL};white-space:nowrap;border-left:4px solid {_accent(each)}">'
        f'{_verdict(each)}</th><td style="{_CELL}">{_instead(each)}'
        f"{_evidence(each)}{_said(each.claim)}</td></tr>"
        for each in rows
    )
    return (
        f'<table style="{_TEXT};border-collapse:collapse;max-width:96ch">'
        f'<caption style="text-align:left;{_MUTED}">'
        f"{escape(_summary(rows))}</caption><tbody>{body}</tbody></table>"
    )


def scoreboard(title: str, sections: Mapping[str, tuple[int, int]], rows: Sequence[Settled]) -> str:
    """Settled and registered claims per section as a table, then every settled claim by headline, folded."""
    body = "".join(
        f'<tr><th scope="row" style="{_CELL};font-weight:normal">{escape(section)}</th>'
        f'<td style="{_CELL}">{done} of {total}</td></tr>'
        for section, (done, total) in sections.items()
    )
    listed = "".join(f"<li>{_verdict(each)}</li>" for each in rows)
    return (
        f'<section aria-label="Claim scoreboard" style="{_TEXT};max-width:76ch"><b>{escape(title)}</b>'
        f'<table style="border-collapse:collapse"><thead><tr><th scope="col" style="{_CELL}">Section</th>'
        f'<th scope="col" style="{_CELL}">Settled here</th></tr></thead><tbody>{body}</tbody></table>'
        f"<details><summary>Every settled claim</summary>"
        f'<ul style="list-style:none;padding-left:12px">{listed}</ul></details></section>'
    )


def _accent(settled: Settled) -> str:
    return _ACCENTS[settled.verdict]


def _verdict(settled: Settled) -> str:
    """Symbol, id and verdict; loud when the register expects another verdict."""
    sign = _SYMBOLS[settled.verdict]
    symbol = f'<span aria-hidden="true" style="color:{_accent(settled)}">{sign}</span>'
    if settled.as_expected:
        return f"{symbol} <b>{escape(settled.headline)}</b>"
    frame = f"border:2px solid {_ACCENTS[Verdict.DIFFERS]};padding:2px 6px;white-space:normal"
    return f'<strong style="{frame}">{symbol} {escape(settled.headline)}</strong>'


def _instead(settled: Settled) -> str:
    """What to write; attributed to the register when this run has just contradicted it."""
    text = escape(settled.claim.instead)
    return text if settled.as_expected else f"<b>Registered, and not confirmed by this run:</b> {text}"


def _evidence(settled: Settled) -> str:
    """What was seen, then the parts with symbol and word."""
    label = _NOTE_LABELS.get(settled.verdict, "Observed")
    note = f"<div><b>{label}:</b> {escape(settled.note)}</div>" if settled.note else ""
    parts = " &nbsp; ".join(
        f'<span style="white-space:nowrap">{"✓ true" if true else "✗ false"}:</span> {escape(name)}'
        for name, true in settled.parts
    )
    return f'<div style="{_MUTED};margin-top:4px">{note}{parts}</div>' if note or parts else ""


def _said(claim: Claim) -> str:
    """The source's statement in our words, folded away."""
    title = "What the source leaves out" if claim.left_out else "What the source says"
    return (
        f'<details style="{_MUTED};margin-top:4px"><summary>{title}</summary>'
        f"{escape(claim.claim)} <small>({escape(claim.source)}: {escape(claim.where)})</small></details>"
    )


def _summary(rows: Iterable[Settled]) -> str:
    """Counts per verdict: `12 claims: 9 HOLDS, 2 PARTLY, 1 DIFFERS`."""
    verdicts = [each.verdict for each in rows]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in Verdict if verdict in verdicts)
    return f"{len(verdicts)} {'claim' if len(verdicts) == 1 else 'claims'}: {counts}"
