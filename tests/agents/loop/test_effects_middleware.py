import asyncio
from contextlib import nullcontext
from functools import partial

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ToolCallLimitMiddleware, ToolRetryMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool, ToolException
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from pydantic import BaseModel

from agents import ActingTool, EffectsMiddleware
from agents.errors import LateDurabilityError, ModelSetupError, NoEffectError
from agents.testing import ScriptedChatModel
from tests.agents.loop.shop import APPROVED, READING, TASK, THREAD, Shop, ask, build, decide, reply

DENIED = "The call was denied: a person said: {}. Go on without it."


QUESTION = {
    "action_requests": [{"name": "refund", "args": {"order": 7}, "description": "May the tool refund run?"}],
    "review_configs": [{"action_name": "refund", "allowed_decisions": ["approve", "reject"]}],
}


def test_a_call_is_approved_with_the_decisions_of_langchain(invoke, subtests):
    for decision, done, outcome, told in [
        (decide("approve"), [7], "acted", "refunded order 7"),
        (decide("reject", "too late"), [], "denied", DENIED.format("too late")),
        (decide("reject"), [], "denied", DENIED.format("no reason given")),
    ]:
        with subtests.test(decision=decision):
            shop = Shop()
            agent = build(shop, APPROVED)
            [asked] = invoke(agent, TASK)["__interrupt__"]
            done_before = list(shop.refunds)
            state = invoke(agent, decision)

            assert (asked.value, done_before, shop.refunds) == (QUESTION, [], done)
            assert state["effects"]["c7"]["outcome"] == outcome
            assert [message.text for message in state["messages"] if message.type == "tool"] == [told]


@pytest.mark.parametrize("answer", ["yes", {"decisions": []}, {"decisions": [{"type": "edit"}]}])
def test_an_answer_that_cannot_be_read_runs_nothing_and_is_asked_for_again(invoke, answer):
    shop = Shop()
    agent = build(shop, APPROVED)
    invoke(agent, TASK)
    [again] = invoke(agent, Command(resume=answer))["__interrupt__"]

    approve = '{"decisions": [{"type": "approve"}]}'
    reject = '{"decisions": [{"type": "reject", "message": "the reason"}]}'
    assert again.value["action_requests"][0]["description"].endswith(f"; give {approve} or {reject}")
    assert shop.refunds == []


def test_without_a_saver_a_call_that_needs_an_approval_is_not_made(invoke):
    shop = Shop()
    state = invoke(build(shop, APPROVED, saver=False), TASK)

    assert (shop.refunds, state["effects"]["c7"]["outcome"]) == ([], "denied")
    assert "there is nobody to ask" in state["messages"][-2].text


@pytest.mark.parametrize(
    ("error", "outcome"), [(NoEffectError("closed"), "refused"), (TimeoutError("late"), "unknown")]
)
def test_an_error_of_a_tool_reaches_the_caller_and_its_call_is_asked_about_later(invoke, error, outcome):
    shop = Shop(error)
    agent = build(shop, ["refund"])
    with pytest.raises(type(error)):
        invoke(agent, TASK)
    [asked] = invoke(agent, None)["__interrupt__"] if outcome == "unknown" else [None]

    assert shop.refunds == [7]
    assert asked is None or "it is not known whether it had its effect" in str(asked.value)


def test_two_cut_calls_of_one_reply_are_answered_by_the_ids_of_their_questions():
    cut = [KeyboardInterrupt]

    def refund(order: int) -> str:
        """Refund an order."""
        if cut:
            raise cut[0]
        return f"refunded order {order}"

    agent = build(None, ["refund"], script=[ask(7, 8), "done"], tools=[refund])
    invoke = partial(agent.invoke, config=THREAD, durability="sync")
    with pytest.raises(KeyboardInterrupt):
        invoke(TASK)
    cut.clear()
    asked = invoke(None)["__interrupt__"]
    asked = invoke(Command(resume={each.id: "yes" for each in asked}))["__interrupt__"]
    told = [each.value["action_requests"][0]["description"] for each in asked]
    state = invoke(Command(resume={each.id: {"decisions": [{"type": "approve"}]} for each in asked}))

    assert len(told) == 2
    assert all('{"type": "respond", "message": "the answer of the call"}' in each for each in told)
    assert [state["effects"][each]["outcome"] for each in ("c7", "c8")] == ["acted", "acted"]


def test_a_cancellation_that_a_tool_raises_is_none_of_the_agent(invoke):
    shop = Shop(asyncio.CancelledError("own"))
    state = invoke(build(shop, ["refund"]), TASK)

    assert (shop.refunds, state["messages"][-1].text) == ([7], "done")
    assert state["effects"]["c7"]["outcome"] == "unknown"
    assert "CancelledError" in state["messages"][-2].text


# ------------------------------------------------------------------- durability


def test_a_graph_that_stores_a_call_too_late_is_refused_with_the_name_of_the_argument(subtests):
    for options in [{}, {"durability": "exit"}]:
        with subtests.test(options=options), SqliteSaver.from_conn_string(":memory:") as saver:
            shop = Shop()
            agent = build(shop, ["refund"], saver=saver)
            with pytest.raises(LateDurabilityError, match="run the graph with durability='sync'") as refused:
                agent.invoke(TASK, THREAD, **options)

            assert shop.refunds == []
            assert f"durability={options.get('durability', 'async')!r}" in str(refused.value)


def test_a_tool_that_only_reads_needs_no_durability():
    with SqliteSaver.from_conn_string(":memory:") as saver:
        agent = build(Shop(), ["refund"], saver=saver, script=[READING, "done"])
        state = agent.invoke(TASK, THREAD)

    assert state["messages"][-1].text == "done"


# ------------------------------------------------------------------- what a call did is read back


REFUNDED = {"/status": "refunded"}


@pytest.mark.parametrize("is_function", [False, True], ids=["name", "function"])
def test_a_reading_tool_says_whether_a_call_with_an_unclear_answer_acted(invoke, is_function):
    shop = Shop("42")

    def look_up(order: int) -> str:
        return shop.get_order(order)

    tool = ActingTool(succeeded=REFUNDED, read_back=look_up if is_function else "get_order")
    state = invoke(build(shop, {"refund": tool}), TASK)

    effect = state["effects"]["c7"]
    assert (effect["outcome"], effect["answer"]) == ("acted", "42")
    assert effect["read_back"] == {
        "name": "look_up" if is_function else "get_order",
        "args": {"order": 7},
        "result": '{"order": 7, "status": "refunded"}',
        "error": None,
    }


@pytest.mark.parametrize("error", [ConnectionError, SystemExit, asyncio.CancelledError])
def test_an_error_of_the_function_is_a_part_of_the_effect_and_ends_nothing(invoke, error):
    def fail(order: int) -> str:
        raise error("the books are closed")

    tool = ActingTool(succeeded=REFUNDED, read_back=fail)
    state = invoke(build(Shop("42"), {"refund": tool}), TASK)

    effect, told = state["effects"]["c7"], f"{error.__name__}: the books are closed"
    assert (effect["outcome"], state["messages"][-1].text) == ("unknown", "done")
    assert effect["read_back"] == {"name": "fail", "args": {"order": 7}, "result": None, "error": told}


def test_what_is_read_back_outweighs_the_answer_or_error_unless_the_call_was_surely_refused(invoke, subtests):
    for answer, wanted, outcome, reader in [
        ("Error: could not reach the ledger", REFUNDED, "unknown", "get_order"),
        ("Error: could not reach the ledger", {"/status": "paid back"}, "refused", "get_order"),
        ('{"status": "paid back"}', {"/status": "paid back"}, "unknown", "get_order"),
        ('{"state": "paid back"}', {"/state": "paid back"}, "acted", "get_order"),
        (TimeoutError("late"), REFUNDED, "acted", "get_order"),
        (TimeoutError("late"), {"/status": "paid back"}, "unknown", "get_order"),
        (NoEffectError("closed"), REFUNDED, "refused", None),
        ("Could not refund: card expired", None, "refused", None),
    ]:
        with subtests.test(answer=str(answer), wanted=wanted):
            tool = ActingTool(succeeded=wanted, read_back="get_order")
            agent = build(Shop(answer), {"refund": tool}, ToolRetryMiddleware(max_retries=0))
            effect = invoke(agent, TASK)["effects"]["c7"]

            assert (effect["outcome"], effect.get("read_back", {}).get("name")) == (outcome, reader)


def test_names_that_do_not_fit_the_tools_are_refused_before_the_model_is_called(invoke, subtests):
    tools = "the tools of the agent are refund, get_order"
    for acting, told in [
        (["refnd"], f'acting_tools names "refnd"; {tools}'),
        ({"refnd": ActingTool(approve=True)}, f'acting_tools names "refnd"; {tools}'),
        (read_back("find_order"), f'read_back of "refund" is "find_order"; name a tool that .*; {tools}'),
        (read_back("refund"), f'read_back of "refund" is "refund"; name a tool that only reads, .*; {tools}'),
    ]:
        shop, model = Shop(), ScriptedChatModel(reply)
        agent = build(shop, acting, script=model)
        with subtests.test(acting=acting), pytest.raises(ModelSetupError, match=told):
            invoke(agent, TASK)

        assert (shop.refunds, model.prompts) == ([], [])


class Adding(AgentMiddleware):
    def __init__(self, tool, *, is_listed):
        super().__init__()
        self.added, self.tools = tool, [tool] if is_listed else []

    def wrap_model_call(self, request, handler):
        return handler(request.override(tools=[self.added]))

    async def awrap_model_call(self, request, handler):
        return await handler(request.override(tools=[self.added]))

    def wrap_tool_call(self, request, handler):
        return handler(request.override(tool=self.added))

    async def awrap_tool_call(self, request, handler):
        return await handler(request.override(tool=self.added))


def test_a_tool_that_a_middleware_adds_can_be_named_if_the_middleware_lists_it(invoke, subtests):
    for is_listed, acting in [(True, ["refund"]), (False, ["refund"]), (False, None)]:
        with subtests.test(is_listed=is_listed, acting=acting):
            shop = Shop()
            refund, get_order = shop.tools()
            agent = build(shop, acting, Adding(refund, is_listed=is_listed), tools=[get_order])
            is_refused = acting is not None and not is_listed
            with pytest.raises(ModelSetupError, match="names") if is_refused else nullcontext():
                assert invoke(agent, TASK)["effects"]["c7"]["outcome"] == "acted"


def test_middleware_that_could_change_decided_calls_is_refused_before_the_model_is_called(invoke):
    shop, model = Shop(), ScriptedChatModel(reply)
    middleware = [ToolCallLimitMiddleware(run_limit=1), EffectsMiddleware()]
    agent = create_agent(model, shop.tools(), middleware=middleware)
    with pytest.raises(ModelSetupError, match="put EffectsMiddleware first"):
        invoke(agent, TASK)

    assert (shop.refunds, model.prompts) == ([], [])


def test_annotations_say_whether_a_tool_reads_an_effect(invoke, subtests):
    for hints, read in [({"readOnlyHint": True}, True), ({"readOnlyHint": False}, False), ({}, False)]:
        shop = Shop("42")
        ledger = StructuredTool.from_function(shop.get_order, name="ledger", metadata=hints)
        acting = {"refund": ActingTool(succeeded=REFUNDED, read_back="ledger")}
        agent = build(shop, acting, tools=[*shop.tools(), ledger])
        with subtests.test(hints=hints):
            if read:
                assert invoke(agent, TASK)["effects"]["c7"]["outcome"] == "acted"
            else:
                with pytest.raises(ModelSetupError, match='read_back of "refund" is "ledger"; name a tool'):
                    invoke(agent, TASK)


def read_back(name):
    return {"refund": ActingTool(read_back=name)}


class OrderUpdate(BaseModel):
    """The answer."""

    order: int


def test_a_call_that_is_the_output_of_the_agent_is_no_effect_and_one_over_a_limit_is_denied(invoke, subtests):
    output = {"name": "OrderUpdate", "args": {"order": 7}, "id": "o"}
    calls = ask(7, 8).tool_calls
    wrong = {**output, "args": {"order": "seven"}, "id": "w"}
    for replies, outcomes in [
        ([[output]], {}),
        ([[wrong], [output]], {}),
        ([[calls[0]], [output]], {"c7": "acted"}),
        ([[calls[0]], [calls[1]], [output]], {"c7": "acted", "c8": "denied"}),
        ([calls, [output]], {"c7": "acted", "c8": "denied"}),
    ]:
        with subtests.test(replies=replies):
            shop = Shop()
            limit = ToolCallLimitMiddleware(tool_name="refund", run_limit=1)
            script = [AIMessage("", tool_calls=each) for each in replies]
            agent = build(shop, None, limit, script=script, response_format=ToolStrategy(OrderUpdate))
            state = invoke(agent, TASK)

            effects = state.get("effects", {})
            assert {name: each["outcome"] for name, each in effects.items()} == outcomes
            assert (state["structured_response"].order, shop.refunds) == (7, [7] if outcomes else [])


def test_a_tool_acts_by_its_annotations_where_no_name_says_so(invoke, subtests):
    for hints, questions in [({"readOnlyHint": False}, 1), ({"readOnlyHint": True}, 0), ({}, 0)]:
        with subtests.test(hints=hints):
            shop = Shop(ToolException("no answer in time"))
            ledger = StructuredTool.from_function(
                shop.refund, name="ledger", metadata=hints, handle_tool_error=True
            )
            calls = [{"name": "ledger", "args": {"order": 7}, "id": f"c{number}"} for number in (1, 2)]
            script = [*(AIMessage("", tool_calls=[call]) for call in calls), "done"]
            agent = build(shop, None, script=script, tools=[ledger])

            assert len(invoke(agent, TASK).get("__interrupt__", ())) == questions
