"""Text and addresses a model must not smuggle in: unsafe links, private hosts, raw HTML.

A link is absolute and http, https, mailto or tel; an image is http, https or embedded (`data:image/...`,
not SVG). Browsers ignore control characters and decode entities, so both are undone before looking.
"""

from __future__ import annotations

import html
import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

LINK_SCHEMES = frozenset({"http", "https", "mailto", "tel"})
IGNORED = re.compile(r"[\x00-\x20\x7f-\x9f\u200b\u2028\u2029\ufeff]+")
IMAGE_DATA = re.compile(r"data:image/(?:png|jpe?g|gif|webp|avif|bmp);base64,", re.IGNORECASE)
SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
PRIVATE_NAMES = re.compile(r"(^|\.)(localhost|local|internal|intranet|lan|home|corp|localdomain|arpa)\.?$")

TARGET = r"\s*<?([^\s)>]*(?:\([^\s)]*\))?[^\s)>]*)"
MARKDOWN = re.compile(rf"(!?)\[[^\[\]]{{0,1000}}\]\({TARGET}")
DEFINITION = re.compile(rf"^\s{{0,3}}\[[^\[\]]{{1,1000}}\]:{TARGET}", re.MULTILINE)
AUTOLINK = re.compile(r"<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)>", re.IGNORECASE)
TAGS = (
    "a|abbr|area|article|audio|b|base|body|br|button|canvas|center|details|div|dialog|em|embed|font|form|frame|"
    "frameset|h[1-6]|head|hr|html|i|iframe|image|img|input|label|li|link|main|marquee|math|meta|nav|noscript|object|ol|"
    "option|p|picture|portal|pre|script|section|select|slot|source|span|strong|style|sub|sup|svg|table|tbody|td|"
    "template|textarea|th|tr|u|ul|video"
)
TAG = re.compile(rf"</?(?:{TAGS})(?=[\s/>]|$)|<!--|<!doctype", re.IGNORECASE)


def address_problem(address: str, image: bool = False) -> str:
    """Why an address must not be used, or "" if it may."""
    bare = IGNORED.sub("", html.unescape(address))
    if image and IMAGE_DATA.match(bare):
        return ""
    scheme = SCHEME.match(bare)
    if scheme is None:
        return "it is not absolute"
    name = scheme[1].lower()
    if name not in (("http", "https") if image else LINK_SCHEMES):
        return f"{name}: addresses are not allowed"
    return _host_problem(bare) if name in ("http", "https") else ""


def _host_problem(address: str) -> str:
    try:
        parts = urlsplit(address.replace("\\", "/"))
        host = unquote(parts.hostname or "").rstrip(".").lower()
        parts.port  # noqa: B018  (raises for a port that is none)
    except ValueError:
        return "it cannot be read"
    if not host or not parts.netloc:
        return "it names no host"
    if "@" in parts.netloc:
        return "it hides its host behind a user name"
    number = _ip(host)
    if number is not None:
        return "" if number.is_global else "it leads into a private network"
    private = PRIVATE_NAMES.search(host) or "." not in host
    return "it leads into a private network" if private else ""


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address a host stands for, in any of the spellings browsers accept."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _legacy_ip(host)
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address


def _legacy_ip(host: str) -> ipaddress.IPv4Address | None:
    """`127.1`, `0x7f000001`, `017700000001` and `2130706433` are all 127.0.0.1."""
    parts = host.split(".")
    try:
        numbers = [int(part, 8 if re.fullmatch("0[0-7]+", part) else 0) for part in parts if len(part) < 16]
    except ValueError:
        return None
    if len(numbers) != len(parts) or not 1 <= len(numbers) <= 4:
        return None
    *high, low = numbers
    value = low + sum(part << (24 - 8 * index) for index, part in enumerate(high))
    return ipaddress.IPv4Address(value) if 0 <= value < 1 << 32 else None


def text_problems(text: str) -> Iterator[tuple[str, str]]:
    """(code, what is wrong) for the markdown links, images and HTML tags in a text that will be shown."""
    for match in MARKDOWN.finditer(text):
        if problem := address_problem(match[2], image=bool(match[1])):
            yield "unsafe-address", f"the markdown {'image' if match[1] else 'link'} {_short(match[2])}: {problem}"
    for pattern in (DEFINITION, AUTOLINK):
        for match in pattern.finditer(text):
            if problem := address_problem(match[1]):
                yield "unsafe-address", f"the markdown link {_short(match[1])}: {problem}"
    if tag := TAG.search(text):
        yield "raw-html", f"the HTML tag {_short(text[tag.start() : tag.end()])}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
