import json
from functools import partial

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from agents import ActingTool, ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, check
from orchestrator import Budget, ResumeError
from orchestrator.runs.resume import list_changed
from tests.fakes.acting import approve
from tests.fakes.runs import build as build_run
from tests.fakes.runs import call

CALL = call("send", to="Ann")
WORDS = EvaluationContract(checks=[{"check": "word_count", "max": 9}])
MORE_WORDS = EvaluationContract(checks=[{"check": "word_count", "max": 99}])


class Answer(BaseModel):
    text: str


def send(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


def find_letter(to: str) -> str:
    """Find a letter."""
    return f"sent to {to}"


@check
def is_polite(context):
    """Be polite."""
    return True


@check
def is_short(context):
    """Be short."""
    return True


def judge(request):
    return {"score": 1.0, "rationale": "It is good."}


def other_judge(request):
    return judge(request)


class OwnExecutor:
    def execute_step(self, step_description, context=""):
        return '{"text": "done"}'


def test_a_run_goes_on_with_the_kind_of_executor_that_stored_its_calls():
    saver = InMemorySaver()
    own = {"plan": ["Send the letter"], "checkpointer": saver, "supervision": "human"}
    build_run(ExecutionAgent(ScriptedChatModel(["{}", "done"])), **own).run("x", "thread")
    other = build_run(OwnExecutor(), **own)

    with pytest.raises(ResumeError, match="executor is 'of another kind', and the run began with 'an agent"):
        other.resume("thread")


def build(saver, reply='{"text": "done"}', **options):
    model = ScriptedChatModel(lambda _: reply)
    executor = ExecutionAgent(model, tools=[send])
    options = {"acting_tools": approve("send"), **options}
    return build_run(executor, plan=["Send the letter"], checkpointer=saver, **options)


def begin(**options):
    saver = InMemorySaver()
    state = build(saver, CALL, **options).run("Send a letter", "run")
    assert state["question"]["kind"] == "tool"
    return saver


def states_number(number):
    @check
    def right(context):
        return str(number) in context.output

    return right


def allow(words, step=None, index=None):
    return EvaluationContract(required_content=[{"text": word} for word in words])


def allow_all(words, *, extra=()):
    def contract(step, index):
        return allow(words) if len(extra) < 2 else None

    return contract


CHANGES = [
    ("step_contract", partial(allow, ("done",)), partial(allow, ("done", "text"))),
    ("step_contract", allow_all(["done"]), allow_all(["done", "text"])),
    ("step_contract", allow_all({"done": 1}), allow_all({"done": 2})),
    ("step_contract", allow_all([], extra=[find_letter]), allow_all([], extra=[send])),
    ("checks", [states_number(1)], [states_number(2)]),
    ("step_contract", lambda step, index: WORDS, lambda step, index: MORE_WORDS),
    ("acting_tools", {"send": ActingTool(approve=True, repeat="ask")}, approve("send")),
    ("acting_tools", {"send": ActingTool(approve=True, succeeded={"/status": "sent"})}, approve("send")),
    ("acting_tools", {"send": ActingTool(approve=True, read_back=find_letter)}, approve("send")),
    ("require", "checked", "judged"),
    ("grounding", "facts", "off"),
    ("contract", WORDS, None),
    ("contract", WORDS, MORE_WORDS),
    ("step_contract", WORDS, None),
    ("step_contract", lambda step, index: WORDS, None),
    ("checks", [is_polite, is_short], [is_short]),
    ("output_type", Answer, None),
    ("judge", judge, other_judge),
    ("supervision", lambda step, index: "none", "none"),
    ("budget", Budget(max_model_calls=9), Budget(max_model_calls=10)),
]
APPROVED = {"answer": "approve"}


def test_a_changed_setting_is_told_by_the_first_part_that_differs(subtests):
    tool = {"approve": True, "succeeded": {"/status": "sent"}}
    for now, told in [
        ({}, f"acting_tools is without 'send', and the run began with {tool}"),
        ({"acting_tools": {"send": {**tool, "approve": False}}}, "acting_tools.send.approve is False, and"),
        ({"acting_tools": {"send": tool, "pay": {}}}, "acting_tools.pay is {}, and the run began with None"),
        ({"acting_tools": {"send": {**tool, "succeeded": None}}}, "send.succeeded is without '/status', and"),
    ]:
        with subtests.test(now=now):
            [change] = list_changed(json.dumps({"acting_tools": {"send": tool}}), now)
            assert told in change


def test_a_changed_setting_is_refused_before_anything_changes_and_the_same_one_needs_no_acceptance(subtests):
    for name, value, other in CHANGES:
        with subtests.test(name=name, value=value, other=other):
            saver, told = begin(**{name: value}), rf"other settings: {name}[a-z_.]* is .*accept_changes=True"
            with pytest.raises(ResumeError, match=told):
                build(saver, **{name: other}).resume("run", APPROVED)

            assert build(saver, **{name: value}).resume("run", APPROVED)["question"] is None


def test_a_change_that_was_accepted_is_a_warning(subtests):
    for name, value, other in CHANGES[-4:]:
        with subtests.test(name=name, value=value, other=other):
            changed = build(begin(**{name: value}), **{name: other})
            state = changed.resume("run", APPROVED, accept_changes=True)

            [warning] = [text for text in state["warnings"] if "accept_changes" in text]
            assert warning.startswith(f"resumed with accept_changes: {name}")


def test_a_setting_that_the_run_did_not_have_needs_no_acceptance():
    added = {"require": "judged", "judge": judge, "budget": Budget(max_model_calls=9)}
    state = build(begin(), **added).resume("run", APPROVED)

    assert not [text for text in state["warnings"] if "accept_changes" in text]


async def test_the_other_forms_of_resume_refuse_it_too():
    saver = begin(require="checked")
    weaker = build(saver)
    with pytest.raises(ResumeError, match="require"):
        await weaker.aresume("run", APPROVED)
    with pytest.raises(ResumeError, match="require"):
        list(weaker.stream_resumed("run", APPROVED))
    with pytest.raises(ResumeError, match="require"):
        _ = [event async for event in weaker.astream_resumed("run", APPROVED)]
    accepted = [event async for event in weaker.astream_resumed("run", APPROVED, accept_changes=True)]

    assert accepted[-1].state["warnings"]
