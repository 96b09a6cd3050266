import asyncio
from dataclasses import dataclass

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, TodoListMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel
from typing_extensions import TypedDict

from agents import ActingTool, EffectsMiddleware, ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError
from tests.fakes.compressor import AsyncFakeCompressor, FakeCompressor, RunCompressor
from tests.fakes.executor import AsyncFakeExecutor, FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import AsyncFakePlanner, FakePlanner
from tests.fakes.runs import build as build_run
from tests.fakes.runs import call, run

NO_MODEL = ScriptedChatModel([])


def test_each_role_honours_an_override_of_its_coroutine_or_of_its_plain_method():
    class Planner(PlanningAgent):
        async def agenerate_plan(self, task):
            return ["fixed"]

    class Executor(ExecutionAgent):
        def execute_step(self, step_description, context=""):
            return f"<{step_description}>"

    class Monitor(MonitoringAgent):
        def evaluate(self, objective, result):
            return accept("mine")

    [record] = run(Executor(NO_MODEL), Monitor(NO_MODEL), planner=Planner(NO_MODEL))["results"]
    assert (record["result"], record["verdict"]["feedback"]) == ("<fixed>", "mine")


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), StopIteration(), asyncio.CancelledError()]
)
def test_an_agent_can_neither_end_the_process_nor_cancel_the_run(error):
    # An agent whose own inner task was cancelled has failed; the run was not cancelled.
    executor = AsyncFakeExecutor if isinstance(error, asyncio.CancelledError) else FakeExecutor
    state = run(executor(error))

    assert (state["status"], state["failure"]["kind"]) == ("failed", "executor_error")
    assert type(error).__name__ in state["failure"]["message"]


class TaskCompressor(FakeCompressor):
    def compress(self, text, task):
        self.texts.append(text)
        return f"short for {task}"


def test_each_documented_form_of_a_compressor_is_asked_before_every_later_execution(subtests):
    for compressor, short in [
        (FakeCompressor("short"), "short"),
        (AsyncFakeCompressor("short"), "short"),
        (RunCompressor(), "run"),
        (TaskCompressor(""), "short for the task"),
    ]:
        with subtests.test(compressor=compressor):
            executor = FakeExecutor()
            run(executor, plan=["one", "two", "three"], compressor=compressor, task="the task")

            assert [call.context for call in executor.calls[1:]] == [short] * 2
            asked = ["Step 1: one\nResult: one done", f"{short}\n\nStep 2: two\nResult: two done"]
            assert compressor.texts == asked


def test_an_error_of_an_agent_ends_the_run_with_its_cause_and_the_earlier_results(subtests):
    missing, no_idea, no_room = KeyError("missing"), ValueError("no idea"), ValueError("no room")
    kept, cut = [("first", "validated")], [("first", "validated"), ("", "failed")]
    nothing = "the compressor returned a NoneType; text is wanted"
    no_plan = ("planner", "ValueError: no idea", None)
    no_result = ("executor", "step 2: KeyError: 'missing'", 1)
    for agents, results, told in [
        ({"planner": FakePlanner(no_idea)}, [], no_plan),
        ({"planner": AsyncFakePlanner(no_idea)}, [], no_plan),
        ({"executor": FakeExecutor("first", missing)}, cut, no_result),
        ({"executor": AsyncFakeExecutor("first", missing)}, cut, no_result),
        ({"compressor": FakeCompressor(no_room)}, kept, ("compressor", "step 2: ValueError: no room", 1)),
        ({"compressor": FakeCompressor(lambda text: None)}, kept, ("compressor", f"step 2: {nothing}", 1)),
    ]:
        with subtests.test(agents=agents):
            state = run(**{"executor": FakeExecutor("first", "second"), **agents}, task="the task")
            role, message, step_index = told

            assert [(record["result"], record["status"]) for record in state["results"]] == results
            assert (state["status"], state["task"]) == ("failed", "the task")
            assert state["plan"] == (["one", "two"] if results else [])
            assert state["context"] == ("Step 1: one\nResult: first" if results else "")
            assert state["failure"] == {
                "kind": f"{role}_error",
                "message": message,
                "step_index": step_index,
                "error_type": None if nothing in message else message.split(": ")[-2],
            }


done: list[str] = []
NEEDS = r"whose tool \"settle\" may act, .* EffectsMiddleware\(\) first"
STATED = {"acting_tools": ["settle"]}


def settle(to: str) -> str:
    """Settle."""
    done.append(to)
    return f"settled with {to}"


def reply(messages):
    if isinstance(messages[-1], ToolMessage):
        return f"Done: {messages[-1].text}"
    return call("settle", to="Ada")


def build(*middleware, **options):
    done.clear()
    graph = create_agent(ScriptedChatModel(reply, usage=(3, 2)), [settle], middleware=middleware)
    defaults = {"checkpointer": InMemorySaver(), "synthesis": False}
    return build_run(graph, plan=["one"], **{**defaults, **options})


def test_the_structured_output_of_a_graph_is_no_call_of_a_tool(subtests):
    class UpdateOrder(BaseModel):
        to: str

    for options in [{}, STATED]:
        with subtests.test(options=options):
            model = ScriptedChatModel([call("settle", to="Ada"), call("UpdateOrder", to="Ada")])
            form = ToolStrategy(UpdateOrder)
            graph = create_agent(model, [settle], middleware=[EffectsMiddleware()], response_format=form)
            state = build_run(graph, plan=["one"], checkpointer=InMemorySaver(), **options).run("x", "t")

            assert [call["name"] for call in state["results"][0]["tool_calls"]] == ["settle"]
            assert [each["name"] for each in state["effects"]] == (["settle"] if options else [])


def test_a_tool_that_a_graph_states_itself_is_stated_in_the_run():
    orchestrator = build(EffectsMiddleware(["settle"]))
    [effect] = orchestrator.run("x", "thread")["effects"]

    assert (effect["outcome"], effect["is_guessed"]) == ("acted", False)
    with pytest.raises(ConfigurationError, match="or replace=True"):
        orchestrator.run("x", "thread")


class ShopEffects(EffectsMiddleware):
    """Middleware under a name of its own."""


def test_a_graph_whose_middleware_stands_behind_an_approval_is_refused(subtests):
    approval = HumanInTheLoopMiddleware({"settle": True})
    for middleware in [(approval, EffectsMiddleware()), (TodoListMiddleware(), approval, ShopEffects())]:
        told = rf"HumanInTheLoopMiddleware stands before {middleware[-1].name} .* first"
        with subtests.test(middleware=middleware), pytest.raises(ConfigurationError, match=told):
            build(*middleware)

    assert build(TodoListMiddleware(), EffectsMiddleware(), approval).run("x", "thread")["question"]


def nest(*graphs):
    """Returns a graph with a node that runs one graph, and a node whose function calls the others."""
    first, *others = graphs

    async def call_others(state):
        return {"messages": [(await each.ainvoke(state))["messages"][-1] for each in (second, third) if each]}

    second, third, *_ = [*others, None, None]
    graph = StateGraph(MessagesState).add_node("first", first).add_node("others", call_others)
    return graph.add_edge(START, "first").add_edge("first", "others").compile()


def new_agent(*tools, guarded, **options):
    middleware = [EffectsMiddleware()] if guarded else []
    return create_agent(ScriptedChatModel(reply), [*tools], middleware=middleware, **options)


def get_name(to: str) -> str:
    """Get a name."""
    return to


def test_one_rule_decides_about_a_graph_and_each_graph_in_it(subtests):
    good, bare = (new_agent(settle, guarded=is_guarded) for is_guarded in (True, False))
    reads, mixed = new_agent(get_name, guarded=False), nest(good, bare)
    refused = [bare, nest(bare), nest(nest(bare)), mixed, nest(reads, good, bare), nest(mixed)]
    for place, graph in enumerate(refused):
        for options in [{}, STATED, {**STATED, "checkpointer": None}]:
            with subtests.test(place=place, options=options), pytest.raises(ConfigurationError, match=NEEDS):
                build_run(graph, **{"checkpointer": InMemorySaver(), **options})
    own = create_agent(ScriptedChatModel(reply), [settle], middleware=[ShopEffects()])
    for place, graph in enumerate([nest(good), nest(nest(good), good), nest(reads, good), nest(own, own)]):
        with subtests.test(place=place):
            assert build_run(graph, checkpointer=InMemorySaver(), **STATED)


def test_a_graph_without_the_middleware_is_taken_if_nothing_can_be_repeated(subtests):
    for options in [{"acting_tools": []}, {"checkpointer": None}]:
        with subtests.test(options=options):
            assert build(**options).run("x")["status"] == "success"


def test_a_call_that_a_person_rejected_is_denied_and_may_be_made_in_a_retry():
    approval, monitor = HumanInTheLoopMiddleware({"settle": True}), FakeMonitor(refuse(), accept())
    orchestrator = build(EffectsMiddleware(), approval, monitor=monitor, **STATED)
    orchestrator.run("x", "thread")
    asked = orchestrator.resume("thread", {"answer": "deny", "text": "not yet"})
    state = orchestrator.resume("thread", {"answer": "approve"})

    assert [each["outcome"] for each in asked["effects"]] == ["denied"]
    assert [each["outcome"] for each in state["effects"]] == ["denied", "acted"]
    assert (state["status"], done) == ("success", ["Ada"])


class Asks(AgentMiddleware):
    """Brings a tool."""

    tools = (StructuredTool.from_function(settle),)


def test_a_tool_that_middleware_brings_can_need_an_approval_and_names_other_than_its_are_refused():
    done.clear()
    executor = ExecutionAgent(ScriptedChatModel(reply), middleware=[Asks()])
    options = {"plan": ["one"], "checkpointer": InMemorySaver(), "synthesis": False}
    with pytest.raises(ConfigurationError, match='names "setle"; the tools of the executor are settle'):
        build_run(executor, acting_tools=["setle"], **options)
    orchestrator = build_run(executor, acting_tools={"settle": ActingTool(approve=True)}, **options)
    asked, before = orchestrator.run("x", "thread")["question"], [*done]
    state = orchestrator.resume("thread", {"answer": "approve"})

    assert (asked["tool_calls"][0]["name"], before) == ("settle", [])
    assert (state["status"], done) == ("success", ["Ada"])


@pytest.mark.parametrize("given", [None, {"user": "Ada"}])
def test_a_node_of_a_graph_sees_the_context_that_is_given_and_not_ours(given):
    seen: list[object] = []

    async def look(state, runtime: Runtime):
        seen.append(runtime.context)
        return {"messages": [AIMessage("Ada")]}

    inner = StateGraph(MessagesState).add_node("look", look).add_edge(START, "look").compile()
    graph = StateGraph(MessagesState, context_schema=dict).add_node("inner", inner).add_edge(START, "inner")
    state = build_run(graph.compile(), plan=["one"], executor_context=given, synthesis=False).run("x")

    assert (state["output"], seen) == ("Ada", [given])


class UserModel(BaseModel):
    name: str


@dataclass
class UserRecord:
    name: str


class UserFields(TypedDict):
    name: str


def test_a_context_that_the_graph_cannot_take_is_refused_before_a_run(subtests):
    for schema, given, told in [
        (UserModel, {"nme": "Ada"}, r"fit UserModel, the context schema of the graph: .*name.*required"),
        (UserModel, {"name": 7}, "UserModel.* valid string"),
        (UserRecord, {"nme": "Ada"}, "UserRecord.* unexpected keyword argument 'nme'"),
    ]:
        with subtests.test(given=given), pytest.raises(ConfigurationError, match=told):
            build_in_context(schema, given)

    for schema, given in [
        (UserModel, UserModel(name="Ada")),
        (UserRecord, {"name": "Ada"}),
        (UserFields, {"name": "Ada"}),
        (dict, {"a": 1}),
    ]:
        with subtests.test(given=given):
            assert build_in_context(schema, given).run("x")["output"] == "Ada"


def build_in_context(schema, given):
    graph = StateGraph(MessagesState, context_schema=schema)
    graph.add_node("look", lambda state: {"messages": [AIMessage("Ada")]}).add_edge(START, "look")
    return build_run(graph.compile(), plan=["one"], executor_context=given, synthesis=False)


class Other(TypedDict):
    text: str


def compile_graph(state, **options):
    graph = StateGraph(state).add_node("node", lambda _: {}).add_edge(START, "node").add_edge("node", END)
    return graph.compile(**options)


def test_a_graph_that_cannot_be_a_part_of_a_run_is_refused(subtests):
    quiet, saver = compile_graph(MessagesState), InMemorySaver()
    for graph, problem in [
        (compile_graph(Other), "executor is a graph without messages, its state has text; "),
        (compile_graph(MessagesState, checkpointer=saver), "executor is a graph with checkpointer="),
        (compile_graph(MessagesState, checkpointer=False), "executor is a graph with checkpointer=False"),
        *(
            (place(new_agent(settle, guarded=True, checkpointer=each)), "executor runs a graph with checkp")
            for place in [nest, lambda inner: nest(nest(inner)), lambda inner: nest(quiet, quiet, inner)]
            for each in [False, True, saver]
        ),
    ]:
        with subtests.test(graph=graph), pytest.raises(ConfigurationError, match=problem):
            build_run(graph)
