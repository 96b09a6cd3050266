"""Redaction: what was found to be sensitive in a run does not stand in anything that is told about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Final, Self, TypeAlias, TypeVar, cast, get_args

from evaluation.errors import JudgeFailureKind
from evaluation.inputs.rules import MATCH_MODES, Severity
from evaluation.results.alerts import ACTIONS, Alert
from evaluation.results.findings import OUTCOME_STATUSES, AuditFinding, FindingKind, MetricOutcome
from evaluation.results.report import EvaluationReport, JudgeReport, Metrics
from evaluation.results.state import EvaluationState
from evaluation.results.status import STRICTNESS
from evaluation.sensitive.json_values import MAX_SCALARS, Search, encode_json, find_at_places, find_in_json
from evaluation.sensitive.literals import Literals
from evaluation.sensitive.patterns import MAX_CANDIDATES
from evaluation.sensitive.recognizers import build_search
from evaluation.sensitive.scanner import find_sensitive
from evaluation.sensitive.spans import MAX_VALUES, Recognizer, Span
from evaluation.values import JsonObject

_DIGITS_OF_HASH: Final = 16
_MARGIN: Final = 4096
"""Characters beyond an excerpt that are searched too, so that a value which it cuts is recognised."""
_SMALLEST_NUMBER: Final = 10**8
"""No one is known by a number of fewer digits; a measured value may well have them."""
_OWN_WORDS: Final = "\n".join((
    "agent_run agent_run.final_output",
    *EvaluationState.__annotations__,
    *EvaluationReport.model_fields,
    *Metrics.model_fields,
    *JudgeReport.model_fields,
    *(name for shape in (Alert, AuditFinding, MetricOutcome) for name in shape.__annotations__),
    *(word for words in (FindingKind, Severity) for word in get_args(words)),
    *OUTCOME_STATUSES,
    *STRICTNESS,
    *MATCH_MODES,
    "passed counts unscored scored final_output sha256 excerpt string object array number boolean null",
)).lower()  # fmt: skip
"""What a report says of itself: a run whose password is "failed" must not make it unreadable."""
_NONE: Final = Literals.from_values((), "")
UNSEARCHED: Final = (
    "the run was not searched to its end for sensitive data, and the report withholds what it could quote: "
    f"there are more than {MAX_VALUES} such values, {MAX_CANDIDATES} places that look like one, or "
    f"{MAX_SCALARS} scalars"
)
WITHHELD_ACTION: Final = "Evaluate the run in smaller parts, or have a person look through it."
_WITHHELD: Final = "[withheld]"
_NAMES: Final = (
    "actual actual_count adjusted_p_value alignment argument_mismatches audit baseline baseline_values change"
    " checks compared concerns confidence contract criteria current_values details different direction"
    " effect_interval effect_size estimated expected expected_count expected_index extra_actions f1"
    " failed_calls failure forbidden_actions higher length lower match_mode matched_count max measured min"
    " mismatches_truncated missing missing_actions missing_keywords observed_index of optional_count"
    " order_violations p_value pass_score path precision privacy problem rationale recall repaired safety"
    " samples scale score sensitive.unsearched signals sources sustained trajectory type unexpected"
    " unreadable_arguments worse"
)
_PLAIN_WORDS: Final = frozenset({
    "", *_OWN_WORDS.split(), *_NAMES.split(), *get_args(JudgeFailureKind), *ACTIONS.values(),
    UNSEARCHED, WITHHELD_ACTION,
})  # fmt: skip
"""All that is told of a run that was not searched to its end, beside the names that the reader knows."""
T = TypeVar("T")
_Telling: TypeAlias = Callable[[str], str]


def redact(text: str, search: Search = find_sensitive) -> str:
    """Put ``[kind]`` in place of every credential and every piece of personal data in ``text``."""
    pieces, end = [], 0
    for span in search(text):
        pieces += [text[end : span.start], f"[{span.kind}]"]
        end = span.end
    return "".join([*pieces, text[end:]]) if pieces else text


def find_nothing(text: str) -> tuple[Span, ...]:  # noqa: ARG001
    """Find nothing: the search in a text that is known to hold nothing sensitive."""
    return ()


def build_excerpt(value: object, limit: int = 80, search: Search = find_sensitive) -> JsonObject:
    """Quote a JSON value so that it can be recognised and does not tell what it should not.

    Returns:
        ``sha256``: the first 16 hexadecimal digits of the hash of the text, or of the JSON text of what is no
        text (whoever can guess a value can confirm it by its hash); ``type``: string, object, array, number,
        boolean or null; ``length``: of that text, in bytes of UTF-8; ``excerpt``: the beginning, redacted, of
        at most ``limit`` characters.
    """
    text = value if isinstance(value, str) else encode_json(value).decode("utf-8", "replace")
    data = text.encode("utf-8", "surrogatepass")
    shown = redact(text[: limit + _MARGIN], search)
    return {
        "sha256": sha256(data).hexdigest()[:_DIGITS_OF_HASH],
        "type": _type_of(value),
        "length": len(data),
        "excerpt": shown
        if len(shown) <= limit and len(text) <= limit + _MARGIN
        else f"{shown[: limit - 1]}…",
    }


def _type_of(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "object" if isinstance(value, Mapping) else "array"


def _holds_any(report: object) -> bool:
    return next(find_in_json(report), None) is not None


@dataclass(frozen=True, slots=True)
class Redactor:
    """Takes out of a report what its run held of credentials and personal data, wherever it stands by now.

    A value that only its surroundings give away (``password=...``) is taken out where it stands alone too.
    Made once for a run, of everything that the report can quote: a judge's reply and error texts as well.
    """

    literals: Literals
    needed: bool
    """Whether anything was found."""
    search: Search = find_sensitive
    told: frozenset[str] | None = None
    """Of values that were not searched to their end: the only texts that a report may hold."""

    @property
    def withholds(self) -> bool:
        """Whether there was too much to be searched, so that nothing is told but known words."""
        return self.told is not None

    @classmethod
    def of(
        cls, values: Iterable[object], recognizers: Sequence[Recognizer] = (), known: Iterable[str] = ()
    ) -> Self:
        """Collect what is sensitive in JSON values.

        A recogniser that fails is left out here; the audit reports it. Of values that hold too much of it
        (see ``find_in_json``) nothing is told but the package's own words and those that are ``known``.
        """
        search = build_search(recognizers, {})
        found = [one for _, one in find_at_places((("", value) for value in values), search)]
        if any(one.category == "unsearched" for one in found):
            return cls(_NONE, True, search, _PLAIN_WORDS | {*known})
        return cls(Literals.from_values(found, _OWN_WORDS) if found else _NONE, bool(found), search)

    def clean(self, report: T) -> T:
        """Give a JSON value without what is sensitive, in strings, in names and in whole numbers.

        Where nothing sensitive was collected, it is given back as it is. Names that become the same are told
        apart by a number.
        """
        if not self.needed:
            return report
        if self.withholds:
            return cast("T", self._cleaned(report, self.clean_text))
        held = (
            self.literals.may_occur_in(encode_json(report))
            or self.search is not find_sensitive
            or _holds_any(report)
        )
        return cast("T", self._cleaned(report, cache(self.clean_text))) if held else report

    def clean_text(self, text: str) -> str:
        """Give a text without what is sensitive, as for a log or an exception."""
        if self.told is not None:
            return text if text in self.told else _WITHHELD
        return redact(self.literals.redact(text), self.search) if self.needed else text

    def _cleaned(self, value: object, told: _Telling) -> object:
        if isinstance(value, str):
            return told(value)
        if isinstance(value, Mapping):
            return self._cleaned_fields(value, told)
        if isinstance(value, list | tuple):
            return [self._cleaned(one, told) for one in value]
        if isinstance(value, int) and _SMALLEST_NUMBER <= abs(value) < _SMALLEST_NUMBER**3:
            kind = self.literals.kind_of(str(abs(value)))
            return _WITHHELD if self.withholds else f"[{kind}]" if kind else value
        return value

    def _cleaned_fields(self, fields: Mapping[str, object], told: _Telling) -> dict[str, object]:
        cleaned: dict[str, object] = {}
        for name, value in fields.items():
            shown = told(name)
            shown = shown if shown not in cleaned else f"{shown} {len(cleaned) + 1}"
            cleaned[shown] = self._cleaned(value, told)
        return cleaned
