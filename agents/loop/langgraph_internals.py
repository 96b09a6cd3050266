"""The config that agents, tools and graphs inherit from a node, and the private names of LangGraph in it.

No other module of the project uses private names. Each has a test that fails when LangGraph changes it, in
``tests/agents/loop/test_langgraph_internals.py``. The test of LangChain's edited calls is in
``tests/agents/loop/test_changed_calls.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextvars import Context
from functools import partial
from itertools import takewhile
from typing import Any, Final, Literal, TypeAlias

from langchain_core.runnables import Runnable
from langchain_core.runnables.config import RunnableConfig, set_config_context
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.pregel._utils import get_function_nonlocals
from langgraph.runtime import Runtime
from langgraph.types import Command, Interrupt, _interrupt_id, interrupt

_DURABILITY_KEY: Final = "__pregel_durability"
_SAVER_KEY: Final = "__pregel_checkpointer"
_RUNTIME_KEY: Final = "__pregel_runtime"
_READ_KEY: Final = "__pregel_read"
_TO_NODE: Final = "branch:to:"
_HARMLESS: Final = frozenset({"TodoListMiddleware", "AsyncSubAgentMiddleware"})
"""Middleware that deepagents puts in front of the caller's. It changes no call of another tool."""
AFTER_MODEL: Final = ".after_model"
"""LangChain's name of a node of middleware ends with it."""
EDITS_KEY: Final = "hitl_edited_tool_calls"
INTERRUPT_CHANNEL: Final = "__interrupt__"
"""The channel of an open interrupt in the pending writes of a checkpoint.

LangGraph uses the same name as a public key of what a graph returns; for the writes, see
https://github.com/langchain-ai/langgraph/pull/8179.
"""

RESUME_CHANNEL: Final = "__resume__"
"""The channel of the answers to interrupts, in the same place."""

AnyPregel: TypeAlias = Pregel[Any, Any, Any, Any]
NO_TASK: Final = "00000000-0000-0000-0000-000000000000"
"""The id of the writer of an answer that names no interrupt, and of other input."""


def read_config() -> RunnableConfig:
    """Returns the config of the running node, chain or tool; an empty one outside of these."""
    try:
        return get_config()
    except RuntimeError:
        return RunnableConfig()


def read_values(config: RunnableConfig | None = None) -> Mapping[str, object]:
    """Returns the values in ``configurable`` of a config; default: the running node, chain or tool."""
    return (read_config() if config is None else config).get("configurable", {})


def is_in_tool() -> bool:
    """Returns whether a tool of another agent has called the running graph."""
    # The nodes around this one, such as "tools:ID|after_agent:ID"; agents of LangChain run tools in "tools".
    around = str(read_values().get("checkpoint_ns", "")).split("|")[:-1]
    return any(each.startswith("tools:") for each in around)


def build_nested_config(config: RunnableConfig, own: type) -> RunnableConfig:
    """Returns the config of a node for what it calls: without the recursion limit, durability and context.

    The caller of a run limits the nodes of the run, and not those of the graphs within them. A graph without
    a context would see that of the node.

    LangGraph 1.2 hands ``durability="sync"`` down to every graph that a node runs. A nested graph without a
    checkpointer then waits for a checkpoint that it never writes, and raises AttributeError. Only the caller
    of that graph could pass another durability, and here the callers are agents and tools of users.

    Args:
        config: The config of the node.
        own: The class of the context that only nodes of ours see; that of a graph around them stays.
    """
    # The same crash without nesting: https://github.com/zenml-io/kitaru/issues/403. A test fails when nested
    # graphs no longer crash; this function can go then.
    configurable = {**config.get("configurable", {})}
    configurable.pop(_DURABILITY_KEY, None)
    runtime = configurable.get(_RUNTIME_KEY)
    if isinstance(runtime, Runtime) and isinstance(runtime.context, own):
        configurable[_RUNTIME_KEY] = runtime.override(context=None)
    nested = RunnableConfig(**{**config, "configurable": configurable})
    nested.pop("recursion_limit", None)
    return nested


def list_graphs(graph: AnyPregel) -> list[AnyPregel]:
    """Returns a graph and all graphs that its nodes run; an agent that a tool calls is a part of the tool.

    LangGraph's ``get_subgraphs`` leaves out those with ``checkpointer=False``, and the second one of a node.
    """
    reached: list[Runnable[Any, Any]] = [graph]
    for each in reached:
        for part in _list_parts(each):
            if isinstance(part, Runnable) and not any(part is known for known in reached):
                reached.append(part)
    return [each for each in reached if isinstance(each, Pregel)]


def _list_parts(runnable: Runnable[Any, Any]) -> Iterator[object]:
    if isinstance(runnable, Pregel):
        yield from (node.bound for node in runnable.nodes.values())
    elif not isinstance(runnable, ToolNode | BaseTool):
        steps = getattr(runnable, "steps", ())
        yield from (*(steps if isinstance(steps, Sequence) else ()), getattr(runnable, "bound", None))
        for function in (getattr(runnable, "func", None), getattr(runnable, "afunc", None)):
            for value in get_function_nonlocals(function) if function is not None else ():
                yield getattr(value, "__self__", value)


def list_running_nodes() -> list[str]:
    """Lists the nodes of the running graph in the order in which they were added; empty outside of one."""
    # A node gets a function that reads channels, and has a channel of its own.
    read = read_values().get(_READ_KEY)
    channels = read.args[1] if isinstance(read, partial) else ()
    return [name.removeprefix(_TO_NODE) for name in channels if name.startswith(_TO_NODE)]


def find_order_problem(own: str, nodes: Collection[str]) -> str | None:
    """Returns why a middleware does not see the calls of a reply last; None if it does.

    Args:
        own: The name of the middleware.
        nodes: The nodes of the agent, in the order of its ``middleware``.
    """
    node = own + AFTER_MODEL
    before = [*takewhile(node.__ne__, nodes)] if node in nodes else []
    names = [each.removesuffix(AFTER_MODEL) for each in before if each.endswith(AFTER_MODEL)]
    if (other := next((each for each in names if each not in _HARMLESS), None)) is None:
        return None
    return (
        f"{other} stands before {own} in middleware, so that it may change a call after {own} has decided "
        f"about it; put {own} first"
    )


def find_checkpoint(
    config: RunnableConfig, *, is_outermost: bool = False
) -> tuple[BaseCheckpointSaver[str], RunnableConfig] | None:
    """Returns the saver and the checkpoint that the running node belongs to; None without a saver.

    A node cannot read them otherwise: its own ``checkpoint_id`` is None, and the saver is a private value.

    Args:
        config: The config of the node.
        is_outermost: Whether the checkpoint of the outermost graph is meant.
    """
    configurable, saver = config.get("configurable", {}), _find_saver(config)
    namespace = "" if is_outermost else str(configurable.get("checkpoint_ns", "")).rpartition("|")[0]
    checkpoint_id = configurable.get("checkpoint_map", {}).get(namespace)
    if saver is None or checkpoint_id is None:
        return None
    place = {
        "thread_id": configurable.get("thread_id"),
        "checkpoint_ns": namespace,
        "checkpoint_id": checkpoint_id,
    }
    return saver, RunnableConfig(configurable=place)


def ask_person(value: object, new_after: int | None = None) -> object:
    """Asks with LangGraph's ``interrupt``, and returns the answer.

    Args:
        value: The question.
        new_after: For a question that was not asked before, the number of answers that its task has: it takes
            none that is stored, since that is for another one.

    Raises:
        GraphInterrupt: There is no answer yet.
    """
    if new_after is None:
        return interrupt(value)
    place = _interrupt_id(str(read_values()["checkpoint_ns"]), new_after)
    raise GraphInterrupt((Interrupt(value, place),))


def choose_durability() -> Literal["sync"] | None:
    """Returns the durability of a graph that is called here: "sync" if a saver keeps the running node."""
    return None if find_checkpoint(read_config()) is None else "sync"


def has_outer_graph(config: RunnableConfig) -> bool:
    """Returns whether the running graph runs within a node of another one."""
    return "|" in str(read_values(config).get("checkpoint_ns", ""))


def has_saver() -> bool:
    """Returns whether a saver keeps the running graph."""
    return _find_saver() is not None


def _find_saver(config: RunnableConfig | None = None) -> BaseCheckpointSaver[str] | None:
    saver = read_values(config).get(_SAVER_KEY)
    return saver if isinstance(saver, BaseCheckpointSaver) else None


def find_storage_problem(config: RunnableConfig, output: object) -> Exception | None:
    """Returns why the saver of the running graph cannot store the output of a tool; None if it can."""
    if (saver := _find_saver(config)) is None:
        return None
    parts = [output.update] if isinstance(output, Command) else output
    try:
        saver.serde.dumps_typed(parts)
    except Exception as error:  # noqa: BLE001 - values of users have errors of their own
        return error
    return None


def find_late_durability(config: RunnableConfig) -> str | None:
    """Returns the durability of the running graph if its saver may store a call after it was made; else None.

    ``InMemorySaver`` does not outlive the process, so that nothing resumes what it has lost.
    """
    durability = str(read_values(config).get(_DURABILITY_KEY, "async"))
    is_kept = _find_saver(config) is not None and not isinstance(_find_saver(config), InMemorySaver)
    return durability if is_kept and durability != "sync" else None


def copy_context_with(config: RunnableConfig) -> Context:
    """Returns a copy of the context variables, in which everything that is called inherits ``config``."""
    with set_config_context(config) as context:
        return context.copy()


def read_task_id(config: RunnableConfig | None = None) -> str:
    """Reads the start of the id of the running task, which is the same when a run is resumed."""
    return str(read_values(config).get("checkpoint_ns", "")).rpartition(":")[2][:8]


def build_outer_config(outer: RunnableConfig) -> RunnableConfig:
    """Returns the config of an outer node, but traced under the running one.

    An interrupt that is raised inside a graph without checkpoints can only be answered this way.
    """
    inner = read_config()
    traced = RunnableConfig(callbacks=inner.get("callbacks"), metadata=inner.get("metadata", {}))
    return RunnableConfig(**{**outer, **traced}) if outer else outer


def extend_config(configurable: Mapping[str, object], metadata: Mapping[str, object]) -> RunnableConfig:
    """Returns the config of the running node with further values for tools, and metadata for traces."""
    config = read_config()
    added = RunnableConfig(
        configurable={**config.get("configurable", {}), **configurable},
        metadata={**config.get("metadata", {}), **metadata},
    )
    return RunnableConfig(**{**config, **added})
