"""Renders what a notebook shows: HTML without a script, in which every text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.sensitive.scanner import shorten

_LONGEST: Final = 500
"""Most characters of a text; the object has it all."""
_MOST_ROWS: Final = 50
_CELL: Final = "text-align: left; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere"
# The colours are those of the notebook, light or dark. It would read `$` in a text as mathematics.
_TEMPLATE: Final = """\
<div class="tex2jax_ignore mathjax_ignore" style="max-width: 60em; overflow-x: auto">
<div><strong>{{ title }}</strong></div>
{%- for name, value in facts %}
<div style="white-space: pre-wrap; overflow-wrap: anywhere"><em>{{ name }}:</em> {{ value }}</div>
{%- endfor %}
{%- for table in tables %}
<table>
<thead><tr>{% for name in table.columns %}<th style="{{ cell }}">{{ name }}</th>{% endfor %}</tr></thead>
<tbody>
{%- for row in table.shown %}
<tr>{% for value in row %}<td style="{{ cell }}">{{ value }}</td>{% endfor %}</tr>
{%- endfor %}
</tbody>
</table>
{%- if table.hidden %}
<div>and {{ table.hidden }} more</div>
{%- endif %}
{%- endfor %}
</div>"""


@dataclass(frozen=True, slots=True)
class CardTable:
    """A table: the names of its columns, and its rows of texts."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]

    @property
    def shown(self) -> list[list[str]]:
        """The first rows, as short texts."""
        return [[_format_text(value) for value in row] for row in self.rows[:_MOST_ROWS]]

    @property
    def hidden(self) -> int:
        """The number of the other rows."""
        return max(0, len(self.rows) - _MOST_ROWS)


def render_card(title: str, facts: Mapping[str, object], *tables: CardTable) -> str:
    """Return the HTML of a card.

    Args:
        title: The heading, such as a status.
        facts: Lines with their names; an empty one is left out.
        tables: The tables; one without rows is left out.
    """
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - slow to import

    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(_TEMPLATE)
    lines = [(name, _format_text(value)) for name, value in facts.items() if value not in (None, "")]
    return template.render(
        title=_format_text(title), facts=lines, tables=[table for table in tables if table.rows], cell=_CELL
    )


def _format_text(value: object) -> str:
    # A notebook's messages are UTF-8, which has no lone surrogates.
    return shorten(str(value), _LONGEST).encode(errors="replace").decode()
