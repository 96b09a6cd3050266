"""EffectsMiddleware: writes down what acts before it acts, and asks a person before it could act twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final, NotRequired, TypeAlias, cast

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    hook_config,
)
from langchain.agents.middleware.types import OmitFromInput
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.tools import ToolException
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from agents.credentials.masking import mask_keys
from agents.errors import LateDurabilityError, NoEffectError
from agents.loop.acting_tools import DEFAULT, ActingTool, ActingTools, ActingToolsOption, read_acting_tools
from agents.loop.call_marks import (
    CallMarks,
    add_mark,
    forget_answer,
    list_earlier_replies,
    list_refused_calls,
    mark_reply,
    read_marks,
    read_reply_mark,
)
from agents.loop.effects import (
    LOST_START,
    NOT_ENDED,
    CallGate,
    Decision,
    Effect,
    Made,
    Output,
    Withheld,
    add_effects,
    ask_again,
    build_effect,
    decide_call,
    find_gate,
)
from agents.loop.langgraph_internals import find_checkpoint, find_late_durability, read_config
from agents.loop.read_back import add_read_back
from agents.loop.single_agent import SingleAgentGate
from agents.loop.tool_answers import build_answer, find_last_reply, raise_outer, read_answer
from agents.loop.tool_arguments import add_call_ids
from agents.models.identity import name_called
from agents.models.model_call import Call, Conversation, arun_conversation, run_conversation
from agents.models.whole_replies import check_replies

Handler: TypeAlias = Callable[[ModelRequest[Any]], ModelResponse[Any]]
AsyncHandler: TypeAlias = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
ToolHandler: TypeAlias = Callable[[ToolCallRequest], Any]
_open: Final[set[tuple[str, str]]] = set()
"""The stored calls that are under way in this process, by the ids of their checkpoints and their own."""
_INTERRUPTED: Final = "the run was interrupted while the call was under way"


def merge_effects(current: dict[str, Effect] | None, update: dict[str, Effect]) -> dict[str, Effect]:
    """Adds the effects of an update, by the ids of their calls."""
    return {**(current or {}), **update}


class EffectsState(AgentState[Any]):
    """The state of an agent with the effects of its calls."""

    effects: NotRequired[Annotated[dict[str, Effect], OmitFromInput, merge_effects]]


class EffectsMiddleware(AgentMiddleware[Any, Any, Any]):
    """Writes down each call that may act before it is made, and asks before one could act twice.

    After each reply of the model, all its calls are decided about, and the decisions are stored; then the
    tools run. A call that was begun by another execution of the graph and has no answer may have acted: a
    person is asked with ``interrupt``. It stands first in ``middleware``, so that it decides last.

    Outside of an orchestrator, the process stands for the execution, a question has the form of LangChain's
    ``HumanInTheLoopMiddleware`` and takes its decisions, and ``state["effects"]`` has the effects by the ids
    of their calls. After ``interrupt_before`` a call is asked about although it was not begun.

    Args:
        acting_tools: Names of tools that act, or ``ActingTool`` by name. Default: those of the orchestrator,
            or else the annotations and the names of the tools decide.
        gate: Decides in place of the orchestrator or of this middleware.

    Raises:
        ValueError: ``acting_tools`` is not accepted.
    """

    state_schema = EffectsState

    def __init__(self, acting_tools: ActingToolsOption = None, gate: CallGate | None = None) -> None:
        super().__init__()
        self._acting = None if acting_tools is None else read_acting_tools(acting_tools)
        self._gate = gate
        self._single = SingleAgentGate()

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: EffectsState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Decides about the calls of a reply, in their order, and stores the decisions.

        Raises:
            LateDurabilityError: A tool that acts is called, and the graph stores its state too late.
            CallHaltedError: A person ended the run.
        """
        return run_conversation(self._answer_reply(state))

    async def aafter_model(self, state: EffectsState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Like ``after_model``, without blocking the event loop."""
        return await arun_conversation(self._answer_reply(state))

    def _answer_reply(self, state: EffectsState) -> Conversation[dict[str, Any] | None]:
        if self._may_ask(state):
            yield from forget_answer(read_config())
        return self.decide_calls(state)

    def decide_calls(self, state: EffectsState) -> dict[str, Any] | None:
        """Returns the decisions about the calls of a reply, with the answers to those that are not made."""
        reply, answered = find_last_reply(state["messages"])
        if reply is None or not (calls := [call for call in reply.tool_calls if call["id"] not in answered]):
            return None
        gate = self._find_gate()
        self._note_history(state["messages"], state.get("effects", {}))
        own = {str(call["id"]) for call in calls}
        before = [each for key, each in state.get("effects", {}).items() if key not in own]
        mark = read_reply_mark(reply)
        refused = list_refused_calls(state["messages"])
        attempted = [each for key, each in state.get("effects", {}).items() if key in refused]
        asked_at = gate.now() if mark is None else mark["replied_at"]
        decided = self._decide(gate, calls, asked_at, before, attempted)
        acting = self._list_acting()
        effects = {
            str(call["id"]): _add_source(build_effect(call, each, gate.execution), acting)
            for call, each in decided
            if isinstance(each, Withheld) or not acting.surely_reads(call["name"])
        }
        withheld = [(call, each) for call, each in decided if isinstance(each, Withheld)]
        for call, each in withheld:
            gate.note_call(call, effects[str(call["id"])], each.text)
        messages = [build_answer(call, each.text, is_error=each.is_error) for call, each in withheld]
        return {"effects": effects, **({"messages": messages} if messages else {})}

    def wrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ModelResponse[Any]:
        """Marks the reply with this execution and the time, which is the time of questions about it."""
        return self._mark(request, handler(self.prepare_request(request)))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: AsyncHandler) -> ModelResponse[Any]:
        """Like ``wrap_model_call``."""
        return self._mark(request, await handler(self.prepare_request(request)))

    def wrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> Output:  # type: ignore[override]
        """Makes a call unless another execution began it, and stores what is known of it."""
        return run_conversation(self._make_call(request, handler))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> Output:  # type: ignore[override]
        """Like ``wrap_tool_call``, without blocking the event loop."""
        return await arun_conversation(self._make_call(request, handler))

    def _make_call(self, request: ToolCallRequest, handler: ToolHandler) -> Conversation[Output]:
        call_id, config, lost = str(request.tool_call["id"]), request.runtime.config, 0
        if self._is_in_doubt(request):
            marks, now = (yield from read_marks(config, call_id)), self._find_gate().now()
            if marks.is_unasked:
                yield from add_mark(config, call_id, "asked", now, marks.answers)
            if marks.starts > 0 and isinstance(told := self._ask_again(request, marks, now), Withheld):
                return self._withhold(request, told, marks.starts - 1)
            lost = marks.starts
            yield from add_mark(config, call_id, "begun", now)
        try:
            make = partial(handler, self._begin(request))
            output = self.read_output(request, (yield Call(make, make)))
        except GraphInterrupt as pause:
            yield from add_mark(config, call_id, "paused", self._find_gate().now())
            _open.discard(_find_place(request))
            return self.tell_pause(request, pause)
        except BaseException as error:  # noqa: BLE001 - a tool is user code
            raise_outer(error)
            output = self.tell_error(request, error)
            return self._end(request, output, self._read_error(request, error), lost)
        effect = self._read_outcome(request, output)
        effect = yield from add_read_back(request, self._find_tool(request), effect)
        return self._end(request, output, effect, lost)

    def tell_error(self, request: ToolCallRequest, error: BaseException) -> ToolMessage:  # noqa: ARG002
        """Returns the answer to a call whose tool raised an error; raises the error if the agent has to."""
        raise error

    def tell_pause(self, request: ToolCallRequest, pause: GraphInterrupt) -> Output:  # noqa: ARG002
        """Raises the question of a tool, which the caller of the graph answers."""
        raise pause

    def read_output(self, request: ToolCallRequest, output: Output) -> Output:  # noqa: ARG002
        """Returns the output of a tool as the agent takes it."""
        return output

    def prepare_request(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Returns the request of a reply."""
        state = cast("EffectsState", request.state)
        self._note_history(state["messages"], state.get("effects", {}))
        return request.override(model=check_replies(request.model))

    def begin_call(self, request: ToolCallRequest) -> ToolCallRequest:
        """Returns the request of a call that is about to be made."""
        return request

    def _mark(self, request: ModelRequest[Any], response: ModelResponse[Any]) -> ModelResponse[Any]:
        gate, model = self._find_gate(), name_called(request.model)
        *others, reply = response.result
        # A reply with a structured output has an answer behind it, whose id is that of the call.
        whole = add_call_ids(reply, request.messages) if isinstance(reply, AIMessage) else reply
        marked = [
            mark_reply(each, model, gate.execution, gate.now()) if isinstance(each, AIMessage) else each
            for each in (*others, whole)
        ]
        return replace(response, result=marked)

    def _note_history(self, messages: Sequence[BaseMessage], effects: Mapping[str, Effect]) -> None:
        """Tells the gate of the calls before a crash, if there are any."""
        gate = self._find_gate()
        is_resumed = any(effect["execution"] != gate.execution for effect in effects.values())
        if is_resumed or list_earlier_replies(messages, gate.execution):
            gate.note_history(messages, effects)

    def _may_ask(self, state: EffectsState) -> bool:
        """Returns whether a person may be asked before a call of the last reply is made."""
        reply, _ = find_last_reply(state["messages"])
        called = (
            [] if reply is None else [self._list_acting().find(each["name"]) for each in reply.tool_calls]
        )
        is_repeated = bool(called) and bool(list_refused_calls(state["messages"]))
        return is_repeated or any(tool is not None and tool.approve for tool in called)

    def _find_gate(self) -> CallGate:
        return self._gate or find_gate() or self._single

    def _list_acting(self) -> ActingTools:
        return self._acting or self._find_gate().acting or ActingTools()

    def _find_tool(self, request: ToolCallRequest) -> ActingTool | None:
        acting = self._list_acting()
        if request.tool is not None and request.tool.name not in acting.metadata:
            known = {**acting.metadata, request.tool.name: request.tool.metadata}
            acting = ActingTools(acting.stated, known, acting.guesses)
        return acting.find(request.tool_call["name"])

    def _decide(
        self,
        gate: CallGate,
        calls: Sequence[ToolCall],
        asked_at: str,
        before: Sequence[Effect],
        attempted: Sequence[Effect],
    ) -> list[tuple[ToolCall, Decision]]:
        acting = self._list_acting()
        decided = list[tuple[ToolCall, Decision]]()
        for call in calls:
            tool = acting.find(call["name"])
            if tool is not None and (late := find_late_durability(read_config())) is not None:
                raise LateDurabilityError(call["name"], late)
            planned = [each for each, decision in decided if isinstance(decision, Made)]
            decided.append((call, decide_call(gate, call, tool, planned, asked_at, before, attempted)))
        return decided

    def _is_in_doubt(self, request: ToolCallRequest) -> bool:
        """Returns whether another execution may have made this call; a tool that only reads is made again."""
        call_id = str(request.tool_call["id"])
        effect = _read_effects(request).get(call_id)
        if effect is None or not self._may_act(request):
            return False
        return effect["execution"] != self._find_gate().execution or _find_place(request) in _open

    def _may_act(self, request: ToolCallRequest) -> bool:
        hints = (request.tool.metadata or {}) if request.tool is not None else {}
        is_reading = self._list_acting().surely_reads(request.tool_call["name"])
        return self._find_tool(request) is not None or not (is_reading or hints.get("readOnlyHint") is True)

    def _ask_again(self, request: ToolCallRequest, marks: CallMarks, now: str) -> Decision:
        asked_at, before = (now, marks.answers) if marks.is_unasked else marks.asked[-1]
        for _ in range(before):
            # They are for questions about earlier starts, and for those of the tool itself.
            interrupt(None)
        # An approval is for one further start.
        reason = _INTERRUPTED if marks.starts == 1 else f"{_INTERRUPTED}, {marks.starts} times"
        # An answer that is stored is for another question, if this one has not reached the store.
        new_after = before if marks.is_unasked or not marks.has_question else None
        return ask_again(self._find_gate(), request.tool_call, reason, asked_at, new_after)

    def _begin(self, request: ToolCallRequest) -> ToolCallRequest:
        state = request.state if isinstance(request.state, Mapping) else {}
        self._note_history(state.get("messages", []), _read_effects(request))
        place = _find_place(request)
        if place[0]:
            _open.add(place)
        return self.begin_call(request)

    def _withhold(self, request: ToolCallRequest, decision: Withheld, lost: int) -> Output:
        call, gate = request.tool_call, self._find_gate()
        effect = build_effect(call, decision, gate.execution)
        if decision.gate == "denied":
            # The person denies a further start, and the first one may have acted.
            effect = {**effect, "outcome": "unknown"}
        effects = self._note_lost(call, lost)
        gate.note_call(call, effect, decision.text)
        message = build_answer(call, decision.text, is_error=decision.is_error)
        return add_effects(message, {**effects, str(call["id"]): effect})

    def _read_outcome(self, request: ToolCallRequest, output: Output) -> Effect:
        answer, tool = read_answer(output), self._find_tool(request)
        text = None if answer is None else str(answer.text)
        is_error = answer is not None and answer.status == "error"
        effect: Effect = {**self._read_intent(request), "answer": text}
        outcome = (tool or DEFAULT).tell_outcome(request.tool_call["name"], text, is_error=is_error)
        return {**effect, "outcome": outcome}

    def _read_error(self, request: ToolCallRequest, error: BaseException) -> Effect:
        # Only these say that nothing was done; another error may have come after the effect.
        is_refusal = isinstance(error, NoEffectError | ToolException)
        answer = f"{type(error).__name__}: {mask_keys(str(error))}"
        return {
            **self._read_intent(request),
            "outcome": "refused" if is_refusal else "unknown",
            "answer": answer,
        }

    def _read_intent(self, request: ToolCallRequest) -> Effect:
        call = request.tool_call
        stored = _read_effects(request).get(str(call["id"]))
        return stored or build_effect(call, Made(), self._find_gate().execution)

    def _end(self, request: ToolCallRequest, output: Output, effect: Effect, lost: int) -> Output:
        _open.discard(_find_place(request))
        call = request.tool_call
        effects = self._note_lost(call, lost)
        self._find_gate().note_call(call, effect)
        # What only reads has no effect.
        return add_effects(output, {**effects, str(call["id"]): effect}) if self._may_act(request) else output

    def _note_lost(self, call: ToolCall, lost: int) -> dict[str, Effect]:
        """Returns the effects of starts in which the process died: nobody knows whether they acted, too."""
        gate, effects = self._find_gate(), dict[str, Effect]()
        for number in range(1, lost + 1):
            start = cast("ToolCall", {**call, "id": f"{call['id']}{LOST_START}{number}"})
            effects[str(start["id"])] = build_effect(start, Made(), gate.execution)
            gate.note_call(start, effects[str(start["id"])], NOT_ENDED)
        return effects


def _add_source(effect: Effect, acting: ActingTools) -> Effect:
    """Returns the effect with the note that more than a name says that its tool acts, if it is so."""
    name = effect["name"]
    is_stated = acting.classify(name) == "acting" and not acting.is_guessed(name)
    return {**effect, "is_stated": True} if is_stated else effect


def _find_place(request: ToolCallRequest) -> tuple[str, str]:
    """Returns the ids of the checkpoint and of the call, which are the same when the graph is resumed."""
    place = find_checkpoint(request.runtime.config)
    checkpoint = "" if place is None else str(place[1]["configurable"]["checkpoint_id"])
    return checkpoint, str(request.tool_call["id"])


def _read_effects(request: ToolCallRequest) -> Mapping[str, Effect]:
    state = request.state if isinstance(request.state, Mapping) else {}
    return cast("Mapping[str, Effect]", state.get("effects") or {})
