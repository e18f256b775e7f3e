"""OpenUI Lang: catalogs, a parser equal to the real one, and a validator stricter than it."""

from .catalogs import Catalog
from .parser import StreamingParser, parse

__all__ = ["Catalog", "StreamingParser", "parse"]
