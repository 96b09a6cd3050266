"""The records of model and tool calls: read from a stored conversation, and stored as calls begin and end.

LangGraph stores a node's own writes when it ends, which is too late for a call in which the process dies.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NotRequired, cast
from uuid import UUID

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, PendingWrite
from typing_extensions import TypedDict

from agents.credentials.masking import mask_keys
from agents.loop.call_marks import CallMarks, Mark, add_mark, sum_marks
from agents.loop.effects import NOT_ENDED, Effect, list_outputs, read_call_id, read_reply_mark, utc_now
from agents.loop.langgraph_internals import find_checkpoint, read_config, read_task_id
from agents.loop.tool_answers import read_answer, read_invalid_call
from agents.loop.tool_arguments import is_watched
from agents.parsing.end_reasons import find_cut_off
from agents.parsing.thoughts import remove_thoughts
from agents.sync import Conversation, call_either, find_running_loop, run_conversation
from orchestrator.errors import StoreError
from orchestrator.state.graph_state import read_origin
from orchestrator.state.plain_values import format_text, plain_json, plain_text
from orchestrator.state.records import Attempt, CallOrigin, EffectRecord, Json, ToolCallRecord

_END: Final = 200
"""Number of characters of a reply's end that are kept."""


class ModelCall(TypedDict):
    """A model call; ``tokens`` has the counts that the model reported, None before and if it reported none.

    ``text`` is the text of the reply, and ``reports`` the reports of the provider.
    """

    model: str
    tokens: UsageMetadata | None
    failed: bool
    text: NotRequired[str]
    reports: NotRequired[Sequence[Mapping[str, object]]]


def find_cut_off_reply(calls: Sequence[ModelCall], output: str) -> str | None:
    """Finds out why the reply that became the output was cut off; None if it was not.

    An agent may ask more after it wrote its output. If no reply is the output, the last one decides.
    """
    reasons = [next(filter(None, map(find_cut_off, call.get("reports", ()))), None) for call in calls]
    if not any(reasons):
        return None
    end = _read_last_words(output)
    ends = [_read_last_words(remove_thoughts(call.get("text", ""))) for call in calls]
    own = [reason for reason, each in zip(reasons, ends, strict=True) if _is_same_end(each, end)]
    return (own or reasons)[-1]


def _is_same_end(first: str, second: str) -> bool:
    """Checks whether texts end alike: thoughts or a heading before the end may differ."""
    return bool(first and second) and (first.endswith(second) or second.endswith(first))


def _read_last_words(text: str) -> str:
    return " ".join(plain_text(text).split())[-_END:]


def plan_record(name: str, args: Json) -> ToolCallRecord:
    """Builds the record of a call that has no answer yet."""
    return ToolCallRecord(name=name, args=args, result=None, error=None, latency_ms=None)


def read_tool_calls(
    messages: Sequence[BaseMessage], effects: Mapping[str, Effect]
) -> Iterator[ToolCallRecord]:
    """Yields the records of the calls of a stored conversation that have an answer.

    The calls that act come first whose messages a middleware has removed, to shorten the conversation.
    """
    answers = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    calls = list_calls(messages)
    present = {str(call["id"]) for call in calls}
    removed = {key: each for key, each in effects.items() if read_call_id(key) not in present}
    yield from read_effects(removed)
    for call in (call for call in calls if call["id"] in answers):
        call_id = str(call["id"])
        names = [name for name in effects if name != call_id and read_call_id(name) == call_id]
        yield from read_effects({name: effects[name] for name in names})
        result, error = read_tool_output(answers[call_id])
        effect = effects.get(call_id)
        if error is not None and effect is not None:
            # What the tool raised, as it was recorded then: the answer has words for the model around it.
            error = effect["answer"] or error
        planned = plan_record(call["name"], plain_json(call["args"]))
        noted = {} if effect is None else read_effect(effect)
        yield cast("ToolCallRecord", {**planned, "result": result, "error": error, "id": call_id, **noted})


def read_effects(effects: Mapping[str, Effect]) -> list[ToolCallRecord]:
    """Returns the records of calls by their effects alone, also of calls that did not end."""
    return [{**build_withheld(*each), "latency_ms": None} for each in effects.items()]


def list_calls(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    """Lists the calls of a conversation in their order, also the broken ones."""
    replies = [message for message in messages if isinstance(message, AIMessage)]
    return [
        call
        for reply in replies
        for call in (*reply.tool_calls, *(read_invalid_call(each)[0] for each in reply.invalid_tool_calls))
        if call["id"] not in list_outputs(reply)
    ]


def build_withheld(call_id: str, effect: Effect, told: str | None = None) -> ToolCallRecord:
    """Builds the record of a call whose tool did not run, or of which the effect is known alone.

    Args:
        call_id: The id of the call.
        effect: Its effect.
        told: What the model was told in place of a result; default: the answer.
    """
    is_answered = effect["outcome"] in ("acted", "reused", "stated")
    record: dict[str, object] = {
        "result": effect["answer"] if is_answered else None,
        "error": None if is_answered else told or effect["answer"] or NOT_ENDED,
        "latency_ms": 0.0,
        "id": call_id,
    }
    return cast("ToolCallRecord", {**record, **read_effect(effect)})


def read_effect(effect: Effect) -> dict[str, object]:
    """Returns the fields of a call's record that its effect has."""
    names = {name: name for name in ("name", "outcome", "gate", "made_in", "read_back")}
    fields = {**names, "approval": "answer"}
    noted = {field: effect[name] for name, field in fields.items() if name in effect}  # type: ignore[literal-required]
    words: dict[str, object] = {
        name: plain_json(effect[name]) for name in ("args", "written") if name in effect
    }
    return {**noted, **words, **({"writes": True} if effect.get("is_stated") else {})}


def read_tool_output(output: object) -> tuple[str | None, str | None]:
    """Reads the result and the error, without credentials, of a tool's output; one of them is None."""
    answer = read_answer(output)
    if answer is None:
        return format_text(output), None
    text = plain_text(answer.text)
    return (None, mask_keys(text)) if answer.status == "error" else (text, None)


def list_earlier_replies(messages: Sequence[BaseMessage], execution: str) -> list[tuple[str, AIMessage]]:
    """Lists the replies that other executions got, with the names of their models."""
    marked = [(read_reply_mark(each), each) for each in messages if isinstance(each, AIMessage)]
    return [(mark["model"], reply) for mark, reply in marked if mark and mark["execution"] != execution]


def list_effects(records: Iterable[Attempt]) -> list[EffectRecord]:
    """Lists the calls of tools that act, in the order of the records."""
    return [
        _read_effect(read_origin(record), call)
        for record in records
        for call in record["tool_calls"]
        if "outcome" in call
    ]


def list_open_effects(
    place: CallOrigin, stored: Mapping[str, Effect], calls: Iterable[ToolCallRecord]
) -> list[EffectRecord]:
    """Lists the effects of an execution under way: of its graph, from the store, and of other calls."""
    acting = {key: effect for key, effect in stored.items() if not effect.get("is_open")}
    made = [*read_effects(acting), *(call for call in calls if "outcome" in call)]
    return [_read_effect(place, call) for call in made]


def _read_effect(place: CallOrigin, call: ToolCallRecord) -> EffectRecord:
    effect = EffectRecord(
        step_index=place["step_index"],
        attempt=place["attempt"],
        name=call["name"],
        args=call["args"],
        outcome=call["outcome"],
        answer=call["result"] if call["error"] is None else call["error"],
        is_guessed="writes" not in call,
    )
    if "answer" in call:
        effect["approval"] = call["answer"]
    if "read_back" in call:
        effect["read_back"] = call["read_back"]
    return effect


CHANNEL: Final = "executor_calls"
"""The channel of the calls among the pending writes of a checkpoint. No node reads it."""
_EFFECTS: Final = "agent_effects"
"""The channel of the effects of agents within a tool or a node of the executor, which ask by themselves."""
_EXECUTION: Final = "execution"
"""The id of the marks of an execution, which is asked about like a call."""


def read_calls(writes: Sequence[PendingWrite], task_id: str) -> list[ToolCallRecord]:
    """Reads the calls of a task among the pending writes of its checkpoint; an open one has no latency."""
    return [*_read_channel(writes, task_id, CHANNEL), *_read_channel(writes, task_id, _EFFECTS)]


def _read_channel(writes: Sequence[PendingWrite], task_id: str, channel: str) -> list[ToolCallRecord]:
    own = [each for each in writes if each[0].startswith(task_id[:8]) and each[1] == channel]
    # Ids of calls begin with their time. The end of a call replaces its start, and a further start its end.
    calls = {writer.rpartition("-")[0]: call for writer, _, call in sorted(own, key=lambda each: each[0])}
    return [call for call in calls.values() if call is not None]


@dataclass(frozen=True, slots=True)
class CallJournal:
    """Writes the calls of an execution into the store of its run.

    Attributes:
        saver: The store.
        place: The checkpoint that the execution belongs to.
        config: The config of its node.
        complete: Completes the record of a call.
        calls: The calls that earlier starts of the execution have stored, in their order.
        effects: The effects of agents within the executor that they have stored.
        marks: The marks of these starts.
    """

    saver: BaseCheckpointSaver[str]
    place: RunnableConfig
    config: RunnableConfig
    complete: Callable[[ToolCallRecord], ToolCallRecord]
    calls: Sequence[ToolCallRecord]
    effects: Sequence[ToolCallRecord]
    marks: CallMarks

    def keep_call(self, run_id: UUID, record: ToolCallRecord | None) -> None:
        """Stores the start or the end of a call; None takes back a start, since the tool begins again.

        Raises:
            StoreError: The store cannot be written to.
        """
        if is_watched():
            return
        if (loop := find_running_loop()) is not None and getattr(self.saver, "loop", None) is loop:
            raise StoreError(
                "the call of a tool cannot be stored, since the executor blocks the event loop of the "
                f"{type(self.saver).__name__}; let it await the tool, as with ainvoke"
            )
        is_open = record is not None and record["latency_ms"] is None
        if record is not None and is_open:
            record = {**record, "error": NOT_ENDED, "outcome": "unknown"}
        writer = f"{read_task_id(self.config)}-{run_id}-{int(not is_open)}"
        self.saver.put_writes(self.place, [(CHANNEL, record and self.complete(record))], writer)

    def keep_effect(
        self, config: RunnableConfig, record: ToolCallRecord, asked_at: str
    ) -> Conversation[None]:
        """Stores the start or the end of a call of an agent, unless the state of the executor's graph has it.

        Args:
            config: The config of the call.
            record: The call.
            asked_at: When the model called.
        """
        place = _read_place(config).rpartition("|")[0]
        if place != _read_place(self.config):
            end = f"{place}|{record.get('id')}-{utc_now().timestamp():.6f}{int(record['error'] != NOT_ENDED)}"
            writer = f"{read_task_id(self.config)}-{asked_at}|{end}"
            put, aput = self.saver.put_writes, self.saver.aput_writes
            yield call_either(put, aput, self.place, [(_EFFECTS, record)], writer)

    def join_calls(self, made: Sequence[ToolCallRecord]) -> list[ToolCallRecord]:
        """Returns the calls of the execution with the stored effects.

        An agent that goes on has its earlier calls; of one that has ended, only the messages may be left.
        """
        left, joined = [*self.effects], list[ToolCallRecord]()
        for call in made:
            found = (at for at, each in enumerate(left) if _identify(each) == _identify(call))
            stored = call if (at := next(found, None)) is None else left.pop(at)
            joined.append(call if "outcome" in call else stored)
        return [*left, *joined]

    async def mark(self, mark: Mark, answers: int = 0) -> None:
        """Stores a mark of this start of the execution."""
        marking = add_mark(self.config, _EXECUTION, mark, utc_now().isoformat(), answers)
        await asyncio.to_thread(run_conversation, marking)


def _read_place(config: RunnableConfig) -> str:
    return str(config["configurable"].get("checkpoint_ns", ""))


def _identify(call: ToolCallRecord) -> tuple[object, str]:
    return call.get("id"), json.dumps([call["name"], call["args"]], sort_keys=True)


async def open_journal(
    complete: Callable[[ToolCallRecord], ToolCallRecord], *, is_new: bool
) -> CallJournal | None:
    """Opens the journal of the running node; None without a store, or one without blocking methods.

    Args:
        complete: Completes the record of a call.
        is_new: Whether no earlier start can have stored anything.
    """
    config = read_config()
    found = find_checkpoint(config)
    if found is None or getattr(found[0].put_writes, "__func__", None) is BaseCheckpointSaver.put_writes:
        return None
    stored = None if is_new else await asyncio.to_thread(found[0].get_tuple, found[1])
    writes, task_id = (stored and stored.pending_writes) or (), read_task_id(config)
    calls, effects = (_read_channel(writes, task_id, each) for each in (CHANNEL, _EFFECTS))
    return CallJournal(*found, config, complete, calls, effects, sum_marks(stored, config, _EXECUTION))
