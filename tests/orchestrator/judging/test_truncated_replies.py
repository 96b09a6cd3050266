import pytest
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from agents import ExecutionAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from tests.fakes.executor import FakeExecutor
from tests.fakes.protocol_server import ModelReply, encode, serve_protocol, write_body, write_stream
from tests.fakes.runs import run as run_agents

SHORTEN = "The last output was cut off at its limit of tokens; write a shorter one that is complete."
CONTRACT = EvaluationContract(keywords=["boat"])


def cut(text, reason="length"):
    return AIMessage(text, response_metadata={"finish_reason": reason})


def run(*replies, contract=CONTRACT, **options):
    model = ScriptedChatModel(list(replies))
    return run_agents(ExecutionAgent(model), plan=["write"], contract=contract, **options), model


def test_a_reply_that_reached_its_limit_is_written_again_shorter():
    state, model = run(cut("A boat and"), "A boat.")

    assert (state["status"], state["output"]) == ("success", "A boat.")
    assert SHORTEN in model.prompts[1][-1].text
    assert state["results"][0]["cut_off"] == "length"
    assert "cut_off" not in state["results"][1]


def test_a_reply_that_the_provider_blocked_has_no_verdict_and_is_never_kept(subtests):
    for fields in [
        {"response_metadata": {"finish_reason": "content_filter"}},
        {"response_metadata": {"finish_reason": "sensitive"}},
        {"response_metadata": {"stop_reason": "refusal"}},
        {"additional_kwargs": {"refusal": "I will not write about a boat."}},
    ]:
        with subtests.test(fields=fields):
            state, _ = run(AIMessage("A boat", **fields))

            assert state["status"] == "failed"
            assert state["results"][0]["status"] == "needs_review"


class Boat(BaseModel):
    """A boat."""

    name: str


REFUSED = ModelReply(more={"refusal": "I may not"})
FILTERED = ModelReply('{"plan": ["a"]}', reason="content_filter")


@pytest.mark.parametrize("write", [write_body, write_stream])
def test_a_reply_to_a_request_with_a_schema_is_told_as_blocked_after_one_call(subtests, write):
    for reply, is_plan, kind, told in [
        (REFUSED, False, "needs_review", "the model refused to answer: I may not"),
        (FILTERED, False, "needs_review", "the provider blocked the reply (content_filter)"),
        (REFUSED, True, "plan_invalid", "the model refused to answer: I may not"),
        (FILTERED, True, "plan_invalid", "the provider blocked the reply (content_filter)"),
    ]:
        body = encode(write("openai", reply))
        with subtests.test(reply=reply, kind=kind), serve_protocol(lambda _, body=body: body) as server:
            model = server.model("openai", streaming=write is write_stream)
            if is_plan:
                state = run_agents(FakeExecutor(), planner=PlanningAgent(model))
            else:
                state = run_agents(ExecutionAgent(model), plan=["write"], output_type=Boat)
            assert (state["failure"]["kind"], len(server.bodies)) == (kind, 1)
            assert state["failure"]["message"].endswith(told)


class Writer:
    def __init__(self, *replies):
        self.model = ScriptedChatModel(list(replies))
        self.requests = len(replies)

    def execute_step(self, step_description, context=""):
        replies = [self.model.invoke(step_description).text for _ in range(self.requests)]
        return replies[0]


def test_the_reply_that_became_the_output_decides(subtests):
    for replies, status in [
        ([cut("A boat and"), "fine"], "failed"),
        (["A boat.", cut("fine, sin")], "success"),
        (["A boat.", cut("<think>A whale")], "success"),
        ([cut("<think>Hm</think>\nA boat and"), "fine"], "failed"),
        ([cut("A boat and"), "A boat and"], "success"),
    ]:
        with subtests.test(replies=replies):
            state = run_agents(Writer(*replies), plan=["write"], contract=CONTRACT, max_retries=0)
            assert state["status"] == status


def test_a_plan_that_was_cut_off_is_refused_before_a_step_is_executed(subtests):
    for plan in ['["write", "check the', '{"plan": ["write", "che', "1. write\n2. che"]:
        with subtests.test(plan=plan):
            executor, planner = FakeExecutor(), PlanningAgent(ScriptedChatModel([cut(plan)] * 2))
            state = run_agents(executor, planner=planner)

            assert (state["failure"]["kind"], executor.calls) == ("plan_invalid", [])
            assert "the plan was cut off (length)" in state["failure"]["message"]
