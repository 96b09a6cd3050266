"""Protocols of the agents, graphs as executors, and which method of an agent is called with which arguments.

Any object with the methods works. If an object also has an async method with the prefix ``a``
(``agenerate_plan``), that method is called. A plain method runs in a thread, off the event loop.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, cast
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.graph.state import CompiledStateGraph

from agents import ExecutionAgent, prompts
from agents.base import overrides_invoke
from agents.errors import ModelSetupError, ModelSpecError, TextualCallError
from agents.loop.effects import find_gate
from agents.loop.executor_graph import find_tools, read_output
from agents.loop.langgraph_internals import choose_durability, list_graphs
from agents.loop.reply_problems import find_unmade_call
from agents.loop.tool_arguments import list_parameters
from agents.models.spec import load_model
from orchestrator.errors import ConfigurationError
from orchestrator.runtime.bounded_call import OPTIONAL, AgentMethod, BoundMethod
from orchestrator.state.plain_values import format_one_line, format_repr


class Planner(Protocol):
    """Breaks a task into steps."""

    def generate_plan(self, task: str, /) -> Sequence[str | Mapping[str, object]]:
        """Returns the steps in order: texts, or objects such as ``{"step": ..., "supervision": "human"}``."""


class Executor(Protocol):
    """Carries out one step.

    The context is the results of earlier steps. A retry calls its method
    ``correct_step(step, previous_output, feedback, context="")`` if there is one. If not, the last output and
    the feedback are added to the context. If a method also takes an optional ``task``, it is given the task
    and the outline of the plan.

    If a method takes an optional ``sampling`` (``agents.Sampling``), a retry gives it the temperature, the
    seed and the model of the call; if not, the executor keeps its own.

    A method ``synthesize(task, results)`` writes the final answer from the results of several steps.
    """

    def execute_step(self, step_description: str, /, context: str = "") -> str:
        """Returns the result of the step."""


class Monitor(Protocol):
    """Judges a result against its objective.

    If the method also takes an optional ``task``, it is given the task and the outline of the plan; with an
    optional ``evidence``, the outcomes of the checks and the calls of tools with their answers.
    """

    def evaluate(self, objective: str, result: str) -> Mapping[str, object]:
        """Returns ``{"success": bool, "feedback": str}``."""


class InvokableCompressor(Protocol):
    """Shortens the context. A method ``compress(text, task)`` is called instead if there is one."""

    def invoke(self, text: str, /) -> str:
        """Returns the shorter text."""


class RunnableCompressor(Protocol):
    """A compressor with ``_run`` in place of ``invoke``, as LangChain tools have it."""

    def _run(self, text: str, /) -> str: ...


Compressor = InvokableCompressor | RunnableCompressor

_ANSWER: Final = "Write the final answer to this task, from the results so far:"

_DOCUMENTED: Final = {
    "generate_plan": ("planner", ("task",), ()),
    "execute_step": ("executor", ("step",), ("context",)),
    "correct_step": ("executor", ("step", "output", "feedback"), ("context",)),
    "synthesize": ("executor", ("task", "results"), ()),
    "commit_step": ("executor", ("step",), ("context",)),
    "assess_step": ("executor", ("step", "commitment", "output"), ()),
    "supervise": ("supervisor", ("request",), ()),
    "evaluate": ("monitor", ("objective", "result"), ()),
    "compress": ("compressor", ("text",), ("task",)),
    "invoke": ("compressor", ("text",), ()),
    "_run": ("compressor", ("text",), ()),
}
"""The role of each method, and its arguments: by position, and by name."""


def bind_method(agent: object, name: str) -> BoundMethod:
    """Returns the agent's method, or the async method of that name, with the optional arguments it takes.

    Raises:
        ConfigurationError: There is no such method, or it cannot be called with the documented arguments.
    """
    role, by_position, by_name = _DOCUMENTED[name]
    if not callable(getattr(agent, name, None)):
        raise ConfigurationError(
            f"{role} ({type(agent).__name__}) has no method {name}(); give an object that has it"
        )
    # A subclass that overrides only the plain method expects its override to be called.
    newest = find_newest(agent, f"a{name}", name)
    is_asynchronous = inspect.iscoroutinefunction(getattr(agent, newest, None))
    called = newest if is_asynchronous and not inspect.iscoroutinefunction(getattr(agent, name)) else name
    method: Callable[..., object] = getattr(agent, called)
    try:
        # Not the signature of a wrapped function: a decorator may add or remove arguments.
        signature = inspect.signature(method, follow_wrapped=False)
        bound = signature.bind(*by_position, **dict.fromkeys(by_name, ""))
    except (TypeError, ValueError) as error:
        call = ", ".join((*by_position, *(f"{each}=..." for each in by_name)))
        raise ConfigurationError(
            f"{role} is a {type(agent).__name__} whose {called}() cannot be called as {called}({call}): "
            f"{error}; give it these parameters"
        ) from None
    # By name: a function with ``**kwargs`` may hand them to one that does not know the argument.
    free = signature.parameters.keys() - bound.arguments.keys()
    return BoundMethod(method, frozenset({*free, *by_name} & OPTIONAL))


def find_newest(agent: object, *names: str) -> str:
    """Returns the method that was defined last: on the object itself, else nearest in the class hierarchy.

    Of several in the same place, the first one counts; the last one if none is found.
    """
    # A method that is set on the object replaces all methods of its class.
    places = (getattr(agent, "__dict__", {}), *map(vars, type(agent).__mro__))
    return next((name for place in places for name in names if name in place), names[-1])


def has_own(executor: object, name: str) -> bool:
    """Checks whether an executor has a method that is as new as its ``execute_step``."""
    return find_newest(executor, name, "execute_step") == name


def bind_compressor(compressor: Compressor | None) -> AgentMethod[object] | None:
    """Returns an awaitable function of the context and ``task``; None without a compressor.

    Raises:
        ConfigurationError: It has no method that shortens a text.
    """
    if compressor is None:
        return None
    plain = next((name for name in ("invoke", "_run") if callable(getattr(compressor, name, None))), None)
    if plain is None:
        raise ConfigurationError(
            f"compressor is a {type(compressor).__name__} with neither invoke(text) nor _run(text); "
            "give one that has either, or None"
        )
    is_own = find_newest(compressor, "compress", "invoke", "_run") == "compress"
    return bind_method(compressor, "compress" if is_own else plain)


def bind_synthesis(executor: object) -> AgentMethod[object]:
    """Returns an awaitable function of the task and the results that writes the final answer.

    An executor without ``synthesize`` carries out an instruction to write it.
    """
    has_method = has_own(executor, "synthesize")
    method = bind_method(executor, "synthesize" if has_method else "execute_step")

    async def write_answer(request: str, *, context: str, task: str = "", **options: object) -> object:  # noqa: ARG001 - as execute_step
        if has_method:
            return await method(request, context, **options)
        return await method(f"{_ANSWER}\n{request}", context=context, **options)

    return write_answer


def load_models(
    names: Collection[str], given: Mapping[str, BaseChatModel], executor: object
) -> dict[str, BaseChatModel]:
    """Returns the model of each escalation, by its name in the rules.

    Args:
        names: The models of the rules, by their names or specifications.
        given: The caller's models by name; any other name is a specification for ``load_model``.
        executor: Has to take the model of a call.

    Raises:
        ConfigurationError: A model cannot be loaded, is no chat model, or the executor takes none.
    """
    values = given.values() if isinstance(given, Mapping) else (given,)
    wrong = next((value for value in values if not isinstance(value, BaseChatModel)), None)
    if wrong is not None:
        raise ConfigurationError(
            f"models has {format_repr(wrong, 80)}; give LangChain chat models by name, "
            "such as {'strong': llm}"
        )
    if names and "sampling" not in bind_method(executor, "execute_step").takes:
        raise ConfigurationError(
            f"a rule of strategies is escalate, and {type(executor).__name__} keeps its own model; "
            "give an executor whose execute_step takes `sampling`, such as ExecutionAgent"
        )
    try:
        return {name: given[name] if name in given else load_model(name) for name in names}
    except (ModelSetupError, ModelSpecError) as error:
        raise ConfigurationError(f"a rule of strategies escalates to another model: {error}") from None


AnyGraph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]
_STEPS = ("execute_step", "aexecute_step", "correct_step", "acorrect_step")


class GraphExecutor:
    """Carries out steps with a graph, which runs as a subgraph of the run.

    Its replies and the answers of its tools are kept by the checkpointer of the run, and a question that it
    asks with ``interrupt`` is a question of the run.

    Args:
        graph: The graph.
        context: The runtime context of the graph; None if it has none.

    Raises:
        ConfigurationError: The graph has no ``messages``, cannot take the context, or it or a graph in it has
            a checkpointer.
    """

    def __init__(self, graph: AnyGraph, context: object = None) -> None:
        if "messages" not in graph.channels:
            fields = ", ".join(sorted(graph.stream_channels_list))
            raise ConfigurationError(
                f"executor is a graph without messages, its state has {fields}; "
                "give a graph whose state has messages, as create_agent builds it"
            )
        graphs = list_graphs(graph)
        for each in graphs:
            if each.checkpointer is not None:
                place = "is" if each is graph else "runs"
                raise ConfigurationError(
                    f"executor {place} a graph with checkpointer={each.checkpointer!r:.60}; compile it "
                    "without one: the checkpointer of the orchestrator keeps its state"
                )
        _check_context(graph.context_schema, context)
        self.graph = graph
        self.tools = [tool for each in graphs for tool in find_tools(each)]
        self._context = context

    async def execute_step(
        self, step_description: str, context: str = "", *, task: str = "", schema: object = None
    ) -> str:
        """Carries out a step, and returns the text of the last message."""
        return await self._run([_build_request(step_description, context, task, schema)])

    async def correct_step(
        self,
        step_description: str,
        previous_output: str,
        feedback: str,
        context: str = "",
        *,
        task: str = "",
        schema: object = None,
    ) -> str:
        """Carries out a step again, after its last output and the reason why it was refused."""
        request = _build_request(step_description, context, task, schema)
        # Servers refuse a message without text.
        refused = AIMessage(previous_output if previous_output.strip() else "(empty)")
        return await self._run([request, refused, HumanMessage(prompts.correction_turn(feedback))])

    async def _run(self, messages: Sequence[BaseMessage]) -> str:
        durability = choose_durability()
        # The graph may remove messages to shorten the conversation, so they have ids.
        given = [each.model_copy(update={"id": uuid4().hex}) for each in messages]
        state = await self.graph.ainvoke({"messages": given}, context=self._context, durability=durability)
        made = [each for each in state["messages"] if each.id not in {known.id for known in given}]
        if (gate := find_gate()) is not None:
            gate.note_history(made, state.get("effects") or {})
        output, replies = read_output(state), [each for each in made if isinstance(each, AIMessage)]
        called = {call["name"] for reply in replies for call in reply.tool_calls}
        # The graph ended with it: nobody is left to tell its model.
        tools = list_parameters(self.tools)
        if replies and (call := find_unmade_call(replies[-1], tools, called)) is not None:
            raise TextualCallError(call)
        return output


def _check_context(schema: type | None, context: object) -> None:
    """Checks that a graph can take a context, as LangGraph reads it. A graph may do without any."""
    if schema is None or context is None:
        return
    try:
        if isinstance(context, dict):
            schema(**context)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(
            f"executor_context does not fit {schema.__name__}, the context schema of the graph: "
            f"{format_one_line(error)}; give its fields as a dict"
        ) from None


def read_executor(executor: Executor | AnyGraph, context: object) -> Executor:
    """Returns an executor with the documented methods.

    Raises:
        ConfigurationError: A graph is not accepted, or there is a context and no graph.
    """
    if isinstance(executor, CompiledStateGraph):
        return cast("Executor", GraphExecutor(executor, context))
    if context is not None:
        raise ConfigurationError(
            f"executor_context is for an executor that is a compiled graph, and the executor is a "
            f"{type(executor).__name__}; leave it out"
        )
    return executor


def find_agent_graph(executor: object) -> AnyGraph | None:
    """Returns the graph that carries out the steps of an executor; None if it does that by itself."""
    if isinstance(executor, GraphExecutor):
        return executor.graph
    if not isinstance(executor, ExecutionAgent) or overrides_invoke(executor):
        return None
    kind = type(executor)
    is_own = any(getattr(kind, name) is not getattr(ExecutionAgent, name) for name in _STEPS)
    return None if is_own or vars(executor).keys() & {*_STEPS} else executor.graph


def _build_request(step: str, context: str, task: str, schema: object) -> HumanMessage:
    form = schema if isinstance(schema, Mapping) else None
    return HumanMessage(prompts.add_schema(prompts.step_request(step, context, task), form))
