"""The records of executions and of their supervision in the state, and the questions for people."""

from typing import TYPE_CHECKING, Any, Final, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from agents.reply_types import AnswerWord, EffectOutcome, GateDecision, ReadBack
from agents.reply_types import HumanAnswer as HumanAnswer  # noqa: PLC0414 - a public name of this package

if TYPE_CHECKING:
    Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
else:
    # Pydantic and LangGraph read these types at run time, where a recursive alias has no name.
    Json = object


class Usage(TypedDict):
    """Model calls with their tokens, costs and time, as LangChain's callbacks reported them.

    If a model call reported no tokens, the tokens are None and ``token_source`` is "missing", because a sum
    would be too small. ``cost_usd`` is None unless there is a price for every model called.
    """

    model_calls: int
    failed_model_calls: int
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    token_source: Literal["measured", "missing"]
    cost_usd: float | None
    latency_ms: float


NO_USAGE: Final = Usage(
    model_calls=0,
    failed_model_calls=0,
    input_tokens=None,
    output_tokens=None,
    total_tokens=None,
    token_source="missing",  # noqa: S106 - tokens of text
    cost_usd=None,
    latency_ms=0.0,
)


SupervisionMode = Literal["none", "llm", "human"]
"""Who decides on a step: only the evaluation, a model if the step is not clean, or a person on each step."""

CommitKind = Literal["first", "retry", "reorient"]
"""The execution that a commitment is for: the first, one after a refusal, or one after a correction."""

Confidence = Literal["high", "medium", "low"]

VerdictWord = Literal["continue", "reorient", "ask_human", "halt"]


class Commitment(TypedDict):
    """The executor's statement before an execution: what it is going to do. ``step_index`` counts from 0.

    ``readable`` is False if the reply could not be parsed. Then ``interpretation`` holds the reply, and the
    other texts are empty. ``time`` is ISO 8601 in UTC.
    """

    step_index: int
    kind: CommitKind
    instruction: str
    interpretation: str
    scope_in: list[str]
    scope_out: list[str]
    approach: str
    predicted_output: str
    confidence: Confidence
    assumptions: list[str]
    readable: bool
    time: str


class SelfAssessment(TypedDict):
    """The executor's statement after an execution: what it did. ``step_index`` counts from 0.

    ``actual_output`` is an excerpt of the output, and ``tools_used`` names the tools that were called; both
    come from the record of the execution, never from the model. If the reply could not be parsed
    (``readable`` is False), the commitment counts as not met.
    """

    step_index: int
    actual_output: str
    met_commitment: bool
    deviations: list[str]
    concerns: list[str]
    unexpected: list[str]
    tools_used: list[str]
    readable: bool
    time: str


class Reconciliation(TypedDict):
    """The differences between commitment and execution. A step without triggers is clean."""

    triggers: list[str]
    escalate: bool


class SupervisorVerdict(TypedDict):
    """The decision of the supervisor.

    ``correction`` belongs to "reorient", ``question`` to "ask_human", and ``reason`` to any verdict.
    """

    verdict: VerdictWord
    correction: str
    question: str
    reason: str


class SuperviseRequest(TypedDict):
    """Everything that a supervisor sees of a step that is not clean.

    ``output`` is complete; ``findings`` are the findings of the evaluation, in words. ``task`` holds the task
    and the outline of the plan; it is empty if the step is the whole task.
    """

    objective: str
    task: NotRequired[str]
    output: str
    commitment: Commitment | None
    assessment: SelfAssessment | None
    triggers: list[str]
    findings: list[str]


class SupervisionRecord(TypedDict):
    """The supervision of one execution, as a part of its record."""

    mode: SupervisionMode
    commitment: Commitment | None
    assessment: SelfAssessment | None
    triggers: list[str]
    verdict: SupervisorVerdict | None
    answer: HumanAnswer | None


Report: TypeAlias = dict[str, Any]

RecordStatus = Literal["pending_validation", "validated", "failed", "needs_review"]

Basis = Literal["checked", "judged", "approved", "unverified"]
"""What an acceptance rests on: checks that passed, the word of a trusted judge, a person, or none of them."""

Requirement = Literal["checked", "judged", "approved"]
"""The least that a success may have to rest on; "approved" satisfies each of them."""
PlanningMode = Literal["always", "auto", "never"]
Grounding = Literal["facts", "off"]
EvidenceSource = Literal["code", "judge", "person", "nothing"]
"""By what a part of an output is known: checks, a judge that is trusted, a person, or nothing."""


class EvidencePart(TypedDict):
    """How one part of an output is known, with the names of the checks that passed."""

    by: EvidenceSource
    checks: list[str]


class EvidenceRecord(TypedDict):
    """How the form, the content and the actions of an output are known."""

    form: EvidencePart
    content: EvidencePart
    actions: EvidencePart


class EvidenceSummary(TypedDict):
    """``EvidenceRecord`` without the names of the checks."""

    form: EvidenceSource
    content: EvidenceSource
    actions: EvidenceSource


class DerivedContract(TypedDict):
    """The contract of an output that was derived from a text when the run was planned.

    ``contract`` has the fields of an EvaluationContract. ``unchecked`` quotes requirements of the text that
    no check covers.
    """

    contract: dict[str, Json]
    unchecked: list[str]


class CallOrigin(TypedDict):
    """The execution that made a call. ``step_index`` counts from 0, ``attempt`` from 1."""

    step_index: int
    attempt: int


class ToolCallRecord(TypedDict):
    """One tool call of an execution. Calls are in the order of their starts.

    ``args`` are the model's words. ``received`` is the same as the tool's schema reads it, if that differs.
    If a middleware gave the tool other words, these are the ``args``, and those of the model ``written``.
    ``gate`` says why the tool did not run; a "reused" call has the result of the same call in the execution
    ``made_in``. ``answer`` is the answer of a person to the question about the call; a "stated" call has its
    text as the result. ``outcome`` is there if the tool acts. ``writes`` is there
    if the caller or the annotations of the tool say that it acts, and not only its name. ``read_back`` is
    the answer of a reading tool after the call. ``id`` is the model's id of the call.
    """

    name: str
    args: Json
    result: str | None
    error: str | None
    latency_ms: float | None
    gate: NotRequired[GateDecision]
    made_in: NotRequired[CallOrigin]
    answer: NotRequired[HumanAnswer]
    id: NotRequired[str]
    outcome: NotRequired[EffectOutcome]
    read_back: NotRequired[ReadBack]
    received: NotRequired[Json]
    written: NotRequired[Json]
    writes: NotRequired[Literal[True]]


class EffectRecord(TypedDict):
    """A call of a tool that acts, in the execution that the model wanted it in.

    ``outcome`` says whether it acted, ``answer`` its answer or its error, and ``approval`` the answer of a
    person to the question about it. ``is_guessed`` says that only the name of the tool says that it acts.
    """

    step_index: int
    attempt: int
    name: str
    args: Json
    outcome: EffectOutcome
    answer: str | None
    is_guessed: bool
    approval: NotRequired[HumanAnswer]
    read_back: NotRequired[ReadBack]


class VerdictRecord(TypedDict):
    """The verdict of the monitor on an execution."""

    success: bool
    feedback: str


class DecisionRecord(TypedDict):
    """What followed an execution, and why.

    ``use`` is "accept", a strategy of the retry policy, "correct" (a supervisor's or a person's correction),
    "replan" or "stop". ``rule`` is the place of the rule in the policy that decided, and
    ``options`` are its values; None and empty if no rule did.
    """

    use: str
    reason: str
    rule: int | None
    options: dict[str, Json]


class SamplingRecord(TypedDict):
    """How the executor's model was asked to write an output; None stands for its own setting.

    ``model`` is the specification or the name of another model, as an ``EscalateRule`` has it. A server that
    refuses a temperature or a seed keeps its own. The name that the model reported is ``Attempt.model``.
    """

    temperature: float | None
    seed: int | None
    model: str | None


class ProblemRecord(TypedDict):
    """One requirement that an execution did not meet, in words that the executor may read.

    ``kind`` is the kind of the failure, and ``wanted`` the requirement. ``is_stated`` is True if ``wanted``
    says all that has to change, as a check of the vocabulary does; a judge, a function or a command says
    more, which depends on the output.
    """

    kind: str
    wanted: str
    is_stated: NotRequired[bool]


class Attempt(TypedDict):
    """One execution of one step. The monitor and the supervision complete it.

    ``step_index`` counts from 0, ``attempt`` from 1. Messages and the command line count steps from 1.
    ``judge_usage`` is the usage of evaluation and supervision. ``replan`` counts the re-plans before it.
    ``feedback`` is given to the agents in place of the verdict's if that quotes the expected answer.
    ``basis`` is the basis of the verdict, and ``basis_reason`` says it in words. ``problems`` has the
    requirements that were not met, the most severe first, and ``decision`` is what followed. ``cut_off`` is
    the provider's reason for cutting the reply off.
    """

    step_index: int
    step: str
    attempt: int
    result: str
    status: RecordStatus
    verdict: VerdictRecord | None
    feedback: NotRequired[str]
    basis: NotRequired[Basis]
    basis_reason: NotRequired[str]
    evidence: NotRequired[EvidenceRecord]
    problems: NotRequired[list[ProblemRecord]]
    decision: NotRequired[DecisionRecord]
    sampling: NotRequired[SamplingRecord]
    cut_off: NotRequired[str]
    report: Report | None
    warnings: list[str]
    supervision: SupervisionRecord | None
    tool_calls: list[ToolCallRecord]
    usage: Usage
    judge_usage: Usage | None
    model: str | None
    transport_retries: int
    replan: int
    started_at: str
    error: str | None


class Question(TypedDict):
    """A question for a person about an execution. ``asked_at`` is in UTC.

    ``tool_calls`` has the calls of the execution; of kind "tool", the one call that waits for an approval, or
    those of an interrupted execution that may have acted.
    ``step_index`` counts from 0, ``attempt`` from 1.
    ``accepts`` lists the accepted answers. ``problem`` says why the answer before was refused.
    """

    id: str
    kind: Literal["supervision", "review", "agent", "tool"]
    step_index: int
    step: str
    attempt: int
    text: str
    output: str
    findings: list[str]
    accepts: list[AnswerWord]
    asked_at: str
    problem: str | None
    tool_calls: NotRequired[list[ToolCallRecord]]
