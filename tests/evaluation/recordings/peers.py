"""Files that other tools wrote, with one folder for each format."""

import json
from pathlib import Path

from evaluation.recordings.run_files import read_runs

PEERS = Path(__file__).parents[2] / "data" / "peers"
OTEL = ("resourceSpans", 0, "scopeSpans", 0, "spans")
JAEGER = ("data", 0, "spans")


def load(name):
    return json.loads((PEERS / name).read_text())


def read(name):
    return list(read_runs(PEERS / name))


def plant(name, path, new):
    """Return the value of a file with ``new`` at a path; ``...`` deletes what is there.

    A name in the path, where a list is, is that of a span.
    """
    value = load(name)
    inner = value
    for key in path[:-1]:
        named = isinstance(inner, list) and isinstance(key, str)
        inner = next(span for span in inner if span["name"] == key) if named else inner[key]
    if new is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return value
