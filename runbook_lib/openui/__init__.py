"""OpenUI Lang: catalogs, a parser equal to the real one, and a validator stricter than it."""

from .catalogs import Catalog, Component
from .findings import Finding, Report
from .parser import StreamingParser, parse
from .results import ParseResult
from .validator import validate

__all__ = ["Catalog", "Component", "Finding", "ParseResult", "Report", "StreamingParser", "parse", "validate"]
