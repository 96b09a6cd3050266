"""Builds the evaluation as a LangGraph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Annotated, Any, Final, TypeAlias, TypeVar, Unpack, cast

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_config
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime

from evaluation.contract.intake import select_fields
from evaluation.contract.requirements import Contract
from evaluation.findings import Finding
from evaluation.importers.conversation import Conversation, read_conversation
from evaluation.nodes.prepare_evaluation import describe_contract
from evaluation.plugins import AnyJudge, JudgeFunction, PluginOptions, Plugins
from evaluation.report.report_model import EvaluationState, PreparedState
from evaluation.runner import FIRST, NODES, Node
from evaluation.sensitive.scanner import SensitiveValue

_FIELDS: Final = tuple(each.name for each in fields(Finding))
Value = TypeVar("Value")
Result = TypeVar("Result")


class DirectCall(RunnableLambda[Value, Result]):
    """Calls a function on the event loop and without a trace of its own.

    If a graph is awaited, LangGraph runs a plain function in a thread, which takes longer than the function.
    The base class is ``RunnableLambda`` because LangGraph reads the targets of a route from its function.

    Args:
        function: Called from blocking code, and from async code if there is no ``async_function``.
        async_function: Called from async code.
        subgraph: The graph that the function runs; LangGraph then draws it and lists it.
    """

    def __init__(
        self,
        function: Callable[[Value], Result],
        async_function: Callable[[Value], Awaitable[Result]] | None = None,
        subgraph: Runnable[Any, Any] | None = None,
    ) -> None:
        async def call(value: Value) -> Result:
            return function(value)

        self._function, self._async_function = function, async_function or call
        super().__init__(function, self._async_function)
        # LangGraph looks for the graphs of a node among the dependencies of its runnable.
        self.deps = [] if subgraph is None else [subgraph]

    def invoke(self, input: Value, config: RunnableConfig | None = None, **_: object) -> Result:  # noqa: A002, ARG002
        """Call the function."""
        return self._function(input)

    async def ainvoke(self, input: Value, config: RunnableConfig | None = None, **_: object) -> Result:  # noqa: A002, ARG002
        """Call the async function, or the function if there is none."""
        return await self._async_function(input)


class _GraphState(PreparedState):
    # Only LangGraph reads the annotations.
    demands: Annotated[Contract, UntrackedValue]  # type: ignore[misc]
    conversation: Annotated[Conversation | None, UntrackedValue]  # type: ignore[misc]
    sensitive: Annotated[list[SensitiveValue], UntrackedValue]  # type: ignore[misc]


EvaluationGraph: TypeAlias = CompiledStateGraph[EvaluationState, Plugins | None, Any, EvaluationState]
"""Its input is a case as a dict, which LangGraph's types cannot say."""


def build_evaluation_graph(
    judge: AnyJudge | JudgeFunction | None = None,
    *,
    checkpointer: BaseCheckpointSaver[str] | bool | None = None,
    **options: Unpack[PluginOptions],
) -> EvaluationGraph:
    """Compile the evaluation graph.

    Args:
        judge: As for ``evaluate``. Without a judge, a run that needs one ends as
            ``needs_review``.
        checkpointer: A LangGraph saver that stores the states, such as the ``saver`` of a store. False
            stores nothing, even if an enclosing graph has a checkpointer.
        options: The other plug-ins; see ``plugins.Plugins``.

    Returns:
        A graph that takes a case in the document's shape, or the final state of an evaluation, and ends with
        every field of ``EvaluationState``. As a node of a larger graph, it reads the fields of a case from
        that graph's state, and leaves out the others. A run may have ``Plugins`` of its own as its context:
        ``graph.invoke(case, context=Plugins(...))``.
    """
    plugins = Plugins.of(judge, options)
    # With ``dict`` as input type, the first node receives the whole case and can refuse unknown fields.
    # A typed input would drop them silently. A larger graph has fields of its own, which are left out.
    graph: StateGraph[EvaluationState, Plugins | None, Any, EvaluationState]
    graph = StateGraph(_GraphState, input_schema=dict, output_schema=EvaluationState)
    for name, node in NODES.items():
        graph.add_node(name, _bind(name, node, plugins), input_schema=dict if name == FIRST else None)  # type: ignore[arg-type]
        if isinstance(node.then, str):
            graph.add_edge(name, node.then)
        else:
            graph.add_conditional_edges(name, DirectCall(node.then))
    graph.add_edge(START, FIRST)
    return graph.compile(checkpointer, name="evaluation")


def _bind(name: str, node: Node, default: Plugins) -> DirectCall[PreparedState, EvaluationState]:
    read, arun = _read_case if name == FIRST else _restore, node.arun

    def run(state: PreparedState) -> EvaluationState:
        return _store(node.run(read(state), _choose_plugins(default)))

    if arun is None:
        return DirectCall(run)

    async def run_async(state: PreparedState) -> EvaluationState:
        return _store(await arun(read(state), _choose_plugins(default)))

    return DirectCall(run, run_async)


def _read_case(state: PreparedState) -> PreparedState:
    """Return the case; its fields alone, if the running graph is a node of another graph."""
    # The namespace of such a graph has two parts.
    is_nested = "|" in str(get_config().get("configurable", {}).get("checkpoint_ns"))
    return cast("PreparedState", select_fields(state)) if is_nested else state


def _choose_plugins(default: Plugins) -> Plugins:
    """Return the plug-ins of this run; an enclosing graph may have a context of another type."""
    context: object = get_runtime().context
    return context if isinstance(context, Plugins) else default


def _restore(state: PreparedState) -> PreparedState:
    """Return the state with the values that a graph keeps as plain JSON, and those that no store keeps."""
    stored = cast("list[dict[str, Any]]", state["findings"])
    state = {**state, "findings": [Finding(**each) for each in stored]}
    if "demands" in state:
        return state
    messages = state["agent_run"].get("messages")
    conversation = None if messages is None else read_conversation(messages)
    return {**state, "demands": Contract.read(state["contract"]), "conversation": conversation}


def _store(update: EvaluationState) -> EvaluationState:
    """Return the update of a node with the values that a graph keeps as plain JSON."""
    contract = cast("PreparedState", update).get("demands")
    update = update if contract is None else {**update, **describe_contract(contract)}
    if "findings" not in update:
        return update
    plain = [{name: getattr(each, name) for name in _FIELDS} for each in update["findings"]]
    return {**update, "findings": cast("list[Finding]", plain)}
