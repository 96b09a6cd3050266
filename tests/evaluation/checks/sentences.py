"""Sentences in English with the marks of real outputs, and in the languages that IFEval asks for."""

import json
from pathlib import Path

_TABLE = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
ENGLISH: list[str] = _TABLE.pop("en")
OTHER: dict[str, list[str]] = _TABLE
"""By language."""
