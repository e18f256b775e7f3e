"""Error texts without keys: an exception often quotes the request that failed."""

import os
import re

_NAMES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk)[-_][\w*-]{6,}"  # OpenAI, Anthropic, Stripe
    r"|\b(?:lsv2_|ls__|gh[opsu]_|github_pat_|xox[abp]-|AKIA|AIza)[\w-]{8,}"  # LangSmith, GitHub, Slack, AWS, Google
    r"|(?i:\bbearer\s+)[\w.~+/-]{8,}"
)


def without_secrets(text: str) -> str:
    """`text` without API keys: those in the environment, and whatever has the shape of one."""
    values = [value for name, value in os.environ.items() if name.upper().endswith(_NAMES) and len(value) > 7]
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, "[redacted]")
    return _SHAPES.sub("[redacted]", text)
