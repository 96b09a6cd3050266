from typing import Annotated

import pytest
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolErrorMiddleware,
    ToolRetryMiddleware,
    hook_config,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId
from langgraph.types import Command
from pydantic import BaseModel

from agents import ActingTool
from agents.errors import ModelSetupError, NoEffectError
from agents.testing import ScriptedChatModel
from orchestrator import ContractMiddleware
from tests.agents.loop.shop import READING, TASK, THREAD, Shop, ask, build, decide, reply
from tests.fakes.acting import Crash

CHECKED = {"required_content": [{"number": 12.5}]}
ONCE = {**CHECKED, "checks": [{"check": "tool_calls", "tool": "refund", "max": 1}]}
TO_REFUND = {"type": "edit", "edited_action": {"name": "refund", "args": {"order": 8}}}


def build_agent(shop, script, *middleware, **options):
    return build(shop, ["refund"], *middleware, script=script, **options)


def list_outcomes(state):
    return [effect["outcome"] for effect in state["effects"].values()]


def test_an_edited_call_acts_if_its_own_answer_says_so(invoke, subtests):
    for answer, outcome in [("declined", "refused"), ("refunded", "acted"), ("ok?", "unknown")]:
        for name in ("refund", "get_order"):
            with subtests.test(answer=answer, approved=name):
                shop = Shop(answer)
                call = ask(7) if name == "refund" else READING
                agent = build_agent(shop, [call, "done"], HumanInTheLoopMiddleware({name: True}))
                invoke(agent, TASK)
                state = invoke(agent, Command(resume={"decisions": [TO_REFUND]}))

                [effect] = state["effects"].values()
                assert (effect["args"], effect["outcome"]) == ({"order": 8}, outcome)
                assert (shop.refunds, answer in effect["answer"]) == ([8], True)


def test_the_question_after_a_crash_names_the_edited_call(invoke):
    shop = Shop(Crash())
    agent = build_agent(shop, [ask(7), "done"], HumanInTheLoopMiddleware({"refund": True}))
    invoke(agent, TASK)
    with pytest.raises(KeyboardInterrupt):
        invoke(agent, Command(resume={"decisions": [TO_REFUND]}))
    [question] = invoke(agent, None)["__interrupt__"]

    assert question.value["action_requests"][0]["args"] == {"order": 8}


def test_a_call_that_never_ended_is_asked_about_after_another_message_too(invoke, subtests):
    for acting in (None, ["refund"]):
        with subtests.test(acting=acting):
            shop = Shop(Crash())
            agent = build(shop, acting, script=[ask(7), ask(7), "done"])
            with pytest.raises(KeyboardInterrupt):
                invoke(agent, TASK)
            [question] = invoke(agent, TASK)["__interrupt__"]

            assert (shop.refunds, "the call did not end" in str(question.value)) == ([7], True)


def test_a_retry_does_not_make_a_call_whose_answer_a_person_has_stated(invoke, subtests):
    for acting in (None, {"refund": ActingTool(repeat="allow")}, ["refund"]):
        with subtests.test(acting=acting):
            shop = Shop(Crash())
            script = [ask(7), "It cost 15.", ask(7), "It cost 12.5."]
            agent = build(shop, acting, ContractMiddleware(CHECKED), script=script)
            with pytest.raises(KeyboardInterrupt):
                invoke(agent, TASK)
            invoke(agent, None)
            state = invoke(agent, decide("respond", "refunded"))

            assert (shop.refunds, list_outcomes(state)) == ([7], ["stated", "reused"])


def test_an_error_that_another_middleware_catches_is_the_outcome(invoke, subtests):
    for error, outcome in [
        (ConnectionError("connection reset by peer"), "unknown"),
        (NoEffectError("the order is unknown"), "refused"),
        (ValueError("a field is missing"), "unknown"),
    ]:
        for told in ("Done.", f"Tool failed: {error}"):
            with subtests.test(error=error, told=told):
                caught = ToolErrorMiddleware(lambda _error, _request, told=told: told)
                state = invoke(build_agent(Shop(error), reply, caught), TASK)

                assert list_outcomes(state) == [outcome]


def test_each_run_of_a_tool_that_a_middleware_calls_again_is_an_effect(invoke):
    shop = Shop(ConnectionError("reset"), ConnectionError("reset"))
    again = ToolRetryMiddleware(max_retries=3, initial_delay=0, jitter=False, backoff_factor=0)
    state = invoke(build_agent(shop, reply, again), TASK)

    assert (shop.refunds, list_outcomes(state)) == ([7, 7, 7], ["unknown", "unknown", "acted"])


class InAnotherForm(AgentMiddleware):
    def wrap_tool_call(self, request, handler):
        call = request.tool_call
        return handler(request.override(tool_call={**call, "args": {"order": 1000 + call["args"]["order"]}}))

    async def awrap_tool_call(self, request, handler):
        return await self.wrap_tool_call(request, handler)


def test_a_call_is_known_again_by_its_words_and_by_what_the_tool_received(invoke, subtests):
    for again in (7, 1007):
        with subtests.test(again=again):
            shop = Shop()
            script = [ask(7), "It cost 15.", ask(again), "It cost 12.5."]
            agent = build_agent(shop, script, InAnotherForm(), ContractMiddleware(CHECKED))
            state = invoke(agent, TASK)

            assert (shop.refunds, list_outcomes(state)) == ([1007], ["acted", "reused"])


class Jump(AgentMiddleware):
    @hook_config(can_jump_to=["tools"])
    def after_model(self, state, runtime):
        return {"jump_to": "tools"} if state["messages"][-1].tool_calls else None


def test_an_acting_call_that_a_middleware_brings_past_the_decision_is_an_error(invoke):
    shop = Shop()
    with pytest.raises(ModelSetupError, match="tool 'refund' acts, and a middleware jumped to its call"):
        invoke(build_agent(shop, reply, Jump()), TASK)
    assert shop.refunds == []
    assert invoke(build_agent(shop, [READING, "done"], Jump()), TASK)["messages"][-1].text == "done"


def test_a_tool_that_answers_with_a_list_of_commands_acted(invoke):
    shop = Shop()

    def refund(order: int, tool_call_id: Annotated[str, InjectedToolCallId]):
        """Refund an order."""
        return [Command(update={"messages": [ToolMessage(shop.refund(order), tool_call_id=tool_call_id)]})]

    assert list_outcomes(invoke(build_agent(shop, reply, tools=[refund]), TASK)) == ["acted"]


def test_an_effect_outlives_its_messages(invoke, subtests):
    """The attempt is refused, and the model repeats the call when a summary stands for the first one."""
    for keep in (1, 2):
        for contract, order, done in [(CHECKED, 7, [7]), (ONCE, 8, [7])]:
            with subtests.test(keep=keep, order=order):
                shop = Shop()
                short = SummarizationMiddleware(
                    ScriptedChatModel(lambda _: "a summary"), trigger=("messages", 4), keep=("messages", keep)
                )
                script = [ask(7), "It cost 15.", READING, ask(order), "It cost 12.5", "It cost 12.5."]
                agent = build_agent(shop, script, short, ContractMiddleware(contract))
                state = invoke(agent, TASK)

                assert (shop.refunds, list_outcomes(state)[0]) == (done, "acted")
                assert not [each for each in state["messages"] if getattr(each, "tool_calls", None) == ask(7)]


def test_what_the_middleware_tells_the_model_begins_no_other_request(invoke, subtests):
    cut = AIMessage("It co", response_metadata={"finish_reason": "length"})
    call = '<tool_call>{"name": "refund", "arguments": {"order": 7}}</tool_call>'
    for told in ([], [cut], [call], [cut, call]):
        with subtests.test(told=told):
            shop = Shop()
            script = [ask(7), "It cost 15.", *told, ask(7), "It cost 12.5"]
            state = invoke(build_agent(shop, script, ContractMiddleware(CHECKED)), TASK)

            assert (shop.refunds, list_outcomes(state)) == ([7], ["acted", "reused"])


def test_an_effect_of_another_request_counts_for_none(invoke):
    shop, script = Shop(), [ask(7), "It cost 12.5", ask(7), "It cost 12.5"]
    agent = build_agent(shop, script, ContractMiddleware(ONCE))
    invoke(agent, TASK)
    state = invoke(agent, {"messages": [HumanMessage("refund order 7 again")]})

    assert (shop.refunds, state["verdict"]["accepted"]) == ([7, 7], True)


def test_a_graph_that_goes_back_before_a_call_asks(invoke, subtests):
    for node in ("tools", "EffectsMiddleware.after_model"):
        with subtests.test(node=node):
            shop = Shop()
            agent = build_agent(shop, reply)
            invoke(agent, TASK)
            before = [each for each in agent.get_state_history(THREAD) if each.next == (node,)][-1]
            state = agent.invoke(None, before.config)

            [question] = state["__interrupt__"]
            assert (shop.refunds, question.value["action_requests"][0]["args"]) == ([7], {"order": 7})
            denied = agent.invoke(Command(resume={"decisions": [{"type": "reject"}]}), THREAD)
            assert (shop.refunds, list_outcomes(denied)) == ([7], ["unknown"])


def test_a_list_of_things_to_do_is_no_effect_and_ends_no_reuse(invoke):
    todos = {"todos": [{"content": "tell the price", "status": "pending"}]}
    plan = AIMessage("", tool_calls=[{"name": "write_todos", "args": todos, "id": "w1"}])
    shop, script = Shop(), [ask(7), plan, "It cost 15.", plan, ask(7), "It cost 12.5"]
    state = invoke(build_agent(shop, script, TodoListMiddleware(), ContractMiddleware(CHECKED)), TASK)

    assert (shop.refunds, list_outcomes(state)) == ([7], ["acted", "reused"])
    assert state["verdict"]["warnings"] == []


def test_a_structured_answer_is_judged(invoke, subtests):
    class Price(BaseModel):
        price: float

    def answer(price):
        return AIMessage("", tool_calls=[{"name": "Price", "args": {"price": price}, "id": f"p{price}"}])

    for strategy in (ToolStrategy(Price), Price):
        with subtests.test(strategy=strategy):
            script = [ask(7), answer(15.0), answer(12.5)]
            agent = build_agent(Shop(), script, ContractMiddleware(CHECKED), response_format=strategy)
            state = invoke(agent, TASK)

            assert state["structured_response"] == Price(price=12.5)
            outputs = [each["output"] for each in state["verdict"]["attempts"]]
            assert (outputs, state["verdict"]["accepted"]) == (['{"price":15.0}', '{"price":12.5}'], True)


def test_the_thoughts_of_an_answer_are_not_judged(invoke):
    script = [ask(7), "<think>It may cost 12.5</think>It cost 15.", "<think>Hm, 15?</think>It cost 12.5"]
    state = invoke(build_agent(Shop(), script, ContractMiddleware(CHECKED)), TASK)

    outputs = [each["output"] for each in state["verdict"]["attempts"]]
    assert outputs == ["It cost 15.", "It cost 12.5"]


def test_each_decision_of_langchains_own_approval_is_an_outcome(invoke, subtests):
    for decision, done, outcome, said in [
        ({"type": "approve"}, [7], "acted", "refunded order 7"),
        ({"type": "reject", "message": "the server had a timeout"}, [], "denied", "timeout"),
        ({"type": "respond", "message": "Could not refund: card expired"}, [], "stated", "card expired"),
        (TO_REFUND, [8], "acted", "refunded order 8"),
    ]:
        for mode in ("batched", "per_call"):
            with subtests.test(decision=decision, mode=mode):
                shop = Shop()
                approval = HumanInTheLoopMiddleware({"refund": True}, interrupt_mode=mode)
                agent = build_agent(shop, reply, approval)
                invoke(agent, TASK)
                given = decision if mode == "per_call" else {"decisions": [decision]}
                state = invoke(agent, Command(resume=given))

                [effect] = state["effects"].values()
                assert effect["args"] == {"order": done[0] if done else 7}
                assert (effect["outcome"], shop.refunds) == (outcome, done)
                assert said in effect["answer"]


def test_an_answer_in_place_of_a_tool_is_no_effect_of_it(invoke):
    class Emulator(AgentMiddleware):
        def wrap_tool_call(self, request, handler):
            return ToolMessage("refunded order 7", tool_call_id=request.tool_call["id"])

        async def awrap_tool_call(self, request, handler):
            return self.wrap_tool_call(request, handler)

    shop = Shop()
    state = invoke(build_agent(shop, reply, Emulator()), TASK)

    effect = state["effects"]["c7"]
    assert (effect["outcome"], effect["gate"], shop.refunds) == ("stated", "stated", [])
