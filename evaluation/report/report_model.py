"""The models of an evaluation report, and what a notebook shows of one: HTML without a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from evaluation.report.findings import Alert, AuditFinding, CheckRecord, EvaluationStatus
from evaluation.sensitive.scanner import shorten
from evaluation.texts.normal import show_hidden

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
    return show_hidden(shorten(str(value), _LONGEST))


SCHEMA_VERSION: Final = 1
_WORDS: Final = {True: "passed", False: "failed", None: "undecided"}
MetricGroup: TypeAlias = dict[str, Any]
"""The values of the metrics that were scored, by name, and the fields that ``build_group`` adds."""


class ReportModel(BaseModel):
    """Base of the report models: exact fields, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Metrics(ReportModel):
    """The metric groups: scored values by name, and status, passed, counts, unscored, checks."""

    response: MetricGroup
    operational: MetricGroup
    trajectory: MetricGroup


class JudgeReport(ReportModel):
    """Whether a judge was needed and called, why, its answer and its cost."""

    needed: bool
    called: bool
    reason: str
    usage: dict[str, Any]
    """The cost of the call as the judge reports it; empty if it does not."""
    result: dict[str, Any] | None
    """The validated answer, or the kind of the judge's failure; its ``status`` says which."""


class EvaluationReport(ReportModel):
    """The structured result of one evaluation; ``report["status"]`` reads like ``report.status``."""

    schema_version: Literal[1]
    status: EvaluationStatus
    summary: str
    input: str
    case_id: str | None
    checks: list[CheckRecord]
    """The outcomes of the contract's checks, in its order."""
    metrics: Metrics
    audit_findings: list[AuditFinding]
    judge: JudgeReport
    drift_signals: dict[str, Any]
    alerts: list[Alert]
    """The most severe first."""
    failures: list[str]
    """The reasons of the alerts that keep the run from passing."""
    evidence: list[dict[str, Any]]
    """The judged texts: a hash and a short redacted excerpt of each."""
    errors: list[str]
    recommended_action: str

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - JSON; the attributes have the types
        """Return a field as plain JSON values.

        Raises:
            KeyError: The report has no such field.
        """
        if name not in type(self).model_fields:
            raise KeyError(name)
        return self.model_dump(mode="json", include={name})[name]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the status, the checks and the alerts."""
        checks = [
            (each["check"], _WORDS[each["passed"]], each["wanted"], each["seen"]) for each in self.checks
        ]
        alerts = [(each["severity"], each["metric"], each["reason"]) for each in self.alerts]
        facts = {"summary": self.summary, "errors": "; ".join(self.errors), "next": self.recommended_action}
        tables = (("check", "result", "wanted", "seen"), checks), (("severity", "metric", "reason"), alerts)
        return render_card(self.status, facts, *(CardTable(*table) for table in tables))
