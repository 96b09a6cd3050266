"""An effect is read back: a tool that reads is asked after the step, and its answer is compared."""

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import ContractError, EvaluationContract, evaluate
from orchestrator import ConfigurationError, RetryPolicy
from tests.fakes.runs import build

REFUNDED = {"check": "probe", "tool": "get_order", "args": {"order": 884}, "expect": {"status": "refunded"}}
REFUND = AIMessage("", tool_calls=[{"name": "refund", "args": {"order": 884}, "id": "1"}])


class Shop:
    """A shop whose tool says "ok" and drops some writes."""

    def __init__(self, dropped=()):
        self.status = {884: "paid"}
        self.dropped = set(dropped)
        self.writes = 0
        self.reads = 0

    def refund(self, order: int) -> str:
        """Refund an order."""
        self.writes += 1
        if self.writes not in self.dropped:
            self.status[order] = "refunded"
        return "ok"

    def get_order(self, order: int) -> dict:
        """Return an order."""
        self.reads += 1
        return {"id": order, "status": self.status[order]}

    def tools(self):
        writing = StructuredTool.from_function(self.refund, metadata={"readOnlyHint": False})
        return [writing, StructuredTool.from_function(self.get_order)]


def run(shop, *replies, check=REFUNDED, **options):
    model = ScriptedChatModel(replies)
    options = {"contract": EvaluationContract(checks=[check]), **options}
    executor = ExecutionAgent(model, shop.tools())
    orchestrator = build(executor, plan=["refund it"], **options)
    return orchestrator.run("Refund order 884"), model


def test_an_effect_that_is_read_back_is_checked_content():
    shop = Shop()
    state, _ = run(shop, REFUND, "done")

    assert (state["status"], state["basis"]) == ("success", "checked")
    assert state["evidence"]["content"] == "code"
    [record] = state["results"]
    assert [call["name"] for call in record["tool_calls"]] == ["refund"]
    assert record["probes"] == [
        {
            "name": "get_order",
            "args": {"order": 884},
            "result": '{"id": 884, "status": "refunded"}',
            "error": None,
        }
    ]
    assert (shop.reads, state["usage"]["model_calls"]) == (1, 2)


def test_a_tool_that_says_ok_and_does_nothing_is_no_success():
    state, _ = run(Shop(dropped={1, 2, 3}), *[REFUND, "done"] * 3)

    assert state["status"] == "failed"
    assert 'it answered {"id": 884, "status": "paid"}' in state["results"][0]["verdict"]["feedback"]


def test_a_tool_that_acts_is_not_called_again_although_its_write_was_dropped():
    shop = Shop(dropped={1})
    state, _ = run(shop, *[REFUND, "done"] * 3)

    assert (shop.writes, state["status"]) == (1, "failed")
    assert [call.get("gate") for record in state["results"] for call in record["tool_calls"]] == [
        None, "reused", "reused",
    ]  # fmt: skip


def test_an_error_of_the_probe_is_undecided():
    check = {**REFUNDED, "args": {"order": 1}}
    state, _ = run(Shop(), REFUND, "done", check=check, max_retries=0)

    assert (state["status"], state["failure"]["kind"]) == ("failed", "needs_review")
    assert state["results"][0]["probes"][0]["error"] is not None


def test_an_answer_is_compared_with_what_is_expected(subtests):
    for expectation, passed in [
        ({"expect": {"status": "refunded"}}, True),
        ({"expect": {"total": 1}}, False),
        ({"expect": "refunded"}, True),
        ({"expect": 884}, False),
        ({"json_schema": {"required": ["status"]}}, True),
        ({"json_schema": {"required": ["total"]}}, False),
    ]:
        with subtests.test(expectation=expectation):
            check = {"check": "probe", "tool": "get_order", "args": {"order": 884}, **expectation}
            state, _ = run(Shop(), REFUND, "done", check=check, max_retries=0)

            assert (state["status"] == "success") is passed


def test_a_probe_that_every_answer_fulfils_is_refused(subtests):
    for expectation in [{"expect": " "}, {"expect": {}}, {"json_schema": {}}]:
        with (
            subtests.test(expectation=expectation),
            pytest.raises((ContractError, ValueError), match="every answer fits"),
        ):
            EvaluationContract(checks=[{"check": "probe", "tool": "get_order", **expectation}])


def judge_answers(expect, *answers):
    probe = {"check": "probe", "tool": "get_order", "expect": expect}
    asked = [{"name": "get_order", "result": answer} for answer in answers]
    run = {"final_output": "done", "tool_calls": [], "probes": asked}
    return evaluate({"agent_run": run, "checks": [probe]}).status


def test_an_answer_that_describes_an_error_proves_nothing_else(subtests):
    for expect, answer, status in [
        ("refunded", "Error: the order is not refunded", "needs_review"),
        ({"status": "refunded"}, {"status": "refunded", "error": "a copy of yesterday"}, "needs_review"),
        ({"status": "refunded"}, {"status": "refunded", "error": None}, "passed"),
        ({"status": "refunded"}, {"status": "paid", "error": "not possible"}, "failed"),
        ("Error: no such order", "Error: no such order", "passed"),
    ]:
        with subtests.test(expect=expect, answer=answer):
            assert judge_answers(expect, answer) == status


def test_the_last_answer_of_the_tool_decides():
    assert judge_answers("refunded", "paid", "refunded") == "passed"
    assert judge_answers("refunded", "refunded", "paid") == "failed"


def test_a_number_is_not_met_by_true():
    assert judge_answers({"items": 1}, {"items": True}) == "failed"
    assert judge_answers({"items": 1}, {"items": 1.0}) == "passed"


def test_a_person_is_asked_after_the_probe_and_sees_what_it_answered():
    policy = RetryPolicy(strategies=[{"use": "ask_human"}])
    model = ScriptedChatModel([REFUND, "done"])
    executor = ExecutionAgent(model, Shop(dropped={1}).tools())
    options = {"retry_policy": policy, "checkpointer": InMemorySaver(), "contract": {"checks": [REFUNDED]}}
    orchestrator = build(executor, plan=["refund it"], **options)
    state = orchestrator.run("Refund order 884", "thread")

    assert state["results"][-1]["probes"][0]["result"] == '{"id": 884, "status": "paid"}'
    assert '"status": "paid"' in str(state["question"]["findings"])


def test_a_probe_of_no_tool_or_one_that_writes_is_refused_before_anything_runs(subtests):
    for tool, sentence in [
        ("lookup", 'contract.checks[0].tool names "lookup"; the tools of the executor are refund, get_order'),
        ("refund", 'contract.checks[0].tool names "refund", which writes; name one that only reads'),
    ]:
        with subtests.test(tool=tool):
            with pytest.raises(ConfigurationError) as error:
                run(Shop(), check={**REFUNDED, "tool": tool})

            assert sentence in str(error.value)
