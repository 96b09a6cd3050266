"""Removes credentials and personal data from reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from typing import Final, Self, TypeAlias, TypeVar, cast, get_args

from evaluation.checks.check_kinds import CHECKS
from evaluation.checks.check_model import CheckKind, Covers
from evaluation.errors import JudgeFailureKind
from evaluation.inputs.trajectory_rules import MATCH_MODES
from evaluation.results.alerts import ACTIONS, Alert
from evaluation.results.findings import (
    OUTCOME_STATUSES,
    AuditFinding,
    CheckRecord,
    CheckSource,
    FindingKind,
    MetricOutcome,
)
from evaluation.results.report import EvaluationReport, JudgeReport, Metrics
from evaluation.results.state import EvaluationState
from evaluation.results.status import STRICTNESS
from evaluation.sensitive.detector import MAX_CANDIDATES
from evaluation.sensitive.json_values import MAX_SCALARS, encode_json, find_at_places
from evaluation.sensitive.known_values import Literals
from evaluation.sensitive.quoting import redact, shorten
from evaluation.sensitive.scanner import Search, build_search, find_sensitive
from evaluation.sensitive.spans import MAX_VALUES, Recognizer
from evaluation.values import JsonObject, Severity

_DIGITS_OF_HASH: Final = 16
_SMALLEST_NUMBER: Final = 10**8
"""Shorter whole numbers are never redacted: they are measured values, and identify nobody."""
_OWN_WORDS: Final = "\n".join((
    "agent_run agent_run.final_output",
    *(name for model in (EvaluationReport, Metrics, JudgeReport) for name in model.model_fields),
    *(
        name
        for shape in (EvaluationState, Alert, AuditFinding, CheckRecord, MetricOutcome)
        for name in shape.__annotations__
    ),
    *(word for words in (FindingKind, Severity, CheckKind, CheckSource, Covers) for word in get_args(words)),
    *OUTCOME_STATUSES, *STRICTNESS, *MATCH_MODES, *CHECKS,
    "passed counts unscored scored final_output sha256 excerpt string object array number boolean null",
)).lower()  # fmt: skip
"""The report's own words, which stay: a run whose password is "failed" must not make it unreadable."""
_SHORT: Final = 200
_JSON_TYPES: Final = {str: "string", bool: "boolean", int: "number", float: "number"}
_NONE: Final = Literals.from_values((), "")
UNSEARCHED: Final = (
    "the run was not searched to its end for sensitive data, and the report withholds what it could quote: "
    f"there are more than {MAX_VALUES} such values, {MAX_CANDIDATES} places that look like one, or "
    f"{MAX_SCALARS} scalars."
)
WITHHELD_ACTION: Final = "Evaluate the run in smaller parts, or have a person look through it."
_WITHHELD: Final = "[withheld]"
_NAMES: Final = (
    "actual actual_count argument_mismatches audit baseline change"
    " checks compared concerns confidence contract criteria decisive details different direction"
    " estimated expected expected_count extra_actions f1"
    " failed_calls failure forbidden_actions higher length lower match_mode matched_count max measured min"
    " missing missing_actions missing_keywords of optional_count"
    " order_violations pass_score path precision privacy problem rationale recall recorded_writes"
    " repaired safety scale score sensitive.unsearched signals sources sustained trajectory type unexpected"
    " unexpected_writes unreadable_arguments worse"
)
_PLAIN_WORDS: Final = frozenset({
    "", *_OWN_WORDS.split(), *_NAMES.split(), *get_args(JudgeFailureKind), *ACTIONS.values(),
    UNSEARCHED, WITHHELD_ACTION,
})  # fmt: skip
"""The texts that stay in a report if the search of its run was stopped, besides known metric names."""
T = TypeVar("T")
_CleanText: TypeAlias = Callable[[str], str]


@lru_cache(256)
def _redact_short(text: str) -> str:
    """Redact a text with the built-in search; most short texts are sentences that many reports have."""
    return redact(text)


def build_excerpt(value: object, limit: int = 80, search: Search = find_sensitive) -> JsonObject:
    """Quote a JSON value: enough to recognise it, without sensitive data.

    Returns:
        ``sha256``: the first 16 hexadecimal digits of the hash of the text, or of the JSON text of another
        value (a reader who guesses a value can confirm it by its hash); ``type``: string, object, array,
        number, boolean or null; ``length``: of that text, in bytes of UTF-8; ``excerpt``: the redacted
        beginning, at most ``limit`` characters.
    """
    text = value if isinstance(value, str) else encode_json(value).decode("utf-8", "replace")
    # The text may hold half a surrogate pair, and quoting it must not fail.
    data = text.encode("utf-8", "surrogatepass")
    return {
        "sha256": sha256(data).hexdigest()[:_DIGITS_OF_HASH],
        "type": _json_type(value),
        "length": len(data),
        "excerpt": redact(text, search) if len(text) <= limit else shorten(text, limit, search),
    }


def _json_type(value: object) -> str:
    if value is None:
        return "null"
    return _JSON_TYPES.get(type(value), "object" if isinstance(value, Mapping) else "array")


@dataclass(frozen=True, slots=True)
class Redactor:
    """Removes the credentials and personal data of one run from its report.

    A value that is recognised by its surroundings (``password=...``) is removed where it stands alone, too.
    Built once for a run, from all data that the report can quote, a judge's reply included.
    """

    literals: Literals
    needed: bool
    """Whether the run contains anything sensitive."""
    search: Search = find_sensitive
    permitted: frozenset[str] | None = None
    """If the search was stopped at a limit: the only texts that the report may contain."""

    @classmethod
    def of(
        cls, values: Iterable[object], recognizers: Sequence[Recognizer] = (), known: Iterable[str] = ()
    ) -> Self:
        """Collect the sensitive data in JSON values.

        A recogniser that fails is left out here; the audit reports it. If the search stops at a limit (see
        ``find_at_places``), the report keeps only the package's own words and the ``known`` ones.
        """
        search = build_search(recognizers, {})
        matches = [match for _, match in find_at_places((("", value) for value in values), search)]
        if any(match.category == "unsearched" for match in matches):
            return cls(_NONE, True, search, _PLAIN_WORDS | {*known})
        return cls(Literals.from_values(matches, _OWN_WORDS) if matches else _NONE, bool(matches), search)

    def clean(self, report: T) -> T:
        """Return a JSON value without sensitive data in strings, names and whole numbers.

        It is returned unchanged if the run contains nothing sensitive. Names that become equal get a number.
        """
        if not self.needed:
            return report
        # Cached, because a report repeats its names and reasons.
        return cast("T", self._clean_value(report, cache(self.clean_text)))

    def clean_text(self, text: str) -> str:
        """Return a text without sensitive data, for a log or an exception."""
        if self.permitted is not None:
            return text if text in self.permitted else _WITHHELD
        # A recogniser may mark any text, and the report keeps its fields and statuses.
        if not self.needed or text in _PLAIN_WORDS:
            return text
        shown = self.literals.redact(text)
        is_short = self.search is find_sensitive and len(shown) <= _SHORT
        return _redact_short(shown) if is_short else redact(shown, self.search)

    def _clean_value(self, value: object, clean: _CleanText) -> object:
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, Mapping):
            return self._clean_fields(value, clean)
        if isinstance(value, list | tuple):
            return [self._clean_value(item, clean) for item in value]
        if isinstance(value, int) and _SMALLEST_NUMBER <= abs(value) < _SMALLEST_NUMBER**3:
            kind = self.literals.kind_of(str(abs(value)))
            return _WITHHELD if self.permitted is not None else f"[{kind}]" if kind else value
        return value

    def _clean_fields(self, fields: Mapping[str, object], clean: _CleanText) -> dict[str, object]:
        cleaned: dict[str, object] = {}
        for name, value in fields.items():
            clean_name = clean(name)
            unique = clean_name if clean_name not in cleaned else f"{clean_name} {len(cleaned) + 1}"
            cleaned[unique] = self._clean_value(value, clean)
        return cleaned
