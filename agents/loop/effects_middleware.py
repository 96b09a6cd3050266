"""EffectsMiddleware: writes down what acts before it acts, and asks a person before it could act twice."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, NotRequired, TypeAlias, cast

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    hook_config,
)
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest

from agents.errors import LateDurabilityError, ModelSetupError
from agents.loop.acting_tools import (
    DEFAULT,
    ActingTools,
    ActingToolsOption,
    add_annotations,
    describe_tool,
    read_acting_tools,
    read_annotations,
)
from agents.loop.call_marks import add_mark, forget_answer, read_marks
from agents.loop.decisions import (
    ask_again,
    decide_call,
    find_earlier_effect,
    list_answered,
    name_start,
    note_lost,
    tell_effect,
)
from agents.loop.effects import (
    CallGate,
    CallQuestion,
    Decision,
    Effect,
    Made,
    Output,
    ReplyMark,
    Withheld,
    add_effects,
    build_effect,
    find_gate,
    find_last_reply,
    list_attempts,
    mark_reply,
    merge_effects,
    read_reply_mark,
    utc_now,
)
from agents.loop.langgraph_internals import (
    find_late_durability,
    find_order_problem,
    list_running_nodes,
    read_config,
)
from agents.loop.read_back import add_read_back, check_acting_tools
from agents.loop.reply_problems import find_unmade_call, tell_reply
from agents.loop.single_agent import build_single_gate
from agents.loop.tool_answers import (
    answer_error,
    build_answer,
    raise_outer,
    read_invalid_call,
    write_messages,
)
from agents.loop.tool_arguments import (
    ToolWatch,
    build_key,
    edit_call,
    give_idempotency_key,
    hash_received,
    list_parameters,
    watch_tool,
    withhold_broken,
)
from agents.models.identity import name_called
from agents.models.whole_replies import check_replies
from agents.sync import Conversation, awaited, blocking, call_either

AnyRequest: TypeAlias = ModelRequest[Any]
AnyHandler: TypeAlias = Callable[[AnyRequest], Any]
ToolHandler: TypeAlias = Callable[[ToolCallRequest], Any]
_GUESSING: Final = ActingTools()


class EffectsState(AgentState[Any]):
    """The state of an agent with the effects of its calls."""

    effects: NotRequired[Annotated[dict[str, Effect], OmitFromInput, merge_effects]]
    attempts: NotRequired[Annotated[list[str], PrivateStateAttr]]


class EffectsMiddleware(AgentMiddleware[Any, Any, Any]):
    """Writes down each call that may act before it is made, and asks before one could act twice.

    After each reply of the model, all its calls are decided about, and the decisions are stored; then the
    tools run. A call that was begun by another execution of the graph and has no answer may have acted: a
    person is asked with ``interrupt``. It stands first in ``middleware``, so that it decides last.

    Outside of an orchestrator, the process stands for the execution, a question has the form of LangChain's
    ``HumanInTheLoopMiddleware`` and takes its decisions, and ``state["effects"]`` has the effects by the ids
    of their calls. After ``interrupt_before`` a call is asked about although it was not begun. A reply that
    is cut off is told to the model, and one that the provider blocked is an error.

    Args:
        acting_tools: Names of tools that act, or ``ActingTool`` by name. Default: those of the orchestrator,
            or else the annotations and the names of the tools decide.

    Raises:
        ValueError: ``acting_tools`` is not accepted.
    """

    state_schema = EffectsState

    def __init__(self, acting_tools: ActingToolsOption = None) -> None:
        super().__init__()
        self._acting = None if acting_tools is None else read_acting_tools(acting_tools)

    @hook_config(can_jump_to=["model"])
    def _after_model(self, state: EffectsState, *_: object) -> Conversation[dict[str, Any] | None]:
        """Decides about the calls of a reply, in their order, and stores the decisions.

        Raises:
            LateDurabilityError: A tool that acts is called, and the graph stores its state too late.
            CallHaltedError: A person ended the run.
            TextualCallError: The model writes its calls as text, also after it was told so.
        """
        messages, (reply, answered) = state["messages"], find_last_reply(state["messages"])
        if reply is None:
            return None
        calls = [edit_call(state, call) for call in reply.tool_calls if call["id"] not in answered]
        acting = self._find_acting(reply)
        uses = [describe_tool(acting, call["name"]) for call in calls]
        if any(use.treatment and (use.treatment.approve or state.get("effects")) for use in uses):
            # A question may follow.
            yield from forget_answer(read_config())
        if not (reply.tool_calls or reply.invalid_tool_calls):
            return tell_reply(messages)
        told = self._tell_invalid(state, reply)
        update = self._decide_open(state, reply, calls)
        if not told:
            return update or None
        # Without a call that can be made, the agent would end here.
        jump = {} if reply.tool_calls else {"jump_to": "model"}
        return {**update, **jump, "messages": [*told, *update.get("messages", [])]}

    after_model, aafter_model = blocking(_after_model), awaited(_after_model)  # type: ignore[arg-type]

    def _decide_open(
        self, state: EffectsState, reply: AIMessage, calls: Sequence[ToolCall]
    ) -> dict[str, Any]:
        gate, effects, messages = self._find_gate(), dict[str, Effect](), list[ToolMessage]()
        acting, has_answers = self._find_acting(reply), len(calls) < len(reply.tool_calls)
        attempt, mark = list_attempts(state)[-1], read_reply_mark(reply)
        answered = list_answered(reply, state["messages"], state.get("effects", {})) if has_answers else ()
        for call, decision in [*answered, *self._decide(state, reply, calls)]:
            use, key = describe_tool(acting, call["name"]), str(call["id"])
            if isinstance(decision, Made) and use.only_reads:
                continue
            effect = build_effect(call, decision, gate.execution)
            effect = {**effect, "attempt": attempt, "key": build_key(call["name"], call["args"], mark)}
            is_acting = use.kind == "acting"
            noted = {"is_stated": is_acting and use.is_stated, "is_open": not is_acting}
            known = {name: True for name, holds in noted.items() if holds}
            effects[key] = cast("Effect", {**effect, **known})
            if isinstance(decision, Withheld):
                gate.note_call(call, effects[key], decision.text)
                if call in calls:
                    messages.append(build_answer(call, decision.text, is_error=decision.is_error))
        update = {"effects": effects, "messages": messages}
        return {name: value for name, value in update.items() if value or (calls and name == "effects")}

    def _decide(
        self, state: EffectsState, reply: AIMessage, calls: Sequence[ToolCall]
    ) -> Iterator[tuple[ToolCall, Decision]]:
        gate, mark, own = self._find_gate(), read_reply_mark(reply), {call["id"] for call in calls}
        self._note_history(state)
        acting, stored = self._find_acting(reply), state.get("effects", {})
        others = [each for key, each in stored.items() if key not in own]
        before = [each for each in others if describe_tool(acting, each["name"]).kind == "acting"]
        made, attempts = list[ToolCall](), list_attempts(state)
        for call in calls:
            decision: Decision = Made()
            breach = gate.find_breach(call, made)
            use = describe_tool(acting, call["name"])
            if (tool := use.treatment) is not None:
                if (late := find_late_durability(read_config())) is not None:
                    raise LateDurabilityError(call["name"], late)
                key = build_key(call["name"], call["args"], mark)
                earlier = gate.find_earlier(call) or find_earlier_effect(key, before, attempts)
                asked_at = utc_now().isoformat() if mark is None else mark["replied_at"]
                decision = decide_call(gate, tool, CallQuestion(call, asked_at, breach=breach or ""), earlier)
                if use.is_guessed and isinstance(decision, Made) and earlier is not None:
                    decision = replace(decision, is_repeat=True)
            elif breach is not None:
                decision = Withheld(breach, "forbidden")
            if isinstance(decision, Made):
                made.append(call)
            yield call, decision

    def _tell_invalid(self, state: EffectsState, reply: AIMessage) -> list[ToolMessage]:
        gate, told, (_, answered) = self._find_gate(), list[ToolMessage](), find_last_reply(state["messages"])
        for call, text in map(read_invalid_call, reply.invalid_tool_calls):
            if call["id"] not in answered:
                gate.note_call(call, build_effect(call, Withheld(text, None), gate.execution), text)
                told.append(build_answer(call, text))
        return told

    def _wrap_model_call(self, request: AnyRequest, handler: AnyHandler) -> Conversation[ModelResponse[Any]]:
        """Marks the reply with this execution and the time, which is the time of questions about it."""
        prepared = self.prepare_request(request)
        return self._mark(prepared, (yield call_either(handler, handler, prepared)))

    wrap_model_call, awrap_model_call = blocking(_wrap_model_call), awaited(_wrap_model_call)  # type: ignore[arg-type]

    def prepare_request(self, request: AnyRequest) -> AnyRequest:
        """Returns the request of a reply, if this middleware is first and ``acting_tools`` fits the tools."""
        self._note_history(request.state)
        if (problem := find_order_problem(self.name, list_running_nodes())) is not None:
            raise ModelSetupError(problem)
        tools = {tool.name: tool for tool in request.tools if isinstance(tool, BaseTool)}
        if self._acting is not None:
            check_acting_tools(self._acting, tools)
        messages = write_messages(request.messages, request.model, tools)
        return request.override(model=check_replies(request.model), messages=cast("list[Any]", messages))

    def _mark(self, request: AnyRequest, response: ModelResponse[Any]) -> ModelResponse[Any]:
        last, gate, now = response.result[-1], self._find_gate(), utc_now().isoformat()
        mark = ReplyMark(model=name_called(request.model), execution=gate.execution, replied_at=now)
        if annotations := read_annotations(self._find_acting(), request.tools):
            mark["annotations"] = annotations
        replies = [each for each in request.messages if isinstance(each, AIMessage)]
        made = {call["name"] for reply in replies for call in reply.tool_calls}
        if (unmade := find_unmade_call(last, list_parameters(request.tools), made)) is not None:
            mark["unmade"] = unmade
        if received := hash_received(response.result, request.tools):
            mark["received"] = received
        # A reply with a structured output has an answer behind it, whose id is that of the call.
        if outputs := [each.tool_call_id for each in response.result if isinstance(each, ToolMessage)]:
            mark["outputs"] = outputs
        taken = {*(_read_state(request.state).get("effects") or ()), *gate.list_taken()}
        before, known = ([], set[str]()) if outputs else (request.messages, taken)
        messages = [
            mark_reply(withhold_broken(each, request.tools), before, mark, known)
            if isinstance(each, AIMessage)
            else each
            for each in response.result
        ]
        marked = replace(response, result=messages)
        self.check_response(request, marked)
        return marked

    def check_response(self, request: AnyRequest, response: ModelResponse[Any]) -> None:
        """Checks a response with its marks; this middleware accepts each."""

    def _wrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> Conversation[Output]:
        """Makes a call unless another execution began it, and stores its effect."""
        call, gate = edit_call(request.state, request.tool_call), self._find_gate()
        acting = self._find_acting(_find_reply(request.state))
        use = describe_tool(acting, call["name"])
        intent = _read_state(request.state).get("effects", {}).get(str(call["id"]))
        if intent is None and use.treatment is not None:
            raise ModelSetupError(
                f"tool {call['name']!r} acts, and a middleware jumped to its call past EffectsMiddleware; "
                "let it set no jump_to 'tools'"
            )
        effect, lost = intent or build_effect(call, Made(), gate.execution), 0
        if intent is not None and not use.only_reads and gate.may_have_begun(intent, request):
            asked = yield from self._begin_again(request, call, intent)
            if not isinstance(asked, int):
                return asked
            lost = asked
        self._note_history(request.state)
        starts = note_lost(gate, call, effect, lost)
        yield from gate.keep_effects(request, {} if use.only_reads else {**starts, str(call["id"]): effect})
        gate.note_begun(request, is_begun=True)
        with watch_tool(call) as watch:
            try:
                made = yield call_either(handler, handler, give_idempotency_key(request))
                output = self.read_output(request, made)
                given: object = output
            except GraphInterrupt as pause:
                yield from add_mark(request.runtime.config, str(call["id"]), "paused", utc_now().isoformat())
                return self.tell_pause(request, pause, effect)
            except BaseException as error:  # noqa: BLE001 - a tool is user code
                raise_outer(error)
                output, given = self.tell_error(request, error, watch), error
        gate.note_begun(request, is_begun=False)
        runs = [*watch.runs.values()]
        effect = tell_effect(acting, effect, runs[-1] if runs else None, given)
        if (use := describe_tool(acting, effect["name"])).only_reads:
            return output
        effect = yield from add_read_back(request, use.treatment or DEFAULT, effect)
        earlier = [tell_effect(acting, effect, run, run.error) for run in runs[:-1]]
        again = {name_start(call["id"], number): each for number, each in enumerate(earlier, lost + 1)}
        gate.note_call(call, effect)
        effects = {**starts, **again, str(call["id"]): effect}
        yield from gate.keep_effects(request, effects)
        return add_effects(output, effects)

    wrap_tool_call, awrap_tool_call = blocking(_wrap_tool_call), awaited(_wrap_tool_call)  # type: ignore[arg-type]

    def _begin_again(
        self, request: ToolCallRequest, call: ToolCall, intent: Effect
    ) -> Conversation[Output | int]:
        """Asks about a call that was begun before; returns the number of its starts if it is made again."""
        call_id, config, gate = str(call["id"]), request.runtime.config, self._find_gate()
        marks, now = (yield from read_marks(config, call_id)), utc_now().isoformat()
        if marks.is_unasked:
            yield from add_mark(config, call_id, "asked", now, marks.answers)
        if marks.starts > 0:
            decision = ask_again(gate, call, marks, now)
            if isinstance(decision, Withheld):
                return _withhold(gate, call, intent, decision, marks.starts - 1)
        yield from add_mark(config, call_id, "begun", now)
        return marks.starts

    def tell_error(self, request: ToolCallRequest, error: BaseException, watch: ToolWatch) -> ToolMessage:  # noqa: ARG002
        """Returns the answer to a call whose tool raised an error; raises the error if the agent has to."""
        if isinstance(error, CancelledError | GeneratorExit):
            # Outside of the tool, it would be taken for a cancellation of the agent.
            return answer_error(request.tool_call, error)
        raise error

    def tell_pause(self, request: ToolCallRequest, pause: GraphInterrupt, effect: Effect) -> Output:  # noqa: ARG002
        """Raises the question of a tool, which the caller of the graph answers."""
        raise pause

    def read_output(self, request: ToolCallRequest, output: Output) -> Output:  # noqa: ARG002
        """Returns the output of a tool as the agent takes it."""
        return output

    def _note_history(self, state: object) -> None:
        """Tells the gate of the calls before a crash, if the last reply is from before one."""
        gate, mark, stored = self._find_gate(), read_reply_mark(_find_reply(state)), _read_state(state)
        if mark is not None and mark["execution"] != gate.execution:
            gate.note_history(stored["messages"], stored.get("effects") or {})

    def _find_gate(self) -> CallGate:
        return find_gate() or build_single_gate()

    def _find_acting(self, reply: AIMessage | None = None) -> ActingTools:
        """Returns which tools act, with the annotations that the mark of a reply has."""
        acting, mark = self._acting or self._find_gate().acting or _GUESSING, read_reply_mark(reply)
        annotations = {} if mark is None else mark.get("annotations", {})
        return add_annotations(acting, annotations) if annotations else acting


def _withhold(gate: CallGate, call: ToolCall, intent: Effect, decision: Withheld, lost: int) -> Output:
    effect: Effect = {**intent, **build_effect(call, decision, gate.execution)}
    if decision.gate == "denied":
        # The person denies a further start, and the first one may have acted.
        effect = {**effect, "outcome": "unknown"}
    effects = {**note_lost(gate, call, intent, lost), str(call["id"]): effect}
    gate.note_call(call, effect, decision.text)
    return add_effects(build_answer(call, decision.text, is_error=decision.is_error), effects)


def _find_reply(state: object) -> AIMessage | None:
    return find_last_reply(_read_state(state).get("messages", []))[0]


def _read_state(state: object) -> Mapping[str, Any]:
    return state if isinstance(state, Mapping) else {}
