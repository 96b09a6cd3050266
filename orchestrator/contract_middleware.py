"""ContractMiddleware: a contract inside an agent of LangChain, which decides about its last message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias, Unpack
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, ModelResponse, hook_config
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from agents import prompts
from agents.loop.effects import (
    Effect,
    Withheld,
    build_effect,
    find_last_reply,
    is_request,
    list_attempts,
)
from agents.loop.effects_middleware import AnyHandler, AnyRequest, EffectsState, ToolHandler
from agents.loop.langgraph_internals import has_saver, is_in_tool
from agents.loop.reply_problems import build_correction
from agents.loop.single_agent import ask_decision, build_decision_request, build_single_gate
from agents.loop.tool_answers import build_answer
from agents.models.model_call import answer_text
from agents.parsing.end_reasons import find_message_cut_off
from agents.sync import Conversation, awaited, blocking, call_either
from evaluation import EvaluationContract, EvaluationReport, aevaluate, evaluate
from evaluation.contract.requirements import Contract
from evaluation.contract.run import convert_calls
from evaluation.findings import EvaluationStatus
from evaluation.importers.imported_message import is_visible
from evaluation.plugins import AnyJudge, JudgeFunction, PluginOptions, Plugins
from orchestrator.errors import ConfigurationError, UnmetContractError
from orchestrator.judging.contract_choice import read_call_rules
from orchestrator.judging.contract_options import validate_contract
from orchestrator.judging.evidence import ACCEPTING, Evidence, is_enough, read_evidence
from orchestrator.judging.executor_tools import ExecutorTools, describe_repeat
from orchestrator.judging.feedback import feedback_of, list_kinds, read_expectations, report_score
from orchestrator.runtime.budget import Count, SettingsModel
from orchestrator.runtime.call_records import plan_record, read_tool_calls
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import Basis, EvidenceRecord, Report, Requirement, ToolCallRecord

OnFailure: TypeAlias = Literal["return", "raise", "ask"]
ToolResult: TypeAlias = ToolMessage | Command[Any]
_OPEN: Final = frozenset({"unverified"})
"""The kinds of failures that another answer cannot mend: nobody could say whether the last one is good."""


class ConversationAttempt(TypedDict):
    """One answer of an agent, its score from 0 to 1 (None: nothing was scored), and the change it needs."""

    output: str
    status: EvaluationStatus
    score: float | None
    feedback: str


class ConversationVerdict(TypedDict):
    """The verdict on the answer of an agent, as plain JSON.

    ``accepted`` says whether ``status`` and ``basis`` are enough, and ``reason`` why, in one sentence.
    ``warnings`` names the tools that a retry called again, and that act by their names alone.
    """

    accepted: bool
    status: EvaluationStatus
    basis: Basis
    reason: str
    evidence: EvidenceRecord
    report: Report
    attempts: list[ConversationAttempt]
    warnings: list[str]


class ContractState(EffectsState):
    """The state of an agent with the verdict on its answer."""

    verdict: NotRequired[Annotated[ConversationVerdict | None, OmitFromInput]]
    contract_attempts: NotRequired[Annotated[list[ConversationAttempt], PrivateStateAttr]]
    contract_request: NotRequired[Annotated[AnyMessage | None, PrivateStateAttr]]


class _Limits(SettingsModel):
    max_retries: Count
    require: Requirement | None
    on_failure: OnFailure


class ContractMiddleware(AgentMiddleware[Any, Any, Any]):
    """Accepts the answer of an agent only if it meets a contract.

    After the last message of the agent, the evaluation that decides everywhere decides about all that the
    agent did since the request. A refused answer goes back to the model with what has to change, which does
    not give the expected answer away. ``state["verdict"]`` has the verdict. A call that the contract excludes
    is refused before it is made. It stands last in ``middleware``, and ``EffectsMiddleware`` first.

    Args:
        contract: An ``EvaluationContract``, or its fields as a dict. Default: what can be checked of any run.
        max_retries: How often a refused answer goes back to the model.
        judge: Scores what no program can score, as for ``evaluate``.
        require: The least that an acceptance has to rest on; None for anything.
        on_failure: What happens with an answer that is refused at last: "return" ends the agent, and the
            verdict says that it failed; "raise" raises ``UnmetContractError``; "ask" asks a person with
            ``interrupt``, who approves the answer or rejects it with a message for one more attempt.
        options: The other plug-ins of ``evaluate``, such as ``checks``.

    Raises:
        ConfigurationError: An option is not accepted.
        ContractError: A plug-in is not accepted.
    """

    state_schema = ContractState

    def __init__(
        self,
        contract: EvaluationContract | Mapping[str, object] | None = None,
        *,
        max_retries: int = 2,
        judge: AnyJudge | JudgeFunction | None = None,
        require: Requirement | None = None,
        on_failure: OnFailure = "return",
        **options: Unpack[PluginOptions],
    ) -> None:
        super().__init__()
        self._limits = _Limits(max_retries=max_retries, require=require, on_failure=on_failure)
        # Without a contract of the caller, the audit of a recorded run decides.
        self._is_stated = contract is not None
        self._contract = validate_contract(contract, "contract") if contract is not None else Contract()
        self._judge = Plugins.of(judge, options).judge
        self._options = options
        self._rules = read_call_rules([self._contract])

    def before_agent(self, state: ContractState, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002
        """Notes where the request begins.

        Raises:
            ConfigurationError: ``on_failure`` is "ask", and no checkpointer keeps the question.
        """
        if self._limits.on_failure == "ask" and not has_saver():
            raise ConfigurationError(
                'on_failure is "ask", but the agent has no checkpointer to store the question; give '
                'create_agent one, such as checkpointer=InMemorySaver(), or on_failure="return"'
            )
        messages = state["messages"]
        return {
            "verdict": None,
            "contract_attempts": [],
            "contract_request": messages[-1] if messages else None,
            "attempts": [uuid4().hex],
        }

    async def abefore_agent(self, state: ContractState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Like ``before_agent``; OpenTelemetry's instrumentation makes LangChain call only this one."""
        return self.before_agent(state, runtime)

    def _wrap_model_call(self, request: AnyRequest, handler: AnyHandler) -> Conversation[ModelResponse[Any]]:
        """Checks the tools that the contract names.

        Raises:
            ConfigurationError: The contract needs a tool that the agent lacks.
        """
        self._check_tools(request)
        response: ModelResponse[Any] = yield call_either(handler, handler, request)
        return response

    wrap_model_call, awrap_model_call = blocking(_wrap_model_call), awaited(_wrap_model_call)  # type: ignore[arg-type]

    def _wrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> Conversation[ToolResult]:
        """Keeps the verdict on a subagent out of the state, where the verdict on this agent stands."""
        return _leave_verdict((yield call_either(handler, handler, request)))

    wrap_tool_call, awrap_tool_call = blocking(_wrap_tool_call), awaited(_wrap_tool_call)  # type: ignore[arg-type]

    def after_model(self, state: ContractState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Answers the calls that the contract excludes."""
        reply, answered = find_last_reply(state["messages"])
        if reply is None or self._rules.is_empty:
            return None
        made, execution, refused = _list_calls(state), build_single_gate().execution, dict[str, Effect]()
        messages: list[BaseMessage] = []
        for call in (each for each in reply.tool_calls if each["id"] not in answered):
            planned = _plan_record(call)
            breach = self._rules.find_breach(planned, made)
            if breach is None:
                made = [*made, planned]
            else:
                effect = build_effect(call, Withheld(breach, "forbidden"), execution)
                refused[str(call["id"])] = {**effect, "attempt": list_attempts(state)[-1]}
                messages.append(build_answer(call, breach))
        return {"effects": refused, "messages": messages} if refused else None

    async def aafter_model(self, state: ContractState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Like ``after_model``."""
        return self.after_model(state, runtime)

    def _judge_answer(
        self,
        state: ContractState,
        runtime: Runtime[Any],  # noqa: ARG002 - LangChain gives it
    ) -> Conversation[dict[str, Any] | None]:
        """Judges the answer, and sends a refused one back.

        Raises:
            UnmetContractError: The answer is refused at last, and ``on_failure`` is "raise".
        """
        asked = call_either(evaluate, aevaluate, self._build_case(state), judge=self._judge, **self._options)
        return self._conclude(state, (yield asked))

    after_agent = hook_config(can_jump_to=["model"])(blocking(_judge_answer))
    aafter_agent = hook_config(can_jump_to=["model"])(awaited(_judge_answer))

    def _build_case(self, state: ContractState) -> dict[str, object]:
        run = _build_run(state)
        stated = {"contract": self._contract.with_search("warn")} if self._is_stated else {}
        return {"agent_run": run, **stated}

    def _conclude(self, state: ContractState, report: EvaluationReport) -> dict[str, Any]:
        """Returns the update after an answer, which is accepted, goes back to the model, or is refused."""
        verdict = self._read_verdict(state, report.model_dump(mode="json"), report.status)
        attempts = verdict["attempts"]
        if verdict["accepted"]:
            return {"verdict": verdict}
        if len(attempts) <= self._limits.max_retries and self._can_be_mended(state, verdict):
            return _send_back(state, verdict, attempts[-1]["feedback"])
        if self._limits.on_failure == "raise":
            raise UnmetContractError(f"the answer does not meet the contract: {verdict['reason']}", verdict)
        if self._limits.on_failure == "ask":
            return _ask(state, verdict)
        scores = [-1.0 if each["score"] is None else each["score"] for each in attempts]
        # The answer with the highest score; of equal ones the latest.
        best = attempts[max(range(len(attempts)), key=lambda at: (scores[at], at))]["output"]
        if is_in_tool():
            told = f"{best}\n\n(This answer was refused. {verdict['reason']})"
            return {"verdict": verdict, "messages": [AIMessage(told)], **_reset_structured(state)}
        is_last = best == attempts[-1]["output"]
        return {"verdict": verdict, **({} if is_last else {"messages": [AIMessage(best)]})}

    def _read_verdict(
        self, state: ContractState, report: Report, status: EvaluationStatus
    ) -> ConversationVerdict:
        """Returns the verdict on the last answer; its feedback does not give the expected answer away."""
        evidence = read_evidence(report, self._contract).add_trust(self._judge)
        is_accepted = evidence.accepted and is_enough(evidence.basis, self._limits.require)
        feedback = read_expectations(self._contract, _read_request(state)).mask(feedback_of(report))
        attempt = ConversationAttempt(
            output=_read_output(state), status=status, score=report_score(report), feedback=feedback
        )
        reason = evidence.reason if evidence.accepted else feedback or str(report["summary"])
        if evidence.accepted and not is_accepted:
            reason = f"require is {self._limits.require!r}, and the answer is only {evidence.basis}: {reason}"
        repeated = {each["name"] for each in state.get("effects", {}).values() if each.get("is_repeat")}
        return ConversationVerdict(
            accepted=is_accepted,
            status=status,
            basis=evidence.basis,
            reason=reason,
            evidence=evidence.record,
            report=report,
            attempts=[*state.get("contract_attempts", []), attempt],
            warnings=[describe_repeat(name, f"acting_tools=[{name!r}]") for name in sorted(repeated)],
        )

    def _can_be_mended(self, state: ContractState, verdict: ConversationVerdict) -> bool:
        """Returns whether another answer may be accepted.

        Not if nobody could judge the last one, if a call broke the contract for good, or if the agent repeats
        an answer that was refused.
        """
        last, *before = reversed(verdict["attempts"])
        is_open = verdict["status"] == "invalid" or {*list_kinds(verdict["report"])} <= _OPEN
        is_repeated = any(each["output"] == last["output"] for each in before)
        is_lost = self._rules.find_lasting_breach(_list_calls(state)) is not None
        return not (verdict["status"] in ACCEPTING or is_open or is_repeated or is_lost)

    def _check_tools(self, request: AnyRequest) -> None:
        tools = {each.name: each for each in request.tools if isinstance(each, BaseTool)}
        known = tuple(tools) if len(tools) == len(request.tools) else None
        problem = ExecutorTools(known, tools=tools).find_problem(self._contract)
        if problem is not None:
            raise ConfigurationError(f"contract.{problem}")


def _leave_verdict(result: ToolResult) -> ToolResult:
    update = result.update if isinstance(result, Command) else None
    if isinstance(result, ToolMessage) or not isinstance(update, dict):
        return result
    return replace(result, update={name: value for name, value in update.items() if name != "verdict"})


def _plan_record(call: ToolCall) -> ToolCallRecord:
    # Each value by itself: deep arguments as a whole would become a text.
    return plan_record(call["name"], {name: plain_json(value) for name, value in call["args"].items()})


def _split_messages(state: ContractState) -> tuple[Sequence[BaseMessage], Sequence[BaseMessage]]:
    """Returns the messages before the request, and those since, with it, also if a middleware removed it."""
    messages: Sequence[BaseMessage] = state["messages"]
    if (request := state.get("contract_request")) is None:
        return [], messages
    at = next((at for at, each in enumerate(messages) if each.id == request.id), None)
    return ([], [request, *messages]) if at is None else (messages[:at], messages[at:])


def _list_replies(state: ContractState) -> list[AIMessage]:
    return [each for each in _split_messages(state)[1] if isinstance(each, AIMessage)]


def _read_output(state: ContractState) -> str:
    """Returns the last message of the model without thoughts, or its structured answer as JSON."""
    answer = state.get("structured_response")
    if answer is not None:
        return TypeAdapter(Any).dump_json(answer).decode()
    return "".join(map(answer_text, _list_replies(state)[-1:]))


def _read_request(state: ContractState) -> str:
    """Returns the words of the user."""
    return "\n".join(str(each.text) for each in _split_messages(state)[1] if is_request(each))


def _list_calls(state: ContractState, *, earlier: bool = False) -> list[ToolCallRecord]:
    """Lists the calls with an answer, also those of refused answers: since the request, or before it."""
    own, (before, since) = state.get("attempts", []), _split_messages(state)
    effects = state.get("effects", {}).items()
    known = {key: each for key, each in effects if (each.get("attempt") in own) is not earlier}
    return [*read_tool_calls(before if earlier else since, known)]


def _build_run(state: ContractState) -> dict[str, object]:
    """Builds the ``agent_run``: all calls, and the last answer without the ones that were refused."""
    request, output, replies = _read_request(state), _read_output(state), _list_replies(state)
    earlier, since = _split_messages(state)
    reason = find_message_cut_off(replies[-1]) if replies else None
    end = {"role": "assistant", "content": output, **({"finish_reason": reason} if reason else {})}
    usages: list[Mapping[str, Any]] = [each.usage_metadata for each in replies if each.usage_metadata]
    is_whole = since[0] in state["messages"]
    is_counted = is_whole and len(usages) == len(replies)
    names = ("input_tokens", "output_tokens", "total_tokens") if is_counted else ()
    return {
        "input": request,
        # Without a text, the run has not finished.
        **({"final_output": output} if is_visible(output) else {}),
        "messages": [{"role": "user", "content": request}, end],
        **convert_calls(_list_calls(state)),
        # The agent has made no other call, so that a claim without one is known to be false.
        "earlier_calls": convert_calls(_list_calls(state, earlier=True))["tool_calls"],
        "sources": [str(each.text) for each in earlier if not isinstance(each, ToolMessage)],
        **({"model_calls": len(replies)} if is_whole else {}),
        **{name: sum(usage[name] for usage in usages) for name in names},
    }


def _send_back(state: ContractState, verdict: ConversationVerdict, reason: str) -> dict[str, Any]:
    return {
        "jump_to": "model",
        "contract_attempts": verdict["attempts"],
        "attempts": [*state.get("attempts", []), uuid4().hex],
        "messages": [build_correction(prompts.correction_turn(reason))],
        **_reset_structured(state),
    }


def _reset_structured(state: ContractState) -> dict[str, None]:
    """Returns the update that takes a refused structured answer away."""
    return {"structured_response": None} if "structured_response" in state else {}


def _ask(state: ContractState, verdict: ConversationVerdict) -> dict[str, Any]:
    """Asks a person: the answer is approved, or goes back to the model with the person's words."""
    output, reason = verdict["attempts"][-1]["output"], verdict["reason"]

    def build_request(problem: str) -> HITLRequest:
        text = f"The answer does not meet the contract. {reason} {problem}".strip()
        return build_decision_request("answer", {"answer": output}, text)

    answer = ask_decision(build_request)
    if answer["answer"] != "approve":
        return _send_back(state, verdict, answer["text"])
    evidence = Evidence(person=answer["answered_by"])
    return {"verdict": {**verdict, "basis": evidence.basis, "reason": evidence.reason, "accepted": True}}
