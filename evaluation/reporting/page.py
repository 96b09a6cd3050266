"""Renders a report as one HTML file that needs no network and executes nothing of its data."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

_FOLDER: Final = Path(__file__).parent
_SCRIPTS: Final = ("d3.min.js", "plot.umd.min.js", "charts.js")
"""d3 and Observable Plot, as their packages publish them, with their licences beside them; and our charts."""

ChartKind = Literal["front", "steps"]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, drawn in the reader's browser.

    Attributes:
        kind: Its drawing in ``charts.js``: "front" for points with intervals, "steps" for falling shares.
        title: Its heading.
        caption: One sentence that says what it shows.
        data: JSON values that the drawing reads.
    """

    kind: ChartKind
    title: str
    caption: str
    data: object

    @property
    def json(self) -> Markup:
        """The data as JSON that cannot end the element around it."""
        text = json.dumps(self.data, ensure_ascii=True, allow_nan=False)
        escaped = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
        return Markup(escaped)  # noqa: S704 - no character of HTML is left


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table of texts."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Listing:
    """A text with its line breaks, such as a file to copy."""

    title: str
    body: str


def render_page(
    title: str,
    paragraphs: Sequence[str] = (),
    charts: Sequence[Chart] = (),
    tables: Sequence[DataTable] = (),
    texts: Sequence[Listing] = (),
) -> str:
    """Render a report as HTML. All texts are escaped; scripts run only if they are those of this package."""
    scripts = [_read_script(name) for name in _SCRIPTS] if charts else []
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html").render(
        title=title,
        paragraphs=paragraphs,
        charts=charts,
        tables=tables,
        texts=texts,
        scripts=scripts,
        script_sources=Markup(" ".join(map(_hash_script, scripts)) or "'none'"),  # noqa: S704 - our hashes
    )


@cache
def _read_script(name: str) -> Markup:
    return Markup((_FOLDER / "static" / name).read_text(encoding="utf-8"))  # noqa: S704 - a file of this package


def _hash_script(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
