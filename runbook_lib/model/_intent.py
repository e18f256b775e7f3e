"""What a message asks for: tool calls read out of English or Korean text, by keywords and word order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Tool = Literal["get_weather", "get_stock_price", "search_web"]
ARGUMENT: dict[Tool, str] = {"get_weather": "city", "get_stock_price": "symbol", "search_web": "query"}

COMPANIES: dict[str, tuple[str, ...]] = {
    "AAPL": ("Apple", "애플"),
    "AMZN": ("Amazon", "아마존"),
    "GOOGL": ("Alphabet", "Google", "구글", "알파벳"),
    "IBM": ("IBM",),
    "INTC": ("Intel", "인텔"),
    "META": ("Meta", "Facebook", "메타"),
    "MSFT": ("Microsoft", "마이크로소프트"),
    "NFLX": ("Netflix", "넷플릭스"),
    "NVDA": ("Nvidia", "엔비디아"),
    "TSLA": ("Tesla", "테슬라"),
    "005930.KS": ("Samsung Electronics", "Samsung", "삼성전자", "삼성"),
}
_SYMBOLS = {name.casefold(): symbol for symbol, names in COMPANIES.items() for name in (symbol, *names)}

_WEATHER = re.compile(
    r"\b(weather|forecast|temperatures?|humid(ity)?|wind(y)?|rain(s|y|ing)?|snow(s|y|ing)?|sunny|umbrella|"
    r"warm|cold|hot|what'?s it like|how is it)\b|날씨|기온|온도|예보|우산|덥|더워|추워|춥",
    re.I,
)
_STOCK = re.compile(r"\b(stocks?|shares?|tickers?|quotes?|prices?|trading)\b|주가|주식|시세|종목", re.I)
_SEARCH = re.compile(
    r"\b(?:search(?: the (?:web|internet)| online)?(?: for| about)?|look up|google|(?:latest )?news (?:about|on)|"
    r"find (?:out |information |something |articles )?(?:about|on))\s+(?P<after>[^?!\n]+)"
    r"|(?P<before>[^?!.\n]+?)(?:을|를|에 대해서?|에 관해서?|에 대한 것)?\s*(?:웹에서|인터넷에서)?\s*(?:검색|찾아)\S*[^.?!\n]*",
    re.I,
)
_SEARCH_ENDS = re.compile(
    r"[.]?\s+and (?=.*\b(weather|forecast|stock|price)\b).*|\s+(?:please|for me)\W*$|[.]\s.*|[.]$", re.I
)
_SPLIT = re.compile(
    r"\s*(?:,|;|&|\?|!|\n|\.\s|\band\b|\bplus\b|\bvs\.?|\bor\b|그리고|"
    r"(?<=[가-힣])(?:이랑|랑|하고|과|와)\s|·)\s*",
    re.I,
)
_PLACE = re.compile(r".*\b(?:in|at|for|of|near|about)\s+(?P<name>.+)", re.I | re.S)
_NAME_FIRST = re.compile(r"^(?P<name>.+?)(?:'s)?\s*$", re.S)
_QUOTED = re.compile(r"[\"“](?P<name>[^\"“”]+)[\"”]")
_WHEN = r"today|tonight|tomorrow|now|right now|currently|this (?:week|weekend|morning|evening|afternoon)|오늘|내일|모레|지금|현재|이번 주"
_DAY = re.compile(r"\b(tomorrow|weekend|next week|tonight)\b|내일|모레|주말|다음 주", re.I)
_FILLER = re.compile(
    rf"\b(?:{_WHEN}|what|what's|whats|is|it|like|how|how's|about|the|a|an|me|us|you|i|my|please|tell|show|give|get|check|"
    r"know|want|need|would|will|can|could|do|does|should|be|are|there|in|for|at|of|on|to|and|then|also|hi|hello|hey|"
    r"ok|thanks|current|latest|outside|degrees|company|going|much|share|with|take|bring|again)\b"
    r"|알려\S*|보여\S*|말해\S*|어때\S*|어떤\S*|어떻\S*|얼마\S*|궁금\S*|가격|좀|해\s?줘|주세요|줘|요즘|안녕\S*",
    re.I,
)
_ABOUT = re.compile(r"^\W*(?:and|or|then|what about|how about|what of|그럼|그러면)\b|(?:은|는|은요|는요)\W*$", re.I)
_COMPARE = re.compile(
    r"\b(warmer|warmest|hotter|hottest|colder|coldest|cooler|windier|windiest|higher|highest|lower|lowest|cheaper|"
    r"compare|comparison|difference|which (one|city|is))\b|비교|더 (따뜻|덥|더|춥|추|높|낮|비싸|싸)|차이",
    re.I,
)


@dataclass(frozen=True)
class Wish:
    """One tool call the user asks for."""

    tool: Tool
    value: str


def wishes(message: str, last: Tool | None = None) -> list[Wish]:
    """Return the tool calls a message asks for, in its order. `last` is the tool an earlier turn was about."""
    if found := _SEARCH.search(message):
        query = _SEARCH_ENDS.sub("", found["after"] or found["before"] or "").strip(" \t\"'“”.,")
        rest = (
            message[: found.start()] + " \n " + (message[found.end() :] if found["before"] else _rest(found["after"]))
        )
        return [*([Wish("search_web", query)] if query else []), *_named(rest, None)]
    return _named(message, last if _ABOUT.search(message) else None)


def asks_comparison(message: str) -> bool:
    """Whether the message compares what is already known."""
    return bool(_COMPARE.search(message))


def asks_other_day(message: str) -> bool:
    """Whether the message asks about another time than now."""
    return bool(_DAY.search(message))


def symbol(name: str) -> str:
    """Return the ticker of a company or ticker in any spelling; an unknown name is taken to be one itself."""
    return _SYMBOLS.get(name.casefold(), name.upper().lstrip("$"))


def _rest(after: str) -> str:
    ended = _SEARCH_ENDS.search(after)
    return after[ended.start() :] if ended else ""


def _named(message: str, last: Tool | None) -> list[Wish]:
    """Name the tool of each segment: by its own keyword, else by the one before it, else by the one after it."""
    segments = [segment for segment in _SPLIT.split(message) if segment and segment.strip()]
    tools = [_tool(segment) for segment in segments]
    names = [_name(segment, tool) for segment, tool in zip(segments, tools, strict=True)]
    following: Tool | None = None
    for index in range(len(segments) - 1, -1, -1):  # "Seoul and Busan weather": the keyword comes last
        if tools[index]:
            following = tools[index] if names[index] and not _PLACE.match(segments[index]) else None
        elif following and not any(tools[:index]) and _is_name(segments[index]):
            tools[index] = following
        else:
            following = None
    found, current = [], last
    for segment, tool, name in zip(segments, tools, names, strict=True):
        own = tool or (current if current and (_is_name(segment) or last) else None)
        if own is None and name.casefold() in _SYMBOLS:
            own = "get_stock_price"
        current = tool or current
        if own and name:
            found.append(Wish(own, symbol(name) if own == "get_stock_price" else name))
    return list(dict.fromkeys(found))


def _tool(segment: str) -> Tool | None:
    if _STOCK.search(segment):
        return "get_stock_price"
    if _WEATHER.search(segment):
        return "get_weather"
    bare = _bare(segment)
    return "get_stock_price" if bare.casefold() in _SYMBOLS or re.fullmatch(r"\$[A-Za-z.]{1,6}", bare) else None


def _name(segment: str, tool: Tool | None) -> str:
    if quoted := _QUOTED.search(segment):
        return quoted["name"].strip()
    place = _PLACE.match(segment)
    return (_bare(place["name"]) if place else "") or _bare(segment)


def _bare(segment: str) -> str:
    """Strip keywords, fillers, particles and signs from both ends of a name."""
    text = _FILLER.sub(" ", _WEATHER.sub(" ", _STOCK.sub(" ", segment)))
    text = re.sub(r"\s+", " ", text).strip(" \t.,:;()[]'’\"“”`*-")
    text = re.sub(r"['’]s$", "", text)
    return re.sub(r"(?<=[가-힣])(?:은요|는요|은|는|의|이|가|도|에서|에)$", "", text) if len(text) > 2 else text


def _is_name(segment: str) -> bool:
    """Whether a segment is nothing but a name of up to four words, with at most an article or a time beside it."""
    name = re.sub(rf"\b(?:the|please|also|then|{_WHEN})\b", " ", segment, flags=re.I)
    words = name.split()
    return 0 < len(words) <= 4 and " ".join(words).strip(" .,'\"") == _bare(segment)
