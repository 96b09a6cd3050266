from typing import Annotated, Any

import pytest
from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, tool
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from pydantic import BaseModel, Field

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError, LangGraphOrchestrator
from tests.fakes.runs import build as build_run
from tests.fakes.runs import call


class OwnArg(InjectedToolArg):
    """A mark of the user's own."""


class WithUser(BaseModel):
    q: str
    user: Annotated[str, InjectedToolArg] = Field(min_length=1)


@tool
def with_value(q: str, user: Annotated[str, InjectedToolArg]) -> str:
    """Look."""
    return user


@tool
def with_own_mark(q: str, user: Annotated[str, OwnArg()]) -> str:
    """Look."""
    return user


@tool(args_schema=WithUser)
def with_schema(q: str, user: str) -> str:
    """Look."""
    return user


@tool
async def with_other_state(q: str, cart: Annotated[dict, InjectedState("cart")]) -> str:
    """Look."""
    return str(cart)


@tool
def with_store(q: str, store: Annotated[Any, InjectedStore()] = None) -> str:
    """Look."""
    return str(store)


@tool
def with_default(q: str, user: Annotated[str, InjectedToolArg()] = "nobody") -> str:
    """Look."""
    return user


@tool
def with_optional_state(q: str, cart: Annotated[Any, InjectedState("cart")] = None) -> str:
    """Look."""
    return str(cart)


@tool
def with_state(
    q: str,
    runtime: ToolRuntime[Any, Any],
    state: Annotated[dict, InjectedState],
    messages: Annotated[list, InjectedState("messages")],
    call_id: Annotated[str, InjectedToolCallId],
) -> str:
    """Look."""
    return f"{len(messages) == len(state['messages'])} {call_id == runtime.tool_call_id}"


class CartState(AgentState):
    cart: dict


class CartMiddleware(AgentMiddleware):
    state_schema = CartState

    def before_agent(self, state: object, runtime: object) -> dict[str, object]:
        return {"cart": {"n": 1}}


def build(each: BaseTool, *middleware: AgentMiddleware) -> LangGraphOrchestrator:
    agent = ExecutionAgent(ScriptedChatModel([call(each.name, q="x"), "done"]), [each], middleware=middleware)
    return build_run(agent, plan=["one"])


def test_a_tool_with_an_argument_that_nothing_gives_is_refused(subtests):
    for each, problem in [
        (with_value, 'argument "user" of tool "with_value" takes a value that is injected'),
        (with_own_mark, r"injected \(OwnArg\)"),
        (with_schema, 'argument "user" of tool "with_schema" takes a value that is injected'),
        (with_other_state, 'takes "cart" of a state that has messages'),
        (with_store, "LangGraph's store"),
    ]:
        with subtests.test(each.name), pytest.raises(ConfigurationError, match=problem):
            build(each)


def test_a_tool_whose_hidden_arguments_are_given_runs(subtests):
    for each, middleware, answer in [
        (with_state, (), "True True"),
        (with_default, (), "nobody"),
        (with_optional_state, (), "None"),
        (with_other_state, (CartMiddleware(),), "{'n': 1}"),
    ]:
        with subtests.test(each.name):
            [record] = build(each, *middleware).run("x")["results"]
            [made] = record["tool_calls"]
            assert (made["result"], made["error"]) == (answer, None)
