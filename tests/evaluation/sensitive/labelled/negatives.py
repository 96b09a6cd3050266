"""Texts without sensitive data, though parts of them look like it."""

import json
from pathlib import Path

from tests.evaluation.sensitive.labelled.sample import Sample

_FILE = Path(__file__).with_suffix(".json")
NEGATIVES = [Sample(text) for text in json.loads(_FILE.read_text(encoding="utf-8"))]
