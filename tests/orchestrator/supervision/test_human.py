"""A person in the loop: asked by an interrupt that lasts; without an answer nothing goes on."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import (
    Budget,
    ConfigurationError,
    LangGraphOrchestrator,
    Question,
    ResumeError,
    RetryPolicy,
    RunFinished,
    RunPaused,
    RunResumed,
    SupervisionPolicy,
)
from tests.fakes.executor import ExecutorCall, FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept
from tests.fakes.planner import FakePlanner
from tests.fakes.supervision import (
    FakeClock,
    FakeSupervisor,
    SpeakingExecutor,
    ask_human,
    met,
    missed,
    reorient,
)

THREAD = {"configurable": {"thread_id": "thread"}}
APPROVE = {"answer": "approve"}
DENY = {"answer": "deny", "text": "too dear"}
CORRECT = {"answer": "correct", "text": "use fewer words"}
SIDE_BY_SIDE = [{"step": "one", "needs": []}, {"step": "two", "needs": []}, {"step": "end", "needs": [1, 2]}]
DONE = EvaluationContract(required_content=[{"text": "done"}])
ROOT = Path(__file__).parents[3]


def build(executor=None, monitor=None, plan=("one", "two"), **options):
    agents = FakePlanner(list(plan)), executor or SpeakingExecutor(), monitor or FakeMonitor()
    given = {"supervision": "human", "checkpointer": InMemorySaver()}
    return LangGraphOrchestrator(*agents, **{**given, **options})


def asked(*agents, **options):
    orchestrator = build(*agents, **options)
    return orchestrator, orchestrator.run("x", "thread")


def statuses(state):
    return [record["status"] for record in state["results"]]


def failure(state):
    return state["failure"] and state["failure"]["kind"]


def stored(orchestrator):
    return orchestrator.graph.get_state(THREAD).values


# The question


def test_a_run_returns_with_the_question_that_waits():
    _, state = asked()
    question = state["question"]

    assert (state["status"], statuses(state)) == ("executing", ["pending_validation"])
    assert (question["kind"], question["step_index"], question["step"]) == ("supervision", 0, "one")
    assert (question["attempt"], question["output"]) == (1, "one done")
    assert question["accepts"] == ["approve", "correct", "deny"]


def test_nothing_is_executed_while_a_question_waits():
    executor = SpeakingExecutor()
    asked(executor)

    assert [call.step for call in executor.calls] == ["one"]


def test_a_question_shows_what_is_not_as_it_should_be():
    _, state = asked(SpeakingExecutor("bad", said=[missed()]), contract=DONE)

    assert state["question"]["findings"][0] == "commitment_not_met"
    assert any("done" in finding for finding in state["question"]["findings"])


def test_the_stored_state_of_a_waiting_run_equals_the_returned_one():
    orchestrator, state = asked()

    assert stored(orchestrator) == state


def test_the_last_event_of_a_waiting_run_is_its_question():
    events = list(build().stream("x", "thread"))

    assert isinstance(events[-1], RunPaused)
    assert events[-1].question == events[-1].state["question"]


# Answers


def test_approve_validates_the_step_and_goes_on():
    orchestrator, _ = asked()
    state = orchestrator.resume("thread", APPROVE)

    assert (state["status"], statuses(state)) == ("executing", ["validated", "pending_validation"])
    assert state["question"]["step_index"] == 1


def test_approve_of_the_last_step_ends_the_run_well():
    orchestrator, _ = asked(plan=["one"])
    state = orchestrator.resume("thread", APPROVE)

    assert (state["status"], state["question"], stored(orchestrator)) == ("success", None, state)


def test_approve_keeps_what_the_evaluation_said():
    orchestrator, _ = asked(SpeakingExecutor("bad"), plan=["one"], contract=DONE)
    state = orchestrator.resume("thread", APPROVE)

    assert statuses(state) == ["validated"]
    assert state["results"][0]["report"]["status"] == "failed"
    assert state["results"][0]["verdict"]["success"] is False


def test_deny_ends_the_run_with_the_reason():
    orchestrator, _ = asked()
    state = orchestrator.resume("thread", {**DENY, "answered_by": "Ada"})

    assert (state["status"], failure(state), statuses(state)) == ("failed", "denied", ["failed"])
    assert state["failure"]["message"] == "step 1: denied by Ada: too dear"


def test_nothing_is_executed_after_a_denial():
    executor = SpeakingExecutor()
    orchestrator, _ = asked(executor, retry_policy=RetryPolicy(max_replans=2, exhausted="accept_best"))
    orchestrator.resume("thread", DENY)

    assert [call.step for call in executor.calls] == ["one"]


def test_correct_executes_the_step_again_with_the_correction():
    executor = SpeakingExecutor()
    orchestrator, _ = asked(executor)
    orchestrator.resume("thread", CORRECT)

    assert executor.calls[1].step == "one\n\nKeep to these corrections:\n- use fewer words"


def test_after_a_correction_the_step_is_checked_and_asked_about_again():
    executor = SpeakingExecutor("first", "second")
    orchestrator, _ = asked(executor, plan=["one"])
    state = orchestrator.resume("thread", CORRECT)

    assert (state["question"]["attempt"], state["question"]["output"]) == (2, "second")
    assert [output for _, _, output in executor.assessments] == ["first", "second"]
    assert [record["report"]["status"] for record in state["results"]] == ["passed", "passed"]


def test_a_correction_is_no_retry():
    orchestrator, _ = asked(plan=["one"], max_retries=0)
    orchestrator.resume("thread", CORRECT)
    state = orchestrator.resume("thread", APPROVE)

    assert (state["status"], statuses(state)) == ("success", ["failed", "validated"])
    assert state["retries"]["semantic"] == 0


def test_corrections_accumulate():
    executor = SpeakingExecutor()
    orchestrator, _ = asked(executor)
    orchestrator.resume("thread", CORRECT)
    orchestrator.resume("thread", {**CORRECT, "text": "no commas"})

    assert executor.calls[2].step.endswith("\n- use fewer words\n- no commas")


@pytest.mark.parametrize("bound", [1, 2])
def test_out_of_corrections_a_person_can_only_approve_or_deny(bound):
    orchestrator, _ = asked(supervision_policy=SupervisionPolicy(max_corrections=bound))
    for _ in range(bound):
        state = orchestrator.resume("thread", CORRECT)
    with pytest.raises(ResumeError):
        orchestrator.resume("thread", CORRECT)

    assert state["question"]["accepts"] == ["approve", "deny"]
    assert orchestrator.resume("thread", APPROVE)["results"][bound]["status"] == "validated"


def test_who_answered_what_and_when_is_in_the_record():
    clock = FakeClock()
    orchestrator, _ = asked(clock=clock)
    clock.pass_by(hours=5)
    state = orchestrator.resume("thread", {**CORRECT, "answered_by": "Ada"})

    assert state["results"][0]["supervision"]["answer"] == {
        "answer": "correct",
        "text": "use fewer words",
        "answered_by": "Ada",
        "answered_at": clock.now.isoformat(),
    }


def test_an_answer_may_be_the_mere_word():
    orchestrator, _ = asked(plan=["one"])

    assert orchestrator.resume("thread", "approve")["status"] == "success"


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        "",
        "deny",
        "correct",
        True,
        1,
        [],
        ["approve"],
        {},
        {"answer": None},
        {"answer": "Approve"},
        {"answer": "maybe", "text": "x"},
        {"answer": "deny"},
        {"answer": "deny", "text": " "},
        {"answer": "correct"},
        {"answer": "correct", "text": ""},
        {"answer": "correct", "text": 3},
        {"answer": "correct", "text": "x" * 20_000},
        {"answer": "approve", "text": 3},
        {"answer": "approve", "answered_by": 3},
        {"answer": "approve", "correction": "x"},
        {"answer": ["approve"]},
        {3: "approve"},
    ],
    ids=lambda answer: repr(answer)[:40],
)
def test_a_bad_answer_is_refused_with_the_reason_and_the_question_stays(answer):
    executor = SpeakingExecutor()
    orchestrator, before = asked(executor)
    with pytest.raises(ResumeError, match="the question is still open"):
        orchestrator.resume("thread", answer)

    assert stored(orchestrator) == before
    assert len(executor.calls) == 1
    assert orchestrator.resume("thread", APPROVE)["results"][0]["status"] == "validated"


def test_a_bad_answer_says_what_is_accepted():
    orchestrator, _ = asked()
    with pytest.raises(ResumeError) as raised:
        orchestrator.resume("thread", "yes")

    assert str(raised.value).startswith('the answer is \'yes\'; give one of {"answer": "approve"}')


def test_an_answer_through_the_graph_is_checked_as_well():
    executor = SpeakingExecutor()
    orchestrator, _ = asked(executor)
    values = asyncio.run(orchestrator.graph.ainvoke(Command(resume="yes"), THREAD))
    [waiting] = values["__interrupt__"]

    assert "the answer is 'yes'" in waiting.value["problem"]
    assert len(executor.calls) == 1


answers = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["answer", "text", "answered_by", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
).filter(
    lambda given: not (isinstance(given, dict) and given.get("answer") in ("approve", "correct", "deny"))
)


@cache
def waiting_run():
    executor = SpeakingExecutor()
    return executor, *asked(executor)


@settings(max_examples=60, deadline=None)
@given(answers)
def test_no_answer_that_cannot_be_read_goes_on(answer):
    executor, orchestrator, before = waiting_run()
    if answer is not None:
        with pytest.raises(ResumeError):
            orchestrator.resume("thread", answer)

    assert (stored(orchestrator), len(executor.calls)) == (before, 1)


def test_a_second_answer_to_the_last_question_is_refused():
    orchestrator, _ = asked(plan=["one"])
    orchestrator.resume("thread", APPROVE)
    with pytest.raises(ResumeError, match="has ended as 'success'"):
        orchestrator.resume("thread", DENY)

    assert stored(orchestrator)["status"] == "success"


def test_a_second_answer_that_names_its_question_does_not_answer_the_next():
    orchestrator, state = asked()
    answer = {**APPROVE, "question": state["question"]["id"]}
    after = orchestrator.resume("thread", answer)
    with pytest.raises(ResumeError, match=r"the answer is to question '0\.1', and '1\.1' is the one"):
        orchestrator.resume("thread", answer)

    assert stored(orchestrator) == after


def test_an_answer_without_a_question_is_refused():
    orchestrator = build(supervision="none")
    orchestrator.run("x", "thread")

    with pytest.raises(ResumeError, match="has ended"):
        orchestrator.resume("thread", APPROVE)


def test_two_answers_at_once_are_one_too_many():
    begun, release = threading.Event(), threading.Event()

    def slowly(step, context=""):
        if step == "two":
            begun.set()
            release.wait(20)
        return step

    orchestrator, _ = asked(SpeakingExecutor(slowly))
    first = threading.Thread(target=orchestrator.resume, args=("thread", APPROVE))
    first.start()
    assert begun.wait(20)
    with pytest.raises(ConfigurationError, match="is being run already"):
        orchestrator.resume("thread", DENY)
    release.set()
    first.join(20)

    assert statuses(stored(orchestrator)) == ["validated", "pending_validation"]


# Without an answer


def test_resume_without_an_answer_gives_the_waiting_run_back():
    executor = SpeakingExecutor()
    orchestrator, before = asked(executor)

    assert orchestrator.resume("thread") == before
    assert len(executor.calls) == 1


@pytest.mark.parametrize("give", [None, APPROVE])
def test_a_thread_that_is_not_there_cannot_be_resumed(give):
    with pytest.raises(ResumeError, match="thread 'other' is not in this store"):
        build().resume("other", give)


def test_a_run_that_ended_cannot_be_resumed():
    orchestrator = build(supervision="none")
    orchestrator.run("x", "thread")

    with pytest.raises(ResumeError, match="thread 'thread' has ended as 'success'"):
        orchestrator.resume("thread")


def test_resume_without_a_checkpointer_is_refused():
    with pytest.raises(ConfigurationError, match="resume needs a thread_id and the checkpointer"):
        build(supervision="none", checkpointer=None).resume("thread")


@pytest.mark.parametrize("thread_id", [None, "", 3], ids=repr)
def test_resume_without_a_thread_is_refused(thread_id):
    with pytest.raises(ConfigurationError):
        build().resume(thread_id)


def test_a_waiting_run_cannot_be_resumed_where_nobody_can_be_asked():
    saver = InMemorySaver()
    _, before = asked(checkpointer=saver)
    other = build(supervision="none", checkpointer=saver)
    with pytest.raises(ResumeError, match="resume it with the supervision and the retry_policy"):
        other.resume("thread", APPROVE)

    assert before["status"] == "executing"


@pytest.mark.parametrize(
    "clock", [3, datetime.now, lambda: "now", lambda: None], ids=["number", "no zone", "text", "none"]
)
def test_a_clock_that_does_not_give_the_time_with_its_zone_is_refused(clock):
    with pytest.raises(ConfigurationError, match="give a function that returns the time with its zone"):
        build(clock=clock)


def test_a_new_run_on_a_thread_that_waits_begins_anew():
    executor = SpeakingExecutor()
    orchestrator, _ = asked(executor)
    state = orchestrator.run("y", "thread")

    assert (state["task"], statuses(state), len(executor.calls)) == ("y", ["pending_validation"], 2)
    assert statuses(orchestrator.resume("thread", APPROVE)) == ["validated", "pending_validation"]


def test_the_events_of_a_resumed_run_begin_with_what_it_goes_on_from():
    orchestrator, before = asked(plan=["one"])
    events = list(orchestrator.stream_resumed("thread", APPROVE))

    assert isinstance(events[0], RunResumed)
    assert events[0].state == before
    assert isinstance(events[-1], RunFinished)
    assert events[-1].state["status"] == "success"


# Deadlines


@pytest.mark.parametrize(("then", "status"), [("deny", "failed"), ("approve", "success")])
@pytest.mark.parametrize("answer", [None, APPROVE, CORRECT, "nonsense"], ids=str)
def test_after_the_deadline_whoever_resumes_what_was_configured_is_the_answer(then, status, answer):
    clock = FakeClock()
    policy = SupervisionPolicy(answer_deadline_s=60, on_deadline=then)
    orchestrator, state = asked(plan=["one"], supervision_policy=policy, clock=clock)
    clock.pass_by(seconds=61)
    ended = orchestrator.resume("thread", answer)

    assert ended["status"] == status
    assert ended["results"][0]["supervision"]["answer"]["answered_by"] == "deadline"
    assert state["question"]["deadline"] == "2026-01-02T03:05:05+00:00"


def test_a_deadline_that_is_not_configured_denies():
    clock = FakeClock()
    orchestrator, _ = asked(clock=clock, supervision_policy=SupervisionPolicy(answer_deadline_s=1))
    clock.pass_by(days=1)

    assert failure(orchestrator.resume("thread")) == "denied"


@pytest.mark.parametrize("seconds", [0, 59, 60])
def test_before_the_deadline_the_answer_counts(seconds):
    clock = FakeClock()
    policy = SupervisionPolicy(answer_deadline_s=60)
    orchestrator, _ = asked(plan=["one"], supervision_policy=policy, clock=clock)
    clock.pass_by(seconds=seconds)

    assert orchestrator.resume("thread", APPROVE)["status"] == "success"


def test_before_the_deadline_a_run_without_an_answer_waits():
    clock = FakeClock()
    orchestrator, before = asked(supervision_policy=SupervisionPolicy(answer_deadline_s=60), clock=clock)

    assert orchestrator.resume("thread") == before


def test_without_a_deadline_a_question_waits_for_ever():
    clock = FakeClock()
    orchestrator, before = asked(clock=clock)
    clock.pass_by(days=5000)

    assert (before["question"]["deadline"], orchestrator.resume("thread")) == (None, before)


def test_each_question_has_a_deadline_of_its_own():
    clock = FakeClock()
    orchestrator, _ = asked(supervision_policy=SupervisionPolicy(answer_deadline_s=60), clock=clock)
    clock.pass_by(seconds=50)
    state = orchestrator.resume("thread", APPROVE)
    clock.pass_by(seconds=50)

    assert state["question"]["deadline"] == "2026-01-02T03:05:55+00:00"
    assert orchestrator.resume("thread", APPROVE)["status"] == "success"


# The supervisor's questions, and the evaluation's


def supervised(*verdicts, said=None, **options):
    executor = SpeakingExecutor(said=said or [missed()])
    orchestrator = build(executor, supervision="llm", supervisor=FakeSupervisor(*verdicts), **options)
    return executor, orchestrator, orchestrator.run("x", "thread")


@pytest.mark.parametrize(
    ("answer", "status", "records"),
    [
        (APPROVE, "success", ["validated"]),
        (DENY, "failed", ["failed"]),
        (CORRECT, "success", ["failed", "validated"]),
    ],
)
def test_a_supervisors_question_is_answered(answer, status, records):
    _, orchestrator, _ = supervised(ask_human("May I?"), said=[missed(), met()], plan=["one"])
    state = orchestrator.resume("thread", answer)

    assert (state["status"], statuses(state)) == (status, records)


def test_after_a_persons_correction_the_supervisor_is_asked_only_if_the_step_is_not_clean():
    executor = SpeakingExecutor(said=[missed(), met()])
    supervisor = FakeSupervisor(ask_human())
    orchestrator, _ = asked(executor, plan=["one"], supervision="llm", supervisor=supervisor)
    orchestrator.resume("thread", CORRECT)

    assert len(supervisor.requests) == 1


def test_a_persons_correction_leaves_the_supervisor_its_own():
    policy = SupervisionPolicy(max_reorient_attempts=1)
    said = [missed(), missed(), met()]
    executor, orchestrator, _ = supervised(
        ask_human(), reorient("no commas"), said=said, plan=["one"], supervision_policy=policy
    )
    state = orchestrator.resume("thread", CORRECT)

    assert state["status"] == "success"
    assert executor.calls[-1].step.endswith("\n- use fewer words\n- no commas")


def test_a_person_may_approve_once_the_supervisor_is_out_of_attempts():
    policy = SupervisionPolicy(max_reorient_attempts=1)
    _, orchestrator, _ = supervised(reorient(), plan=["one"], supervision_policy=policy)
    state = orchestrator.resume("thread", APPROVE)

    assert (state["status"], statuses(state)) == ("success", ["failed", "validated"])


@pytest.mark.parametrize(
    ("answer", "status", "records"),
    [
        (APPROVE, "success", ["validated"]),
        (DENY, "failed", ["failed"]),
        (CORRECT, "success", ["failed", "validated"]),
    ],
)
def test_a_step_without_a_verdict_is_a_persons_to_judge_by_choice(answer, status, records):
    options = {"supervision": "none", "retry_policy": RetryPolicy(needs_review="human"), "plan": ["one"]}
    orchestrator, before = asked(FakeExecutor(), FakeMonitor("hm", "hm", accept()), **options)
    state = orchestrator.resume("thread", answer)

    assert before["question"]["kind"] == "review"
    assert (state["status"], statuses(state)) == (status, records)


def test_needs_review_by_a_person_without_a_checkpointer_is_refused():
    with pytest.raises(ConfigurationError, match="needs_review is 'human', and there is no checkpointer"):
        build(supervision="none", checkpointer=None, retry_policy=RetryPolicy(needs_review="human"))


# Agents that ask by themselves


class AskingPlanner(FakePlanner):
    def generate_plan(self, task):
        return [interrupt("Which way?")]


class AskingMonitor(FakeMonitor):
    def evaluate(self, objective, result):
        return {"success": interrupt("Is it good?"), "feedback": "said"}


class AwaitedMonitor(FakeMonitor):
    async def evaluate(self, objective, result):
        return {"success": interrupt("Is it good?"), "feedback": "said"}


class AskingExecutor(FakeExecutor):
    def execute_step(self, step_description, context=""):
        self.calls.append(ExecutorCall(step_description, context))
        return f"{step_description}: {interrupt(f'May I {step_description}?')}"


class AskingJudge:
    async def ajudge(self, request):
        return {"score": interrupt("What is it worth?"), "rationale": "said"}


class AskingSupervisor(FakeSupervisor):
    def supervise(self, request):
        return {"verdict": interrupt("How on?"), "reason": "said"}


@pytest.mark.parametrize(
    ("agents", "text", "answer"),
    [
        ({"planner": AskingPlanner()}, "Which way?", "north"),
        ({"executor": AskingExecutor()}, "May I one?", {"any": ["thing"]}),
        ({"monitor": AskingMonitor()}, "Is it good?", True),
        ({"monitor": AwaitedMonitor()}, "Is it good?", True),
        ({"judge": AskingJudge()}, "What is it worth?", 5),
        (
            {
                "supervisor": AskingSupervisor(),
                "executor": SpeakingExecutor(said=[missed()]),
                "supervision": "llm",
            },
            "How on?",
            "continue",
        ),
    ],
    ids=["planner", "executor", "monitor", "awaited", "judge", "supervisor"],
)
def test_an_agents_own_question_is_answered_with_anything(agents, text, answer):
    fakes = {"planner": FakePlanner(["one"]), "executor": FakeExecutor(), "monitor": FakeMonitor()}
    orchestrator = LangGraphOrchestrator(**{**fakes, **agents}, checkpointer=InMemorySaver())
    waiting = orchestrator.run("x", "thread")
    state = orchestrator.resume("thread", answer)

    assert (waiting["question"]["kind"], waiting["question"]["text"]) == ("agent", text)
    assert (state["status"], statuses(state)) == ("success", ["validated"])


class Forger(FakeExecutor):
    """Asks what looks like a question of the supervision, in which nothing can be read."""

    def execute_step(self, step_description, context=""):
        question = dict.fromkeys(Question.__annotations__, "approve!")
        return f"{step_description}: {interrupt(question)}"


def test_an_agent_cannot_pass_its_question_off_as_one_of_the_supervision():
    orchestrator, state = asked(Forger(), plan=["one"], supervision="none")

    assert (state["question"]["kind"], state["question"]["step"]) == ("agent", "one")
    assert orchestrator.resume("thread", "yes")["results"][0]["result"] == "one: yes"


def test_an_agent_may_ask_again_and_again():
    orchestrator, _ = asked(AskingExecutor(), supervision="none")
    state = orchestrator.resume("thread", "yes")

    assert state["question"]["text"] == "May I two?"
    assert [record["result"] for record in orchestrator.resume("thread", "no")["results"]] == [
        "one: yes",
        "two: no",
    ]


# Side by side


def answered(orchestrator, state, answer):
    """Answer until the run has ended; the steps that were asked about, in order."""
    steps = []
    while state["status"] == "executing":
        steps.append(state["question"]["step"])
        state = orchestrator.resume("thread", answer(state["question"]) if callable(answer) else answer)
    return steps, state


class LateFirst(SpeakingExecutor):
    """The first of two steps ends after the second."""

    def __init__(self):
        super().__init__()
        self._second = threading.Event()

    def execute_step(self, step_description, context=""):
        if step_description == "one":
            self._second.wait(20)
        return super().execute_step(step_description, context)

    def assess_step(self, step, commitment, output):
        if step == "two":
            self._second.set()
        return super().assess_step(step, commitment, output)


@pytest.mark.parametrize("executor", [SpeakingExecutor, LateFirst])
def test_questions_of_steps_side_by_side_come_one_after_the_other_by_the_plan(executor):
    orchestrator, state = asked(executor(), plan=SIDE_BY_SIDE)
    steps, ended = answered(orchestrator, state, APPROVE)

    assert steps == ["one", "two", "end"]
    assert (ended["status"], statuses(ended)) == ("success", ["validated"] * 3)


@pytest.mark.parametrize("executor", [SpeakingExecutor, LateFirst])
def test_an_answer_is_for_the_question_that_was_shown(executor):
    orchestrator, state = asked(executor(), plan=SIDE_BY_SIDE)
    shown = state["question"]["step_index"]
    ended = orchestrator.resume("thread", DENY)

    assert (failure(ended), ended["failure"]["step_index"]) == ("denied", shown)


def test_steps_side_by_side_are_corrected_each_by_itself():
    executor = SpeakingExecutor()
    orchestrator, state = asked(executor, plan=SIDE_BY_SIDE)
    corrected = []

    def answer(question):
        if question["step"] == "two" and not corrected:
            corrected.append(question)
            return CORRECT
        return APPROVE

    steps, ended = answered(orchestrator, state, answer)

    assert steps == ["one", "two", "two", "end"]
    assert [(record["step_index"], record["attempt"]) for record in ended["results"]] == [
        (0, 1),
        (1, 1),
        (1, 2),
        (2, 1),
    ]


def test_a_step_that_was_approved_is_not_executed_again_for_the_one_beside_it():
    executor = SpeakingExecutor()
    orchestrator, state = asked(executor, plan=SIDE_BY_SIDE)
    answered(orchestrator, state, APPROVE)

    assert sorted(call.step for call in executor.calls) == ["end", "one", "two"]


def test_resume_without_an_answer_asks_no_agent_beside_one_that_was_answered():
    executor = AskingExecutor()
    orchestrator, _ = asked(executor, plan=SIDE_BY_SIDE, supervision="none")
    before = orchestrator.resume("thread", "yes")
    calls = len(executor.calls)

    assert orchestrator.resume("thread") == before
    assert len(executor.calls) == calls


def test_a_denial_withdraws_the_questions_of_the_steps_beside():
    executor = SpeakingExecutor()
    orchestrator, _ = asked(executor, plan=SIDE_BY_SIDE)
    state = orchestrator.resume("thread", DENY)

    assert (state["status"], failure(state), state["question"]) == ("failed", "denied", None)
    assert [(record["step"], record["status"]) for record in state["results"]] == [
        ("one", "failed"),
        ("two", "pending_validation"),
    ]
    assert stored(orchestrator) == state


def test_an_agents_question_names_the_step_that_runs_beside_others():
    orchestrator, state = asked(AskingExecutor(), plan=SIDE_BY_SIDE, supervision="none")
    questions = [state["question"]]
    while (state := orchestrator.resume("thread", "yes"))["status"] == "executing":
        questions.append(state["question"])

    assert [(one["step_index"], one["text"]) for one in questions] == [
        (0, "May I one?"),
        (1, "May I two?"),
        (2, "May I end?"),
    ]


def test_a_deadline_holds_for_steps_side_by_side():
    clock = FakeClock()
    policy = SupervisionPolicy(answer_deadline_s=60, on_deadline="approve")
    orchestrator, state = asked(plan=SIDE_BY_SIDE, supervision_policy=policy, clock=clock)
    clock.pass_by(seconds=61)
    while state["status"] == "executing":
        state = orchestrator.resume("thread")
        clock.pass_by(seconds=61)

    assert (state["status"], statuses(state)) == ("success", ["validated"] * 3)


# A run that was cut off


class CutOff:
    """A planner and an executor; the process ends in the middle of their first call, as far as a run sees."""

    def __init__(self, at):
        self.at = at
        self.calls: list[str] = []
        self.reached = asyncio.Event()

    async def generate_plan(self, task):
        return await self._called(task, ["one", "two"])

    async def execute_step(self, step_description, context=""):
        return await self._called(step_description, f"{step_description} done")

    async def _called(self, name, answer):
        self.calls.append(name)
        if name == self.at and self.calls.count(name) == 1:
            self.reached.set()
            await asyncio.sleep(3600)
        return answer


@pytest.mark.parametrize(
    ("at", "calls"),
    [
        ("x", ["x", "x", "one", "two"]),
        ("one", ["x", "one", "one", "two"]),
        ("two", ["x", "one", "two", "two"]),
    ],
)
async def test_a_run_that_was_cut_off_goes_on_where_it_was(at, calls):
    agent = CutOff(at)
    orchestrator = LangGraphOrchestrator(agent, agent, FakeMonitor(), checkpointer=InMemorySaver())
    running = asyncio.ensure_future(orchestrator.arun("x", "thread"))
    await asyncio.wait_for(agent.reached.wait(), 20)
    running.cancel()
    await asyncio.wait([running])
    state = await orchestrator.aresume("thread")

    assert (state["status"], statuses(state), agent.calls) == ("success", ["validated"] * 2, calls)


async def test_a_run_that_was_cut_off_takes_no_answer():
    agent = CutOff("one")
    orchestrator = LangGraphOrchestrator(agent, agent, FakeMonitor(), checkpointer=InMemorySaver())
    running = asyncio.ensure_future(orchestrator.arun("x", "thread"))
    await asyncio.wait_for(agent.reached.wait(), 20)
    running.cancel()
    await asyncio.wait([running])

    with pytest.raises(ResumeError, match="has no question that waits for an answer"):
        await orchestrator.aresume("thread", APPROVE)


ASKING = """
import json, sqlite3, sys
from langgraph.checkpoint.sqlite import SqliteSaver
from orchestrator import LangGraphOrchestrator
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.fakes.supervision import SpeakingExecutor

path, plan, answer = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
executor, saver = SpeakingExecutor(), SqliteSaver(sqlite3.connect(path, check_same_thread=False))
orchestrator = LangGraphOrchestrator(
    FakePlanner(plan), executor, FakeMonitor(), supervision="human", checkpointer=saver
)
state = orchestrator.run("x", "thread") if answer is None else orchestrator.resume("thread", answer)
print(json.dumps({"state": state, "executed": [call.step for call in executor.calls]}))
"""


def in_a_process_of_its_own(path, plan, answer=None):
    command = [sys.executable, "-c", ASKING, str(path), json.dumps(plan), json.dumps(answer)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True, timeout=120)
    return json.loads(ended.stdout)


def test_another_process_goes_on_with_what_the_first_one_asked(tmp_path):
    plan = [{"step": "one", "needs": []}, {"step": "two", "needs": []}]
    first = in_a_process_of_its_own(tmp_path / "runs", plan)
    second = in_a_process_of_its_own(tmp_path / "runs", plan, {**CORRECT, "answered_by": "Ada"})
    third = in_a_process_of_its_own(tmp_path / "runs", plan, DENY)

    assert (first["state"]["question"]["step"], sorted(first["executed"])) == ("one", ["one", "two"])
    assert second["executed"] == ["one\n\nKeep to these corrections:\n- use fewer words"]
    assert second["state"]["question"]["attempt"] == 2
    assert (third["state"]["failure"]["kind"], third["executed"]) == ("denied", [])
    assert [record["status"] for record in third["state"]["results"]] == [
        "failed",
        "failed",
        "pending_validation",
    ]


# Properties

decisions = st.sampled_from([APPROVE, CORRECT, DENY])


@settings(max_examples=15, deadline=None)
@given(st.lists(decisions, min_size=1, max_size=8), st.sampled_from([["one", "two", "end"], SIDE_BY_SIDE]))
def test_no_step_is_executed_after_a_denial(given_answers, plan):
    executor = SpeakingExecutor()
    orchestrator, state = asked(executor, plan=plan)
    for answer in given_answers:
        if state["status"] != "executing":
            break
        before = len(executor.calls)
        if answer is CORRECT and "correct" not in state["question"]["accepts"]:
            continue
        state = orchestrator.resume("thread", answer)
        if answer is DENY:
            assert (failure(state), len(executor.calls)) == ("denied", before)
            assert stored(orchestrator) == state


class CallingExecutor(FakeExecutor):
    """Asks a model, which is not for others to ask."""

    def __init__(self, model):
        super().__init__(lambda step, context: model.invoke(step).text)


def test_a_budget_counts_what_steps_side_by_side_spent_before_a_resumption():
    model = ScriptedChatModel(lambda messages: "out")
    budget = Budget(max_model_calls=3)
    orchestrator, _ = asked(CallingExecutor(model), plan=SIDE_BY_SIDE, budget=budget)
    orchestrator.resume("thread", CORRECT)
    orchestrator.resume("thread", APPROVE)
    state = orchestrator.resume("thread", CORRECT)

    assert (failure(state), len(model.prompts)) == ("budget_exceeded", 3)
