"""RetryPolicy with its rules, and its decision: a pure function of the policy and the history of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeAlias, get_args

from pydantic import BeforeValidator, Field

from agents.models.server_errors import TransportRetry
from evaluation.cases.case_files import format_yaml
from orchestrator.judging.feedback import RefusalKind, list_kinds, report_score
from orchestrator.runtime.budget import Count, CountBound, PositiveCount, SettingsModel, read_object
from orchestrator.state.graph_state import OrchestratorState, list_records, read_correction
from orchestrator.state.records import Attempt


def _read_kinds(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


_Kinds: TypeAlias = Annotated[
    Annotated[tuple[RefusalKind, ...], Field(min_length=1)] | None,
    BeforeValidator(_read_kinds),
    Field(description=f"kinds of failures ({', '.join(get_args(RefusalKind))}), or leave it out for all"),
]
Temperature: TypeAlias = Annotated[
    int | float | None,
    Field(ge=0, le=2, description="a number from 0 to 2, or None for the model's own temperature"),
]
LastOutput = Literal["auto", "turn", "none"]

_DEFAULT_TEMPERATURE: Final = 0.7
"""A second try at temperature 0 repeats the first one."""


class BaseRule(SettingsModel):
    """One rule of ``RetryPolicy.strategies``. The first rule that matches a failure decides.

    Attributes:
        after: Kinds of failures; the rule matches if one of the failed checks has one of them. None matches
            every failed check. A missing verdict matches only a rule that names "unverified".
        times: How often the rule may decide in one step; None is no bound but ``max_retries``.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    # Not "on", which other readers of YAML take for True.
    after: _Kinds = None
    times: CountBound = None


class FeedbackRule(BaseRule):
    """Executes the step again and tells the executor what failed.

    Attributes:
        last_output: "turn" shows the refused output as the executor's own message of the chat, and the failed
            checks as the answer to it; "none" adds the requirements that failed to the instruction and does
            not show the output. "auto" is "none" if only checks of the vocabulary failed, whose requirements
            say it all, and the step called no tool, which a second execution could call again; else it is
            "turn".
        temperature: Temperature of the executor's model; None keeps its own.
    """

    use: Literal["feedback"] = "feedback"
    last_output: LastOutput = "auto"
    temperature: Temperature = _DEFAULT_TEMPERATURE


class ResampleRule(BaseRule):
    """Executes the step again as if it were the first time, with another seed.

    Attributes:
        temperature: Temperature of the executor's model; None keeps its own.
    """

    use: Literal["resample"] = "resample"
    temperature: Temperature = _DEFAULT_TEMPERATURE


class EscalateRule(BaseRule):
    """Executes the step again with another model.

    Attributes:
        model: A model specification such as "ollama:qwen3", or a name in ``models`` of the orchestrator.
        last_output: As of ``FeedbackRule``.
        temperature: Temperature of that model; None keeps its own.
    """

    use: Literal["escalate"] = "escalate"
    model: Annotated[str, Field(pattern=r"\S", description="a model specification, or a name of `models`")]
    last_output: LastOutput = "none"
    temperature: Temperature = None


class AskHumanRule(BaseRule):
    """Asks a person, who approves, corrects or denies. Needs a checkpointer."""

    use: Literal["ask_human"] = "ask_human"


ExecutingRule: TypeAlias = FeedbackRule | ResampleRule | EscalateRule
"""The rules that execute the step again."""
RetryRule: TypeAlias = Annotated[ExecutingRule | AskHumanRule, Field(discriminator="use")]


_UNJUDGED: Final = ("pending_validation", "needs_review")
"""The statuses of an execution that has no verdict."""


def find_best_answer(state: OrchestratorState) -> Attempt | None:
    """Returns the best attempt at the answer of a run: by its report, and of equal ones the earliest.

    An execution of the whole task is such an attempt; if there is none, so are the executions of the last
    step that was begun. Returns None if no attempt has a text.
    """
    written = [record for record in list_records(state) if record["result"]]
    attempts = [record for record in written if record["step"] == state["task"]]
    last = [record for record in written if record["step_index"] == written[-1]["step_index"]]
    # The earliest, because the refusals of a judge that was not measured say little.
    return max(attempts or last, key=_score_record, default=None)


def _score_record(record: Attempt) -> float:
    """Returns the score of an execution; -1 if nothing was scored."""
    score = report_score(record["report"] or {})
    return -1.0 if score is None else score


class RetryPolicy(SettingsModel):
    """What happens after a step was not accepted: one value that can be stored, compared and varied.

    Transient errors of a server are apart, in ``transport``.

    Attributes:
        max_retries: Executions of a step after its first, before the run fails.
        strategies: Rules for the action after a failed execution; the first that matches decides. If there
            is no verdict, only a rule that names "unverified" does; without one, the run ends for a person to
            look at.
        judge_attempts: How often the monitor is asked about one execution if its answers cannot be read.
            The execution itself is not repeated for that.
        transport: How often and how patiently a call is repeated after a transient error.
        max_replans: How often the planner replans the rest of the task after a step has no retries left.
        seed: The seeds of retries are derived from it, from the step and from the number of the attempt.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    max_retries: Count = 2
    strategies: Annotated[
        Sequence[RetryRule],
        BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value),
        Field(min_length=1, description="a list of rules, such as [FeedbackRule()]"),
    ] = (FeedbackRule(),)
    judge_attempts: PositiveCount = 2
    transport: Annotated[
        TransportRetry,
        BeforeValidator(lambda value: TransportRetry(**value) if isinstance(value, Mapping) else value),
        Field(description="a TransportRetry, or an object with its fields, such as {max_attempts: 2}"),
    ] = Field(default_factory=TransportRetry)
    max_replans: Count = 0
    seed: Count = 0

    @property
    def asks_human(self) -> bool:
        """Whether a person may be asked about an execution."""
        return any(rule.use == "ask_human" for rule in self.strategies)

    @property
    def escalations(self) -> list[str]:
        """The models that the rules escalate to, each once."""
        rules = (rule for rule in self.strategies if isinstance(rule, EscalateRule))
        return list(dict.fromkeys(rule.model for rule in rules))

    def with_max_retries(self, max_retries: int | None) -> Self:
        """Returns the policy with another bound; None keeps its own.

        Raises:
            ConfigurationError: It is not accepted.
        """
        return self if max_retries is None else type(self)(**{**dict(self), "max_retries": max_retries})

    @classmethod
    def from_yaml(cls, source: str | Path) -> Self:
        """Reads a policy from YAML or JSON.

        Args:
            source: The text, or the ``Path`` of a file in UTF-8.

        Raises:
            ConfigurationError: The file cannot be read, the text is no YAML or no object, or a value in it is
                not accepted.
        """
        return cls(**read_object(source, "the retry policy", "{max_retries: 3}"))

    def to_yaml(self) -> str:
        """Writes the policy as YAML that ``from_yaml`` reads: the values that differ from the default."""
        values = self.model_dump(mode="json", exclude_defaults=True)
        # Without its use, no rule can be read.
        uses = [{"use": rule.use} for rule in self.strategies]
        rules = [{**use, **rule} for use, rule in zip(uses, values.get("strategies", ()), strict=False)]
        return format_yaml({**values, **({"strategies": rules} if rules else {})})


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryDecision:
    """The next action after an execution.

    Attributes:
        use: "accept"; a strategy of the policy; or, if none is left, "replan" or "stop".
        reason: Why, in one clause.
        rule: The rule that decides; None if the bounds of the policy do.
        position: Place of that rule in ``RetryPolicy.strategies``.
    """

    use: str
    reason: str
    rule: RetryRule | None = None
    position: int | None = None


def decide(policy: RetryPolicy, history: Sequence[Attempt]) -> RetryDecision:
    """Chooses the next action after the last execution of a step.

    ``max_retries`` decides first. Then the first rule of ``strategies`` decides that matches the failure and
    was not used ``times`` times. ``ask_human``, which executes nothing, decides also after the last retry. A
    missing verdict ends the run, unless a rule names "unverified".

    Args:
        policy: The policy. ``max_retries`` and ``max_replans`` are those that the run has left in all.
        history: The executions of the step as judged, in order; not empty.
    """
    last = history[-1]
    if last["status"] == "validated":
        return RetryDecision(use="accept", reason="the evaluation accepted the output")
    names_it = any("unverified" in (rule.after or ()) for rule in policy.strategies)
    if last["status"] in _UNJUDGED and not names_it:
        return RetryDecision(use="stop", reason="there is no verdict")
    end, kinds = _find_end(policy, history), list_kinds(last["report"]) or ["other"]
    by_rule = _apply_rules(policy, history, kinds, can_execute=end is None)
    reason = end or f"no strategy is left for: {', '.join(kinds)}"
    return by_rule or RetryDecision(use="replan" if policy.max_replans else "stop", reason=reason)


def _find_end(policy: RetryPolicy, history: Sequence[Attempt]) -> str | None:
    """Returns why the step is not executed again under any rule; None if it may be."""
    refusals = sum(each["status"] != "validated" and read_correction(each) is None for each in history)
    if refusals <= policy.max_retries:
        return None
    times = "once" if refusals == 1 else f"{refusals} times"
    return f"refused {times}, max_retries is {policy.max_retries}"


def _apply_rules(
    policy: RetryPolicy, history: Sequence[Attempt], kinds: Sequence[str], *, can_execute: bool
) -> RetryDecision | None:
    """Returns the decision of the first rule that matches; None if none does."""
    last = history[-1]
    for position, rule in enumerate(policy.strategies):
        is_possible = can_execute or rule.use == "ask_human"
        if is_possible and _matches(rule, last, kinds) and not _is_used_up(rule, position, history[:-1]):
            reason = f"{', '.join(kinds)} failed at attempt {last['attempt']}"
            return RetryDecision(use=rule.use, reason=reason, rule=rule, position=position)
    return None


def _matches(rule: RetryRule, last: Attempt, kinds: Sequence[str]) -> bool:
    if last["status"] in _UNJUDGED:
        return "unverified" in (rule.after or ())
    return rule.after is None or not {*kinds}.isdisjoint(rule.after)


def _is_used_up(rule: RetryRule, position: int, earlier: Sequence[Attempt]) -> bool:
    # A correction is what a rule that asks a person led to.
    uses = {rule.use, "correct"}
    decisions = [record.get("decision") for record in earlier]
    used = sum(each is not None and each["rule"] == position and each["use"] in uses for each in decisions)
    return rule.times is not None and used >= rule.times
