"""What a message asks for: tool calls read out of English or Korean text, by keywords and word order.

A message is cut into segments ("weather in Seoul | Busan | the AAPL price"). A segment's own keyword names the tool;
without one, a segment that is nothing but a name goes with its neighbour, or with what an earlier turn was about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Tool = Literal["get_weather", "get_stock_price", "search_web"]
ARGUMENT: dict[Tool, str] = {"get_weather": "city", "get_stock_price": "symbol", "search_web": "query"}
LONGEST = 2000  # characters: more than that is a document, not a question

COMPANIES: dict[str, tuple[str, ...]] = {
    "AAPL": ("Apple", "애플"),
    "AMZN": ("Amazon", "아마존"),
    "GOOGL": ("Alphabet", "Google", "구글", "알파벳"),
    "INTC": ("Intel", "인텔"),
    "META": ("Meta", "Facebook", "메타"),
    "MSFT": ("Microsoft", "마이크로소프트"),
    "NFLX": ("Netflix", "넷플릭스"),
    "NVDA": ("Nvidia", "엔비디아"),
    "TSLA": ("Tesla", "테슬라"),
    "005930.KS": ("Samsung Electronics", "Samsung", "삼성전자", "삼성"),
}
_SYMBOLS = {name.casefold(): symbol for symbol, names in COMPANIES.items() for name in (symbol, *names)}

_WEATHER = (
    r"\b(?:weather|forecast|temperatures?|humidity|humid|windy?|rain(?:s|y|ing)?|snow(?:s|y|ing)?|sunny|umbrella|"
    r"warm|cold|hot|degrees|what'?s it like)\b"
    r"|(?:날씨|기온|온도|예보|우산|몇 ?도)(?:가|는|은|를|도|야)?(?![가-힣])|(?:덥|더워|추워|춥)\S*"
)
_STOCK = (
    r"\b(?:stocks?|shares?|tickers?|quotes?|prices?|trading)\b|(?:주가|주식|시세|종목)(?:가|는|은|를|이)?(?![가-힣])"
)
_TICKER = re.compile(r"\$[A-Za-z]{1,6}\b|\b(?!I\b|A\b)[A-Z]{1,5}(?:\.[A-Z]{1,2})?\b|\b\d{4,6}\.[A-Z]{2}\b")
_KNOWN = re.compile("|".join(rf"(?<!\w){re.escape(name)}" for name in sorted(_SYMBOLS, key=len, reverse=True)), re.I)
_WHEN = (
    r"today|tonight|tomorrow|right now|now|this (?:week|weekend|morning|afternoon|evening)|"
    r"오늘|내일|모레|지금|현재|이번 주"
)
_FILLER = (
    rf"\b(?:(?:{_WHEN})(?:은|는|도)?|what'?s|how'?s|what|how|is|it|like|about|the|an?|me|us|you|i|my|please|tell|show|give|"
    r"get|check|look up|find|know|want|need|would|will|can|could|do|does|doing|should|be|are|there|in|for|at|on|to|and|"
    r"then|also|hi|hello|hey|ok|thanks?|current|currently|latest|outside|city of|much|very|with|compare|higher|lower|"
    r"than|which|one|report|back|summari[sz]e|explain|return|answer)\b"
    r"|그럼|그러면|어디\S*|어느\S*|(?<!\S)더(?!\S)|알려\S*|보여\S*|말해\S*|어때\S*|어떤\S*|어떻\S*|얼마\S*|궁금\S*|비교\S*|가격\S*|좀|해\s?줘|주세요|줘|요즘|안녕\S*"
)
_NOT_NAME = re.compile(f"{_WEATHER}|{_STOCK}|{_FILLER}", re.I)
_BESIDE_NAME = re.compile(
    rf"\b(?:the|please|also|then|and|compare|(?:what|how) about|(?:show|tell|give) me|(?:{_WHEN})(?:은|는)?)\b"
    r"|그럼|그러면|어때\S*",
    re.I,
)
_SPLIT = re.compile(
    r"\s*(?:[,;&?!\n·]|\.\s|\band\b|\bplus\b|\bvs\b\.?|\bor\b|그리고|"
    r"(?<=[가-힣])(?:이랑|랑|하고|과|와)\s(?!\s*(?:날씨|기온|온도|주가|주식)))\s*",
    re.I,
)
_PLACE = re.compile(r".*\b(?:in|at|near|for)\s+(.+)", re.I | re.S)
_GOING = re.compile(r"\b(?:in|to|at|near|from)\s+([A-Z][\w'-]*(?:\s[A-Z][\w'-]*)*)")
_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")
_ABOUT = re.compile(r"^\W*(?:and|or|then|what about|how about|그럼|그러면)\b|[가-힣](?:은|는|은요|는요)\W*$", re.I)
_DAY = re.compile(r"\b(?:tomorrow|weekend|next week|tonight)\b|내일|모레|주말|다음 주", re.I)
_COMPARE = re.compile(
    r"\b(?:(?:warm|hott|cold|cool|wind|high|low|cheap)(?:i?er|i?est)|compare|comparison|difference)\b|"
    r"비교|차이|더 ?(?:따뜻|더|덥|추|춥|높|낮|비싸|싸)",
    re.I,
)
_WEB = re.compile(
    r"\b(?:search(?: the (?:web|internet)| online)(?: for| about)?|(?:latest )?news (?:about|on))\s+([^?!\n]+)", re.I
)
_LOOK = re.compile(
    r"\b(?:search(?: for| about)?|look up|google|find (?:out )?(?:information |something |articles )?(?:about|on))\s+"
    r"([^?!\n]+)",
    re.I,
)
_LOOK_KOREAN = re.compile(
    r"((?:[^?!,.\n]|\.(?=\S))+?)(?:을|를|에 대해서?|에 관해서?)?\s*(?:웹|인터넷)?(?:에서)?\s*(?:검색|찾아)[^?!,.\n]*"
)
_QUERY_ENDS = re.compile(rf"\s+and (?=.*(?:{_WEATHER}|{_STOCK})).*|\s+(?:please|for me)\W*$|\.(?:\s.*)?$", re.I)
_EDGES = " \t.,:;()[]'’`*-"


@dataclass(frozen=True)
class Wish:
    """One tool call the user asks for."""

    tool: Tool
    value: str


def wishes(message: str, earlier: Sequence[Wish] = ()) -> list[Wish]:
    """Return the tool calls a message asks for, searches last; `earlier` are those of the turns before."""
    if len(message) > LONGEST:
        return []
    quoted = _QUOTED.findall(message)
    masks = (chr(0xE000 + index) for index in range(len(quoted)))  # so that a quoted name is never cut
    text = _QUOTED.sub(lambda _: next(masks), re.sub(r"[^\S\n]+", " ", message))
    query, rest = _query(text)
    found = [*_named(rest, earlier), *([Wish("search_web", query)] if query else [])]
    return list(dict.fromkeys(Wish(wish.tool, _unmasked(wish.value, quoted)) for wish in found))


def asks_comparison(message: str) -> bool:
    """Whether the message compares what is already known."""
    return bool(_COMPARE.search(message))


def asks_other_day(message: str) -> bool:
    """Whether the message asks about another day than today."""
    return bool(_DAY.search(message))


def _unmasked(value: str, quoted: Sequence[str]) -> str:
    for index, text in enumerate(quoted):
        value = value.replace(chr(0xE000 + index), text)
    return value


def _query(text: str) -> tuple[str, str]:
    """Split off what is to be searched; returns it (or "") and the rest of the message."""
    if "검색" in text or "찾아" in text:
        found = _LOOK_KOREAN.search(text)
        if found:
            query = re.sub(r"^\s*(?:그리고|웹에서|인터넷에서)\s*", "", found[1])
            return query.strip(_EDGES), f"{text[: found.start()]} \n {text[found.end() :]}"
    found = _WEB.search(text) or _LOOK.search(text)
    if not found:
        return "", text
    ends = _QUERY_ENDS.search(found[1])
    query = found[1][: ends.start()] if ends else found[1]
    if found.re is _LOOK and _tool(query):
        return "", text  # "look up the weather in Oslo" is about the weather
    return query.strip(_EDGES), f"{text[: found.start()]} \n {ends[0] if ends else ''} {text[found.end() :]}"


def _named(message: str, earlier: Sequence[Wish]) -> list[Wish]:
    segments = [segment for segment in _SPLIT.split(message) if segment.strip()]
    tools = _with_keyword_last(segments)
    follows = bool(earlier) and bool(
        _ABOUT.search(message) or (message.rstrip().endswith("?") and _is_name(message[:-1]))
    )
    found: list[Wish] = []
    current: Tool | None = None
    for index, segment in enumerate(segments):
        tool = tools[index]
        if tool is None and _is_name(segment):
            tool = current or (_topic(segment, earlier) if follows else None)
        current = tool or current
        if tool:
            found += _wishes(tool, segment, segments[:index], earlier)
    return found


def _with_keyword_last(segments: Sequence[str]) -> list[Tool | None]:
    """Name each segment's tool; in "Seoul and Busan weather" the keyword of the last goes for the first, too."""
    tools = [_tool(segment) for segment in segments]
    following: Tool | None = None
    for index in range(len(segments) - 1, -1, -1):
        if tools[index]:
            following = None if _PLACE.match(segments[index]) else tools[index]
        elif following and not any(tools[:index]) and _is_name(segments[index]):
            tools[index] = following
        else:
            following = None
    return tools


def _tool(segment: str) -> Tool | None:
    if re.search(_STOCK, segment, re.I):
        return "get_stock_price"
    if re.search(_WEATHER, segment, re.I):
        return "get_weather"
    name = _name(segment)
    return "get_stock_price" if name.casefold() in _SYMBOLS or re.fullmatch(r"\$[A-Za-z]{1,6}", name) else None


def _topic(segment: str, earlier: Sequence[Wish]) -> Tool:
    """What a follow-up that is only a name is about: a ticker is a stock, else the last thing that was not."""
    if _TICKER.fullmatch(_name(segment)):
        return "get_stock_price"
    return next((wish.tool for wish in reversed(earlier) if wish.tool != "get_stock_price"), "get_stock_price")


def _wishes(tool: Tool, segment: str, before: Sequence[str], earlier: Sequence[Wish]) -> list[Wish]:
    if tool == "get_stock_price":
        return [Wish(tool, symbol) for symbol in _symbols(segment)]
    name = _name(segment)
    if not name and tool == "get_weather":  # "I go to Lisbon. How is the weather there?", or as in an earlier turn
        places = [place for text in before for place in _GOING.findall(text)]
        places = places or [wish.value for wish in earlier if wish.tool == tool]
        name = places[-1] if places else ""
    return [Wish(tool, name)] if name else []


def _symbols(segment: str) -> list[str]:
    """Return every ticker and known company; of an unknown one the name itself, for the tool to judge."""
    known = [_SYMBOLS[name.casefold()] for name in _KNOWN.findall(segment)]
    found = known + [ticker.lstrip("$").upper() for ticker in _TICKER.findall(_KNOWN.sub(" ", segment))]
    name = _name(segment)
    return found or ([name.upper()] if name and (" " not in name or name.istitle()) else [])


def _name(segment: str) -> str:
    place = _PLACE.match(segment)
    return (_bare(place[1]) if place else "") or _bare(segment)


def _bare(text: str) -> str:
    """Return what is left of a segment without keywords and fillers, if that is one name."""
    chunks = [re.sub(r"^of\s|['’]s$", "", chunk.strip(_EDGES), flags=re.I) for chunk in _NOT_NAME.split(text)]
    chunks = [chunk.strip(_EDGES) for chunk in chunks if chunk.strip(_EDGES)]
    if len(chunks) > 1:
        chunks = [chunk for chunk in chunks if not chunk[0].islower()]
    return _without_particle(" ".join(chunks[0].split())) if len(chunks) == 1 else ""


def _without_particle(name: str) -> str:
    """Strip a Korean particle; some follow only a final consonant, some only a vowel (so "두바이" stays whole)."""
    for particle, final in (("은요", True), ("는요", False), ("은", True), ("는", False), ("이", True), ("가", False)):
        stem = name.removesuffix(particle)
        if stem != name and "가" <= stem[-1:] <= "힣" and ((ord(stem[-1]) - ord("가")) % 28 > 0) == final:
            return stem
    return re.sub(r"(?<=[가-힣]{2})(?:의|에서|에)$", "", name)


def _is_name(segment: str) -> bool:
    """Whether a segment is nothing but a name of up to four words, with at most an article or a time beside it."""
    words = _BESIDE_NAME.sub(" ", segment).split()
    return 0 < len(words) <= 4 and _without_particle(" ".join(words).strip(_EDGES)) == _bare(segment)
