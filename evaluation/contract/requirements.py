"""Contract: the demands on a run, made once of what people state, each with its origin.

This module expands the short forms of a contract, such as ``keywords``, into requirements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Final, Literal, TypeAlias

from pydantic import ValidationError

from evaluation.checks.check_model import BaseCheck, CheckContext, CheckOutcome
from evaluation.checks.contract_checks import CONTRACT_CHECK_FIELDS, NamedCheck
from evaluation.checks.kinds.style import JsonSchema
from evaluation.checks.kinds.tools import ToolCalls
from evaluation.checks.kinds.wording import Contains, Excludes, Pattern, StatesNumber
from evaluation.contract.contract import (
    AuditRule,
    ContentRule,
    EvaluationContract,
    Threshold,
    merge_rules,
)
from evaluation.errors import ContractError
from evaluation.findings import Covers
from evaluation.validation import describe_errors, list_field_paths
from evaluation.values import Severity

Origin: TypeAlias = Literal["caller", "task", "own"]
"""Who demands something: the caller, the words of the task, a plan, or this framework itself."""
Place: TypeAlias = Literal["final_output", "assistant_messages"]
FIELD_PATHS: Final = (
    *list_field_paths(EvaluationContract),
    *(f"checks.{name}" for name in CONTRACT_CHECK_FIELDS),
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One demand on a run.

    Attributes:
        check: What decides: a check of the vocabulary, the name of the user's own, or an audit rule; None for
            a metric or a judge.
        name: Its name in reports: the kind of the check, or the field of the contract that states it.
        metric: The metric of its alert.
        field: The path of the field that states it.
        origin: Who demands it.
        covers: What it is about: the form of the answer, its content, or the actions; None for time, cost and
            what only a judge can score, and for the user's own check, which says it.
        severity: Severity of a failure; None for the severity of the user's own check, or of the metric.
        where: The texts that it reads; a check that forbids reads also the joined parts of messages.
        forbids: Whether it has to hold for every text, and not for one of them.
        quote: The words of the task that state it.
        owner: Owner of its alert.
    """

    check: BaseCheck | NamedCheck | AuditRule | None
    name: str
    metric: str
    field: str
    origin: Origin = "caller"
    covers: Covers | None = None
    severity: Severity | None = "critical"
    where: Place = "final_output"
    forbids: bool = False
    quote: str | None = None
    owner: str | None = None

    def demands_as(self, other: Requirement) -> bool:
        """Return whether another contract demands the same."""
        return replace(other, origin=self.origin, field=self.field, covers=self.covers) == self


_NOTHING: Final = EvaluationContract()


@dataclass(frozen=True)
class Contract:
    """The demands on a step or a run.

    Attributes:
        requirements: All demands, also of several contracts that were joined.
        rules: The fields as people state them, with what demands nothing, such as how actions are compared.
    """

    requirements: tuple[Requirement, ...] = ()
    rules: EvaluationContract = _NOTHING

    @classmethod
    def of(cls, rules: EvaluationContract, origin: Origin = "caller") -> Contract:
        """Make a contract of valid fields."""
        demands = _expand(rules)
        if origin != "caller":
            # A pass proves no content if only the words of the task demand it.
            proof: Mapping[Covers | None, Covers] = {"content": "form"} if origin == "task" else {}
            demands = (
                replace(each, origin=origin, covers=proof.get(each.covers, each.covers)) for each in demands
            )
        return cls(tuple(demands), rules)

    @classmethod
    def read(cls, fields: object, origin: Origin = "caller", name: str = "contract") -> Contract:
        """Validate the fields of a contract; a model of them is valid already.

        Raises:
            ContractError: A field is wrong; one sentence for each, which begins with its path. ``name`` is
                the name of ``fields``.
        """
        if isinstance(fields, EvaluationContract):
            return cls.of(fields, origin)
        given = dict(fields) if isinstance(fields, Mapping) else fields
        try:
            return cls.of(EvaluationContract.model_validate(given), origin)
        except ValidationError as error:
            raise ContractError("; ".join(describe_errors(error, given, FIELD_PATHS, name))) from None

    @cached_property
    def plain(self) -> Mapping[str, Any]:
        """The fields that are set, as JSON: a default that is written out would count as a demand."""
        names = {*EvaluationContract.model_fields}
        return self.rules.model_dump(mode="json", exclude_unset=True, include=names)

    def join(self, other: Contract) -> Contract:
        """Return the contract of a run for which both hold.

        Raises:
            ContractError: Both state a field that has one value, and differently.
        """
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        rules = merge_rules(self.rules, other.rules)
        return Contract(_add_new(self.requirements, other.requirements), rules)

    def override(self, closer: Contract) -> Contract:
        """Return both contracts; if both state a field that has one value, the closer one holds."""
        rules = merge_rules(self.rules, closer.rules, is_closer=True)
        demanded = Contract.of(rules).requirements
        kept = [each for each in self.requirements if any(map(each.demands_as, demanded))]
        return Contract(_add_new(kept, closer.requirements), rules)

    def with_search(self, defects: Literal["off", "warn"]) -> Contract:
        """Return the contract with the search for defects, unless it says itself whether there is one."""
        audit = self.rules.audit
        if "defects" in audit.model_fields_set:
            return self
        audit = audit.model_copy(update={"defects": defects})
        return replace(self, rules=self.rules.model_copy(update={"audit": audit}))

    @property
    def is_empty(self) -> bool:
        """Whether no field is stated."""
        return not self.rules.model_fields_set

    @property
    def asks_for_calls(self) -> bool:
        """Whether it says which tools have to be called."""
        is_named = any(isinstance(each.check, ToolCalls) for each in self.requirements)
        return is_named or bool(self.rules.expected_trajectory)


def join_contracts(contracts: Iterable[Contract | None]) -> Contract:
    """Return the contract of a run for which all hold; None stands for no contract. Raises as ``join``."""
    return reduce(Contract.join, [each for each in contracts if each is not None], Contract())


def _add_new(first: Sequence[Requirement], second: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """Join demands; of two that demand the same, the caller's counts."""
    stated = [each for each in second if each.origin == "caller"]
    kept = (next((each for each in stated if each.demands_as(known)), known) for known in first)
    return (*kept, *(each for each in second if not any(map(each.demands_as, first))))


def _expand(rules: EvaluationContract) -> Iterator[Requirement]:
    """Yield every demand of a contract, the list ``checks`` first.

    | field | what decides |
    |---|---|
    | ``required_content`` | ``contains``, ``regex``, ``schema`` or ``states_number`` |
    | ``forbidden_content`` | ``excludes``, or these with the opposite sense |
    | ``keywords`` | ``contains``, unless a threshold on ``keyword_coverage`` stands for it |
    | ``must_call`` | ``tool_calls`` |
    | ``audit.rules`` | the rule itself |
    | ``reference_output``, ``expected_trajectory``, ``thresholds`` | None: a metric |
    | ``trajectory.forbidden_tools``, ``audit.defects`` | None |
    | ``rubric``, ``subjective_criteria`` | None: a judge |
    """
    yield from _list_checks(rules)
    for place, rule in enumerate(rules.required_content):
        yield expand_rule(rule, f"required_content[{place}]", required=True)
    for place, rule in enumerate(rules.forbidden_content):
        yield expand_rule(rule, f"forbidden_content[{place}]", required=False)
    yield from _expand_keywords(rules)
    for tool in rules.must_call:
        check = ToolCalls(tool=tool, min=1)
        yield Requirement(check, "must_call", "must_call", "must_call", covers="actions")
    for place, audit in enumerate(rules.audit.rules):
        field = f"audit.rules[{place}]"
        covers: Covers | None = "content" if audit.required is not None else None
        yield Requirement(
            audit, audit.id, "audit", field, covers=covers, severity=audit.severity, owner=audit.owner
        )
    yield from _list_measured(rules)


def _list_checks(rules: EvaluationContract) -> Iterator[Requirement]:
    for place, check in enumerate(rules.checks):
        field = f"checks[{place}]"
        if isinstance(check, BaseCheck):
            name, quote = check.get_name(), check.quote
            yield Requirement(
                check, name, f"checks.{name}", field, "caller", check.covers, check.severity, quote=quote
            )
        else:
            yield Requirement(check, check.name, f"checks.{check.name}", field, severity=check.severity)


def _list_measured(rules: EvaluationContract) -> Iterator[Requirement]:
    """Yield the demands that a metric or a judge decides."""
    covers: dict[str, Covers] = {
        "reference_output": "content",
        "expected_trajectory": "content" if _expects_effect(rules) else "actions",
    }
    is_stated = {
        "reference_output": rules.reference_output is not None,
        "expected_trajectory": rules.expected_trajectory is not None,
        "trajectory.forbidden_tools": bool(rules.trajectory.forbidden_tools),
        "audit.defects": rules.audit.defects == "fail" and "defects" in rules.audit.model_fields_set,
        "rubric": rules.rubric is not None,
    }
    stated = (field for field in is_stated if is_stated[field])
    bounds = (f"thresholds.{metric}" for metric in rules.thresholds)
    for field in (*stated, *bounds):
        yield _measure(field, covers.get(field))
    for name in rules.subjective_criteria:
        yield replace(_measure("subjective_criteria"), quote=name)


def _measure(field: str, covers: Covers | None = None) -> Requirement:
    name, metric = field.partition(".")[0], field.partition(".")[2] or field
    return Requirement(None, name, metric, field, covers=covers, severity=None)


def _expects_effect(rules: EvaluationContract) -> bool:
    """Return whether a writing call has to be made: it proves the content, and any other call an action."""
    writing = rules.trajectory.acting_tools
    if writing is None or rules.trajectory_match_mode == "subset":
        return False
    expected = rules.expected_trajectory or ()
    return any({*action.names} <= {*writing} for action in expected)


def expand_rule(rule: ContentRule, field: str, *, required: bool) -> Requirement:
    """Write a content rule as a check; one that forbids reads by default all that the assistant said."""
    name = "required_content" if required else "forbidden_content"
    check = _build_check(rule, required=required)
    place = rule.where if required or "where" in rule.model_fields_set else "assistant_messages"
    return Requirement(check, name, name, field, "caller", check.covers, rule.severity, place, not required)


def _build_check(rule: ContentRule, *, required: bool) -> BaseCheck:
    if rule.text is not None:
        kind = Contains if required else Excludes
        return kind(texts=[rule.text], ignore_case=rule.ignore_case, whole_words=False)
    if rule.pattern is not None:
        return Pattern(pattern=rule.pattern, matches=required)
    if rule.number is not None:
        return StatesNumber(number=rule.number, tolerance=rule.tolerance, present=required, share=rule.share)
    return JsonSchema(json_schema=rule.json_schema is not None and rule.json_schema, alone=False)


def _expand_keywords(rules: EvaluationContract) -> Iterator[Requirement]:
    keywords = [word for word in rules.keywords if word.strip()]
    if keywords and not is_demanding(rules.thresholds.get("keyword_coverage")):
        check = Contains(texts=keywords, whole_words=True)
        yield Requirement(check, "keywords", "keyword_coverage", "keywords", covers="content")


def is_demanding(bound: Threshold | float | None) -> bool:
    """Return whether a threshold on a share or a similarity is a minimum whose breach matters."""
    if isinstance(bound, Threshold):
        return bound.min is not None and bound.min > 0 and bound.severity != "info"
    return bound is not None and bound > 0


def evaluate_requirement(requirement: Requirement, context: CheckContext) -> CheckOutcome:
    """Evaluate a check of the vocabulary on all texts that it reads; the one that decides is reported."""
    check = requirement.check
    if not isinstance(check, BaseCheck):
        raise TypeError("a check of the user's code is called by its caller")
    texts = list(dict.fromkeys(_list_texts(requirement, context)))
    if len(texts) < 2:  # noqa: PLR2004
        # The context itself keeps the words of its output for the next check.
        is_other = texts and texts[0] != context.output
        return check.evaluate(replace(context, output=texts[0], has_output=True) if is_other else context)
    parts = (replace(context, output=text, has_output=True) for text in texts)
    order = (False, None, True) if requirement.forbids else (True, None, False)
    return min(map(check.evaluate, parts), key=lambda outcome: order.index(outcome.passed))


def _list_texts(requirement: Requirement, context: CheckContext) -> Iterator[str]:
    if context.has_output:
        yield context.output
    for parts in context.messages:
        is_read = requirement.where == "assistant_messages" or "".join(parts) == context.output
        if requirement.where == "assistant_messages":
            yield from parts
        # A reader may see several parts of a message joined, and a forbidden text across them.
        if requirement.forbids and is_read and len(parts) > 1:
            yield from ("".join(parts), " ".join(parts))


DEFAULT_CONTRACT: Final = Contract.read({"audit": {"defects": "fail"}})
"""The contract of a recorded run that has none: what the run says is compared with what it did."""
