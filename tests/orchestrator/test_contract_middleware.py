import asyncio
import json

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from agents import EffectsMiddleware
from agents.testing import ScriptedChatModel
from evaluation import ContractError
from orchestrator import ConfigurationError, ContractMiddleware, UnmetContractError

TASK = {"messages": [("user", "What is the total of order 7? Refund it.")]}
THREAD = {"configurable": {"thread_id": "t"}}
TOTAL = {"required_content": [{"number": 12.5}]}


class Shop:
    def __init__(self, *answers):
        self.refunds: list[str] = []
        self.answers = [*answers]

    def get_order(self, order: str) -> str:
        """Return an order."""
        return json.dumps({"order": order, "total": 12.5})

    def refund(self, order: str, amount: float = 4.0) -> str:
        """Refund an order."""
        self.refunds.append(order)
        return self.answers.pop(0) if self.answers else '{"status": "refunded"}'


def call(name, call_id="1", **args):
    return AIMessage("", tool_calls=[{"name": name, "args": args or {"order": "7"}, "id": call_id}])


def build(replies, contract=TOTAL, shop=None, saver=None, acting=("refund",), **options):
    shop = shop or Shop()
    middleware = [EffectsMiddleware(acting and [*acting]), ContractMiddleware(contract, **options)]
    model = ScriptedChatModel(replies)
    return create_agent(model, [shop.get_order, shop.refund], middleware=middleware, checkpointer=saver)


@pytest.fixture(params=["sync", "async"])
def invoke(request):
    if request.param == "sync":
        return lambda agent, given, config=None: agent.invoke(given, config)
    return lambda agent, given, config=None: asyncio.run(agent.ainvoke(given, config))


def test_an_answer_that_meets_the_contract_is_accepted(invoke):
    verdict = invoke(build([call("get_order"), "It is 12.50."]), TASK)["verdict"]

    assert (verdict["accepted"], verdict["status"], verdict["basis"]) == (True, "passed", "checked")
    assert verdict["evidence"]["content"] == {"by": "code", "checks": ["required_content"]}
    assert [each["output"] for each in verdict["attempts"]] == ["It is 12.50."]


def test_an_answer_that_was_cut_off_is_known_in_the_words_of_any_provider(subtests):
    cut_off = [{"finish_reason": "length"}, {"stop_reason": "max_tokens"}, {"done_reason": "length"}]
    for report in [{"stop_reason": "end_turn"}, *cut_off]:
        with subtests.test(report=report):
            model = ScriptedChatModel(lambda _, r=report: AIMessage("It is 12.50.", response_metadata=r))
            agent = create_agent(model, [], middleware=[ContractMiddleware(TOTAL)])
            assert agent.invoke(TASK)["verdict"]["accepted"] is (report not in cut_off)


def test_a_refused_answer_goes_back_with_feedback_that_hides_the_expected_answer(invoke):
    state = invoke(build(["It is 13.", call("get_order"), "It is 12.50."]), TASK)

    feedback = state["verdict"]["attempts"][0]["feedback"]
    sent = [each.text for each in state["messages"] if isinstance(each, HumanMessage)][-1]
    assert state["verdict"]["accepted"]
    assert feedback in sent
    assert "12" not in sent


def test_an_answer_that_is_refused_at_last_is_no_success(subtests):
    tables = [
        ("no retries are left", ["13", "14", "15"], 2, 3),
        ("the agent repeats a refused answer", ["13", "13", "12.5"], 2, 2),
        ("no retry is allowed", ["13", "12.5"], 0, 1),
    ]
    for name, replies, most, attempts in tables:
        with subtests.test(name):
            verdict = build(replies, max_retries=most).invoke(TASK)["verdict"]
            found = (verdict["accepted"], verdict["status"], len(verdict["attempts"]))
            assert found == (False, "failed", attempts)


def test_the_best_answer_is_kept_if_all_are_refused():
    contract = {"checks": [{"check": "contains", "texts": [word]} for word in ("red", "blue", "green")]}
    state = build(["red and blue", "red"], contract, max_retries=1).invoke(TASK)

    assert state["messages"][-1].text == "red and blue"
    assert not state["verdict"]["accepted"]


def test_a_verdict_warns_of_a_tool_that_acts_by_its_name_and_was_called_again(subtests):
    for acting, is_warned in [(None, True), ([], False), (["refund"], False)]:
        with subtests.test(acting=acting):
            replies = [call("refund", "a"), "13", call("refund", "b"), call("get_order", "c"), "12.5"]
            warnings = build(replies, acting=acting).invoke(TASK)["verdict"]["warnings"]

            assert [each.partition(" was called as before")[0] for each in warnings] == ["refund"] * is_warned


def test_a_judge_that_fails_approves_nothing():
    def judge(request):
        raise ConnectionError("no judge")

    contract = {"subjective_criteria": ["politeness"]}
    verdict = build(["Hello."], contract, judge=judge).invoke(TASK)["verdict"]

    assert (verdict["accepted"], verdict["status"]) == (False, "needs_review")
    assert len(verdict["attempts"]) == 1


def test_an_answer_that_rests_on_less_than_required_is_refused():
    short = {"checks": [{"check": "word_count", "max": 5}]}
    verdict = build(["Hi."], short, require="checked").invoke(TASK)["verdict"]

    assert (verdict["accepted"], verdict["status"], verdict["basis"]) == (False, "passed", "unverified")
    assert verdict["reason"].startswith("require is 'checked', and the answer is only unverified")


def test_an_unmet_contract_can_raise():
    with pytest.raises(UnmetContractError, match="does not meet the contract") as raised:
        build(["13"], max_retries=0, on_failure="raise").invoke(TASK)

    assert raised.value.verdict["status"] == "failed"


def test_a_person_approves_an_answer_or_sends_it_back(subtests):
    tables = [
        ("approve", {"type": "approve"}, "approved", 1),
        ("reject", {"type": "reject", "message": "Look at the order."}, "checked", 2),
    ]
    for name, decision, basis, attempts in tables:
        with subtests.test(name):
            agent = build(["13", "12.5"], saver=InMemorySaver(), max_retries=0, on_failure="ask")
            asked = agent.invoke(TASK, THREAD, durability="sync")["__interrupt__"][0].value
            answer = Command(resume={"decisions": [decision]})
            verdict = agent.invoke(answer, THREAD, durability="sync")["verdict"]
            assert asked["action_requests"][0]["args"] == {"answer": "13"}
            assert (verdict["accepted"], verdict["basis"]) == (True, basis)
            assert len(verdict["attempts"]) == attempts


def test_without_a_contract_an_action_that_failed_is_not_told_as_done():
    def send(to: str) -> str:
        """Send the report."""
        return "550 mailbox unavailable"

    script = [call("send", to="li@example.com"), *["I have sent the report to Li."] * 2]
    agent = create_agent(ScriptedChatModel(script), [send], middleware=[ContractMiddleware()])

    assert not agent.invoke({"messages": [("user", "Send the report to Li.")]})["verdict"]["accepted"]


def test_without_a_contract_an_answer_without_a_text_is_not_accepted():
    agent = create_agent(ScriptedChatModel([""]), [], middleware=[ContractMiddleware(max_retries=0)])

    assert not agent.invoke({"messages": [("user", "Send the report to Li.")]})["verdict"]["accepted"]


def test_an_answer_about_an_earlier_request_is_no_claim_without_a_call(invoke):
    shop, told = Shop(), "I have refunded 4 euros for order 7."
    replies = [call("get_order"), call("refund", "2"), told, told]
    agent = build(replies, None, shop, InMemorySaver(), max_retries=0)
    invoke(agent, TASK, THREAD)
    state = invoke(agent, {"messages": [("user", "Thanks! What did you do?")]}, THREAD)

    assert (state["verdict"]["accepted"], len(shop.refunds)) == (True, 1)


def test_a_killed_retry_goes_on_with_the_verdict_that_was_stored():
    agent = build(["13", ConnectionError("killed"), "12.5"], saver=InMemorySaver())
    with pytest.raises(ConnectionError):
        agent.invoke(TASK, THREAD, durability="sync")
    verdict = agent.invoke(None, THREAD, durability="sync")["verdict"]

    assert verdict["accepted"]
    assert [each["output"] for each in verdict["attempts"]] == ["13", "12.5"]


def test_bad_options_are_refused_in_one_sentence_before_the_model_is_called(subtests):
    for contract, options, message in [
        ({"must_cal": ["x"]}, {}, "contract: must_cal"),
        (7, {}, "contract is 7"),
        (TOTAL, {"max_retries": -1}, "max_retries is -1"),
        (TOTAL, {"require": "sure"}, "require is 'sure'"),
        (TOTAL, {"on_failure": "stop"}, "on_failure is 'stop'"),
        ({"must_call": ["get_invoice"]}, {}, r"contract\.must_call names .get_invoice"),
        (TOTAL, {"on_failure": "ask"}, "no checkpointer"),
    ]:
        with subtests.test(message), pytest.raises(ConfigurationError, match=message):
            build([], contract, **options).invoke(TASK)


def test_an_unknown_option_is_refused_before_the_agent_acts():
    with pytest.raises(ContractError, match="'max_retry' is no option; the further options are prices"):
        build([], max_retry=1)


# Subagents of deepagents: what the deep agent gets of their answers


NOTE = "(This answer was refused."


class Total(BaseModel):
    """The total of an order."""

    amount: float


def build_deep(told, replies, own=({"must_call": ["task"]},), **subagent):
    """Build a deep agent whose subagent has a contract, and which has contracts of its own."""
    reader = {
        "name": "reader",
        "description": "Reads orders.",
        "system_prompt": "Read.",
        "tools": [Shop().get_order],
        "model": ScriptedChatModel(told),
        "middleware": [ContractMiddleware(TOTAL, max_retries=1)],
        **subagent,
    }
    model, middleware = ScriptedChatModel(replies), [ContractMiddleware(each) for each in own]
    return create_deep_agent(model=model, tools=[], subagents=[reader], middleware=middleware)


def ask(*numbers):
    args = {"description": "Read the total.", "subagent_type": "reader"}
    calls = [{"name": "task", "args": args, "id": f"ask {number}"} for number in numbers]
    return AIMessage("", tool_calls=calls)


def list_told(state):
    return [each.text for each in state["messages"] if isinstance(each, ToolMessage)]


def test_a_deep_agent_gets_the_answer_that_the_contract_of_its_subagent_accepts(invoke):
    agent = build_deep(["It is 15 euros.", "It is 12.50 euros."], [ask(1), "It is 12.50 euros."])
    state = invoke(agent, TASK)
    assert list_told(state) == ["It is 12.50 euros."]
    assert state["verdict"]["accepted"]


def test_a_deep_agent_reads_that_the_answer_of_its_subagent_was_refused(invoke, subtests):
    for own in ((), ({"must_call": ["task"]},)):
        with subtests.test(contracts=len(own)):
            agent = build_deep(["It is 15 euros.", "It is 16 euros."], [ask(1), "I do not know."], own)
            [told] = list_told(invoke(agent, TASK))
            assert told.startswith("It is 16 euros.")
            assert NOTE in told


def test_a_refused_structured_answer_is_not_handed_on(invoke):
    answers = [call("Total", "1", amount=15), call("Total", "2", amount=16)]
    agent = build_deep(answers, [ask(1), "I do not know."], response_format=Total)
    [told] = list_told(invoke(agent, TASK))
    assert NOTE in told


def test_the_verdicts_on_parallel_subagents_are_not_the_verdict_on_the_deep_agent(invoke):
    agent = build_deep(["It is 12.50 euros."] * 2, [ask(1, 2), *["I give up."] * 3], (TOTAL,))
    state = invoke(agent, TASK)
    assert list_told(state) == ["It is 12.50 euros."] * 2
    assert not state["verdict"]["accepted"]
