"""A run goes on with the settings that made it safe, or with others that somebody has accepted."""

from functools import partial
from threading import Lock
from typing import Literal

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, create_model

from agents import ActingTool, ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, check
from orchestrator import Budget, LangGraphOrchestrator, ResumeError, RetryPolicy, SupervisionPolicy
from tests.fakes.acting import approve
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

CALL = AIMessage("", tool_calls=[{"name": "send", "args": {"to": "Ann"}, "id": "1"}])
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


def build(saver, reply='{"text": "done"}', **options):
    model = ScriptedChatModel(lambda _: reply)
    executor = ExecutionAgent(model, tools=[send])
    options = {"acting_tools": approve("send"), **options}
    return LangGraphOrchestrator(
        FakePlanner(["Send the letter"]), executor, FakeMonitor(), checkpointer=saver, **options
    )


def begin(**options):
    """A run that waits for the approval of a tool call."""
    saver = InMemorySaver()
    state = build(saver, CALL, **options).run("Send a letter", "run")
    assert state["question"]["kind"] == "tool"
    return saver


CHANGES = [
    ("acting_tools", {"send": ActingTool(approve=True, repeat="ask")}, approve("send")),
    ("acting_tools", {"send": ActingTool(approve=True, succeeded="sent")}, approve("send")),
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
    ("supervision_policy", SupervisionPolicy(), SupervisionPolicy(ask="on_triggers")),
    ("retry_policy", RetryPolicy(), RetryPolicy(exhausted="accept_best")),
    ("budget", Budget(max_model_calls=9), Budget(max_model_calls=10)),
]
APPROVED = {"answer": "approve"}


@pytest.mark.parametrize(("name", "value", "other"), CHANGES)
def test_a_changed_setting_is_refused_before_anything_changes_and_an_accepted_one_is_a_warning(
    name, value, other
):
    saver = begin(**{name: value})
    changed = build(saver, **{name: other})
    with pytest.raises(ResumeError, match=rf"other settings: {name}[a-z.]* is .*accept_changes=True"):
        changed.resume("run", APPROVED)
    state = changed.resume("run", APPROVED, accept_changes=True)

    [warning] = [text for text in state["warnings"] if "accept_changes" in text]
    assert warning.startswith(f"resumed with accept_changes: {name}")


@pytest.mark.parametrize(("name", "value", "_"), CHANGES)
def test_the_same_settings_need_no_acceptance(name, value, _):
    assert build(begin(**{name: value}), **{name: value}).resume("run", APPROVED)["question"] is None


class Amount:
    """A check function that is an object, with the least amount."""

    def __init__(self, least):
        self.least = least

    def compare(self, context):
        return str(self.least) in context.output


class Checks:
    """Checks of one name that demand different things, in several forms."""

    @staticmethod
    def closure(word):
        @check(name="stated")
        def stated(context):
            return word in context.output

        return {"checks": [stated]}

    @staticmethod
    def default(word):
        @check(name="stated")
        def stated(context, wanted=word):
            return wanted in context.output

        return {"checks": [stated]}

    @staticmethod
    def nested(word):
        def count(texts):
            return sum(word in each for each in texts)

        return {"step_contract": lambda step, index: WORDS if count([step]) else None}

    @staticmethod
    def method(word):
        return {"checks": [check(name="stated")(Amount(word).compare)]}

    @staticmethod
    def bound(word):
        return {"step_contract": partial(choose_contract, word)}

    @staticmethod
    def contract_in_a_closure(word):
        contract = EvaluationContract(keywords=[word])
        return {"step_contract": lambda step, index: contract}

    @staticmethod
    def module_value(word):
        namespace = {"WORD": word}
        exec("def stated(context):\n    return any(WORD in line for line in [context.output])", namespace)
        return {"checks": [check(name="stated")(namespace["stated"])]}

    @staticmethod
    def output_class(word):
        return {"output_type": create_model("Answer", text=(Literal["done", word], ...))}

    @staticmethod
    def settings(word):
        return {"checks": [check(name="stated", timeout=len(word))(choose_words)]}

    @staticmethod
    def read_back(word):
        return {"acting_tools": {"send": ActingTool(approve=True, read_back=lambda to: f"{word} {to}")}}


def choose_words(context):
    return len(context.output) < 9


def choose_contract(word, step, index):
    return WORDS if word in step else None


FORMS = [name for name in vars(Checks) if not name.startswith("_")]


@pytest.mark.parametrize("form", FORMS)
def test_a_function_of_the_same_name_that_demands_something_else_is_refused(form):
    make = getattr(Checks, form)
    saver = begin(**make("letter"))
    with pytest.raises(ResumeError, match="does something else than when the run began"):
        build(saver, **make("d")).resume("run", APPROVED)


@pytest.mark.parametrize("form", FORMS)
def test_a_function_that_is_made_anew_and_demands_the_same_needs_no_acceptance(form):
    make = getattr(Checks, form)
    assert build(begin(**make("letter")), **make("letter")).resume("run", APPROVED)["question"] is None


def test_a_warning_says_that_it_is_not_known_whether_a_function_is_as_before():
    def look_up(lock):
        @check(name="known")
        def known(context):
            return lock is not None

        return [known]

    saver = begin(checks=look_up(Lock()))
    state = build(saver, checks=look_up(Lock())).resume("run", APPROVED)

    doubt = "it is not known whether checks.known is as when the run began: it holds a lock"
    assert doubt in state["warnings"]


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
