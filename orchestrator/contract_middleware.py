"""ContractMiddleware: a contract inside an agent of LangChain, which decides about its last message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias, Unpack, get_args

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse, hook_config
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from agents import prompts
from agents.loop.effects import Effect, Withheld, build_correction, build_effect, find_last_reply
from agents.loop.effects_middleware import EffectsState
from agents.loop.langgraph_internals import has_saver
from agents.loop.single_agent import ask_decision, build_single_gate
from agents.loop.tool_answers import build_answer
from evaluation import EvaluationContract, aevaluate, evaluate
from evaluation.contract.requirements import Contract
from evaluation.plugins import AnyJudge, JudgeFunction, PluginOptions, check_judge
from orchestrator.errors import ConfigurationError, UnmetContractError
from orchestrator.judging.contract_choice import CallRules, read_call_rules
from orchestrator.judging.conversation import (
    Conversation,
    ConversationAttempt,
    ConversationVerdict,
    approve,
    build_case,
    can_be_mended,
    find_best_output,
    read_verdict,
)
from orchestrator.judging.executor_tools import ExecutorTools
from orchestrator.judging.task_contracts import validate_contract
from orchestrator.runtime.call_recorder import plan_record
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import Json, Requirement, ToolCallRecord

OnFailure: TypeAlias = Literal["return", "raise", "ask"]
Handler: TypeAlias = Callable[[ModelRequest[Any]], ModelResponse[Any]]
AsyncHandler: TypeAlias = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
_FORBIDDEN: Final = "forbidden"


class ContractState(EffectsState):
    """The state of an agent with the verdict on its answer."""

    verdict: NotRequired[Annotated[ConversationVerdict | None, OmitFromInput]]
    contract_attempts: NotRequired[Annotated[list[ConversationAttempt], PrivateStateAttr]]
    contract_request: NotRequired[Annotated[str | None, PrivateStateAttr]]


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
        _check_options(max_retries, require, on_failure)
        self._contract = None if contract is None else validate_contract(contract, "contract")
        self._max_retries = max_retries
        self._judge = check_judge(judge)
        self._require = require
        self._on_failure = on_failure
        self._options = options
        self._rules: CallRules = read_call_rules([self._contract or Contract()])

    def before_agent(self, state: ContractState, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002
        """Notes where the request begins.

        Raises:
            ConfigurationError: ``on_failure`` is "ask", and no checkpointer keeps the question.
        """
        if self._on_failure == "ask" and not has_saver():
            raise ConfigurationError(
                'on_failure is "ask", but the agent has no checkpointer to store the question; give '
                'create_agent one, such as checkpointer=InMemorySaver(), or on_failure="return"'
            )
        messages = state["messages"]
        return {
            "verdict": None,
            "contract_attempts": [],
            "contract_request": messages[-1].id if messages else None,
        }

    def wrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ModelResponse[Any]:
        """Checks the tools that the contract names.

        Raises:
            ConfigurationError: The contract needs a tool that the agent lacks.
        """
        self._check_tools(request)
        return handler(request)

    async def awrap_model_call(self, request: ModelRequest[Any], handler: AsyncHandler) -> ModelResponse[Any]:
        """Like ``wrap_model_call``."""
        self._check_tools(request)
        return await handler(request)

    def after_model(self, state: ContractState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Answers the calls that the contract excludes."""
        reply, answered = find_last_reply(state["messages"])
        if reply is None or self._rules.is_empty:
            return None
        made, refused = self._read(state).calls, dict[str, tuple[ToolCall, str]]()
        for call in (each for each in reply.tool_calls if each["id"] not in answered):
            breach = self._rules.find_breach(call["name"], made)
            if breach is None:
                made = [*made, _plan_record(call)]
            else:
                refused[str(call["id"])] = call, breach
        return _refuse_calls(refused, build_single_gate().execution) if refused else None

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: ContractState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Judges the answer, and sends a refused one back.

        Raises:
            UnmetContractError: The answer is refused at last, and ``on_failure`` is "raise".
        """
        conversation = self._read(state)
        case = build_case(conversation, self._contract)
        return self._conclude(state, conversation, evaluate(case, judge=self._judge, **self._options))

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: ContractState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Like ``after_agent``, without blocking the event loop while a judge answers."""
        conversation = self._read(state)
        case = build_case(conversation, self._contract)
        report = await aevaluate(case, judge=self._judge, **self._options)
        return self._conclude(state, conversation, report)

    def _read(self, state: ContractState) -> Conversation:
        request, effects = state.get("contract_request"), state.get("effects", {})
        return Conversation.since(request, state["messages"], effects)

    def _conclude(
        self,
        state: ContractState,
        conversation: Conversation,
        report: Any,  # noqa: ANN401
    ) -> dict[str, Any]:
        earlier = state.get("contract_attempts", [])
        verdict = read_verdict(report, conversation, self._contract, self._require, self._judge, earlier)
        if verdict["accepted"]:
            return {"verdict": verdict}
        has_retry = len(earlier) < self._max_retries
        if has_retry and can_be_mended(verdict, conversation, self._contract):
            return _send_back(state, verdict, prompts.correction_turn(verdict["attempts"][-1]["feedback"]))
        return self._end(state, verdict)

    def _end(self, state: ContractState, verdict: ConversationVerdict) -> dict[str, Any]:
        """Returns what happens with an answer that is refused at last."""
        best = find_best_output(verdict["attempts"])
        if self._on_failure == "raise":
            raise UnmetContractError(f"the answer does not meet the contract: {verdict['reason']}", verdict)
        if self._on_failure == "ask":
            return _ask(state, verdict)
        is_last = best == verdict["attempts"][-1]["output"]
        return {"verdict": verdict, **({} if is_last else {"messages": [AIMessage(best)]})}

    def _check_tools(self, request: ModelRequest[Any]) -> None:
        tools = {each.name: each for each in request.tools if isinstance(each, BaseTool)}
        known = tuple(tools) if len(tools) == len(request.tools) else None
        problem = ExecutorTools(known, tools=tools).find_problem(self._contract or Contract())
        if problem is not None:
            raise ConfigurationError(f"contract.{problem}")


def _check_options(max_retries: object, require: object, on_failure: object) -> None:
    if type(max_retries) is not int or max_retries < 0:
        raise ConfigurationError(f"max_retries is {max_retries!r}; give a whole number of at least 0")
    if require is not None and require not in get_args(Requirement):
        accepted = ", ".join(map(repr, get_args(Requirement)))
        raise ConfigurationError(f"require is {require!r}; give one of {accepted}, or None")
    if on_failure not in get_args(OnFailure):
        raise ConfigurationError(f"on_failure is {on_failure!r}; give 'return', 'raise' or 'ask'")


def _read_arguments(call: ToolCall) -> dict[str, Json]:
    # Each value by itself: deep arguments as a whole would become a text.
    return {name: plain_json(value) for name, value in call["args"].items()}


def _plan_record(call: ToolCall) -> ToolCallRecord:
    return plan_record(call["name"], _read_arguments(call))


def _refuse_calls(refused: Mapping[str, tuple[ToolCall, str]], execution: str) -> dict[str, Any]:
    effects: dict[str, Effect] = {
        call_id: build_effect(call, Withheld(breach, _FORBIDDEN), execution)
        for call_id, (call, breach) in refused.items()
    }
    messages: Sequence[ToolMessage] = [build_answer(call, breach) for call, breach in refused.values()]
    return {"effects": effects, "messages": messages}


def _send_back(state: ContractState, verdict: ConversationVerdict, text: str) -> dict[str, Any]:
    messages: list[BaseMessage] = [build_correction(text)]
    # The next answer gives another one.
    reset = {"structured_response": None} if "structured_response" in state else {}
    return {"jump_to": "model", "contract_attempts": verdict["attempts"], "messages": messages, **reset}


def _ask(state: ContractState, verdict: ConversationVerdict) -> dict[str, Any]:
    """Asks a person: the answer is approved, or goes back to the model with the person's words."""
    output, reason = verdict["attempts"][-1]["output"], verdict["reason"]
    review = {"action_name": "answer", "allowed_decisions": ["approve", "reject"]}

    def build_request(problem: str) -> dict[str, object]:
        text = f"The answer does not meet the contract. {reason} {problem}".strip()
        action = {"name": "answer", "args": {"answer": output}, "description": text}
        return {"action_requests": [action], "review_configs": [review]}

    answer = ask_decision(build_request)
    if answer["answer"] == "approve":
        return {"verdict": approve(verdict, answer["answered_by"])}
    return _send_back(state, verdict, prompts.correction_turn(answer["text"]))
