"""Personal data in the formats of some forty countries: texts with their value, by kind."""

import json
from pathlib import Path

from tests.evaluation.sensitive.labelled.sample import Sample

_FILE = Path(__file__).with_suffix(".json")
PERSONAL = [
    Sample(text, (value,), "personal", kind)
    for kind, rows in json.loads(_FILE.read_text(encoding="utf-8")).items()
    for text, value in rows
]
