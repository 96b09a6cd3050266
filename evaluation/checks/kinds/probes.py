"""The check of an effect: a tool that reads is asked after the run, and its answer is compared."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from evaluation.checks.base import BaseCheck, CheckKind, Covers, Observation, Text
from evaluation.checks.context import CheckContext, ToolUse
from evaluation.checks.search import has_phrase
from evaluation.patterns.json_schema import AnySchema, find_schema_problem
from evaluation.sensitive.quoting import quote_text, shorten
from evaluation.texts.json_texts import parse_json
from evaluation.values import as_list


class ProbeCheck(BaseCheck):
    """Whether a tool that only reads answers as expected after the step.

    ``expect`` is an object whose fields the answer has, a number, a list, or a text that the answer contains;
    ``json_schema`` is a JSON Schema that the answer fulfils. The orchestrator asks the tool; a recorded run
    has its answers in ``probes``. Without an answer, or after an error, the check is undecided.
    """

    check: Literal["probe"] = "probe"
    kind: ClassVar[CheckKind] = "tool"

    tool: Text
    args: dict[str, object] = Field(default_factory=dict)
    expect: object = None
    json_schema: AnySchema | None = None

    @model_validator(mode="after")
    def _require_expectation(self) -> Self:
        if ("expect" in self.model_fields_set) == ("json_schema" in self.model_fields_set):
            raise ValueError("give either 'expect', what the tool has to answer, or 'json_schema'")
        return self

    @property
    def covers(self) -> Covers:
        """The content: the effect that was asked for is read back."""
        return "content"

    def _observe(self, context: CheckContext) -> Observation:
        asked = [each for each in context.probes if each.name == self.tool and (each.args or {}) == self.args]
        if not asked:
            return Observation(None, "the tool was not asked")
        answer = asked[-1]
        if answer.error is not None:
            return Observation(None, f"the tool answered with an error: {shorten(answer.error)}")
        return Observation(self._fits(answer), f"it answered {shorten(str(answer.result))}")

    def _describe(self) -> str:
        wanted = "JSON of the schema" if self.json_schema is not None else shorten(str(self.expect))
        return f"make the tool {quote_text(self.tool)} answer {wanted} to {shorten(str(self.args))}"

    def _fits(self, answer: ToolUse) -> bool | None:
        text = answer.result if isinstance(answer.result, str) else None
        values = [answer.result] if text is None else parse_json(text)
        if self.json_schema is not None:
            schema = self.json_schema
            return bool(values) and not any(find_schema_problem(schema, value) for value in values)
        if text is not None and isinstance(self.expect, str):
            return has_phrase(text, self.expect, ignore_case=True, whole_words=True)
        return bool(values) and all(_contains(value, self.expect) for value in values)


def _contains(value: object, wanted: object) -> bool:
    """Returns whether a value is the wanted one; of objects, at least the wanted fields."""
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            key in value and _contains(value[key], wanted[key]) for key in wanted
        )
    if isinstance(wanted, list):
        is_list = isinstance(value, list) and len(value) == len(wanted)
        return is_list and all(_contains(*pair) for pair in zip(as_list(value), wanted, strict=True))
    # Python takes True for 1.
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)
