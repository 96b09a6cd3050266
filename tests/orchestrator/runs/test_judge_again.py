import asyncio
import time
from types import SimpleNamespace

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from evaluation import EvaluationContract, check
from orchestrator import Budget, ResumeError, RetryPolicy
from orchestrator.persistence import open_store
from tests.fakes.answers import Answers
from tests.fakes.executor import FakeExecutor, SynthesizingExecutor, WaitingExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import build as build_run
from tests.fakes.runs import failure_kind
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor, go_on, missed

ONE = ["one"]
ONCE = RetryPolicy(transport={"max_attempts": 1})
OUTAGE = ConnectionError("the judge is away")
WRONG_KEY = ValueError("no key")
WAY_ON = "; `resume` judges it again and executes nothing"


def build(plan=ONE, executor=None, monitor=None, **options):
    options = {"checkpointer": InMemorySaver(), "retry_policy": ONCE, **options}
    executor = executor or FakeExecutor()
    return build_run(executor, monitor, plan, **options), executor


def told(state):
    records = (*state["results"], *state["synthesis"])
    return [(each["step"], each["attempt"], each["status"]) for each in records]


def by_step(**errors):
    def judge(objective, result):
        if (error := errors.pop(objective, None)) is not None:
            raise error
        return accept()

    return FakeMonitor(judge)


def failing_check():
    answers = Answers((ZeroDivisionError("a mistake"), True), bool)

    @check
    def is_good(context):
        return answers.next()

    return {"checks": [is_good]}


def failing_contract():
    """A contract function that raises at its second call, after the execution."""
    contract = EvaluationContract(required_content=[{"text": "done"}])
    answers = Answers((contract, ValueError("a mistake"), contract), dict)
    return {"step_contract": lambda step, index: answers.next()}


def slow_once():
    seconds = iter([3600])

    async def evaluate(objective, result):
        await asyncio.sleep(next(seconds, 0))
        return accept()

    return SimpleNamespace(evaluate=evaluate)


def supervised(*verdicts, **options):
    executor = SpeakingExecutor(said=[missed(), missed()])
    return {"supervision": "llm", "supervisor": FakeSupervisor(*verdicts), "executor": executor, **options}


class LateOnce(SpeakingExecutor):
    late = 1.0

    def assess_step(self, *args):
        seconds, self.late = self.late, 0.0
        time.sleep(seconds)
        return missed()


CASES = {
    "a wrong key of the judge": (lambda: {"monitor": FakeMonitor(WRONG_KEY, accept())}, "monitor_error"),
    "an outage of the judge": (lambda: {"monitor": FakeMonitor(OUTAGE, accept())}, "needs_review"),
    "an unreadable judge": (lambda: {"monitor": FakeMonitor("?", "?", accept())}, "needs_review"),
    "a late judge": (lambda: {"monitor": slow_once(), "call_timeout": 0.5}, "timeout"),
    "a check that raises": (failing_check, "needs_review"),
    "a contract function that raises": (failing_contract, "contract_error"),
    "a supervisor that raises": (lambda: supervised(WRONG_KEY, go_on()), "supervisor_error"),
    "a late self-assessment": (lambda: supervised(executor=LateOnce(), call_timeout=0.5), "timeout"),
}


def test_a_run_is_judged_again_whatever_kept_it_from_being_judged(subtests):
    for name, (options, kind) in CASES.items():
        with subtests.test(name):
            orchestrator, executor = build(**options())
            failed = orchestrator.run("x", "t")
            assert (failed["failure"]["kind"], failed["failure"]["message"].endswith(WAY_ON)) == (kind, True)

            state = orchestrator.resume("t")

            assert (state["status"], told(state)) == ("success", [("one", 1, "validated")])
            assert (len(executor.calls), state["failure"], state["attempts"]) == (1, None, 0)


def test_the_steps_after_the_judged_one_are_executed():
    orchestrator, executor = build(["one", "two"], monitor=by_step(one=WRONG_KEY))
    orchestrator.run("x", "t")

    state = asyncio.run(orchestrator.aresume("t"))

    assert (state["status"], [call.step for call in executor.calls]) == ("success", ["one", "two"])
    assert executor.calls[1].context == "Step 1: one\nResult: one done"


def test_a_refusal_at_the_second_judging_leads_to_a_retry_with_its_feedback():
    monitor = FakeMonitor(refuse("first"), WRONG_KEY, refuse("too long"), accept())
    orchestrator, executor = build(monitor=monitor)
    orchestrator.run("x", "t")

    state = orchestrator.resume("t")

    assert told(state) == [("one", 1, "failed"), ("one", 2, "failed"), ("one", 3, "validated")]
    assert (len(executor.calls), state["retries"]["semantic"]) == (3, 2)


def test_the_final_answer_is_judged_again():
    executor = SynthesizingExecutor()
    orchestrator, _ = build(["one", "two"], executor, by_step(x=WRONG_KEY))
    failed = orchestrator.run("x", "t")

    state = orchestrator.resume("t")

    assert failed["failure"]["message"] == f"final answer: ValueError: no key{WAY_ON}"
    assert (state["status"], state["output"], len(executor.requests)) == ("success", "x answered", 1)
    assert told(state)[2:] == [("x", 1, "validated")]


def test_the_self_assessment_is_kept_and_the_supervisor_is_asked_again():
    executor, supervisor = SpeakingExecutor(said=[missed()]), FakeSupervisor(WRONG_KEY, go_on())
    orchestrator, _ = build(executor=executor, supervision="llm", supervisor=supervisor)
    failed = orchestrator.run("x", "t")

    state = orchestrator.resume("t")

    first, second = (each["results"][0]["supervision"]["assessment"] for each in (failed, state))
    assert (state["status"], first is not None, second) == ("success", True, first)


def test_a_run_can_be_judged_again_until_it_is_judged():
    orchestrator, executor = build(monitor=FakeMonitor(WRONG_KEY, WRONG_KEY, accept()))
    orchestrator.run("x", "t")

    second, third = orchestrator.resume("t"), orchestrator.resume("t")

    assert (failure_kind(second), third["status"], len(executor.calls)) == ("monitor_error", "success", 1)
    with pytest.raises(ResumeError, match="has ended as 'success'"):
        orchestrator.resume("t")


ENDS = {
    "all attempts": ({"monitor": FakeMonitor(*[refuse()] * 3)}, "attempts_exhausted"),
    "the executor": ({"executor": FakeExecutor(ValueError("no"))}, "executor_error"),
    "a timeout of the executor": ({"executor": WaitingExecutor(), "call_timeout": 0.3}, "timeout"),
    "what it rests on": ({"require": "checked"}, "unverified"),
}


def test_a_run_that_ended_for_another_reason_is_refused(subtests):
    for name, (options, kind) in ENDS.items():
        with subtests.test(name):
            orchestrator, _ = build(**options)
            failed = orchestrator.run("x", "t")

            with pytest.raises(ResumeError, match="thread 't' has ended as 'failed'; start a new run"):
                orchestrator.resume("t")
            assert (failed["failure"]["kind"], WAY_ON in failed["failure"]["message"]) == (kind, False)


def test_what_the_first_judging_used_stays_counted_and_an_answer_to_no_question_is_refused():
    orchestrator, _ = build(monitor=FakeMonitor(WRONG_KEY, accept()))
    failed = orchestrator.run("x", "t")

    with pytest.raises(ResumeError, match="has no question that waits"):
        orchestrator.resume("t", {"answer": "approve"})
    orchestrator.cancel("t")
    state = orchestrator.resume("t")

    assert (failed["judge_calls"]["made"], state["judge_calls"]["made"]) == (1, 2)
    assert state["usage"]["latency_ms"] > failed["usage"]["latency_ms"]


def test_another_process_judges_the_run_again_under_the_same_safeguards(tmp_path):
    budget, monitor = Budget(max_seconds=60), FakeMonitor(WRONG_KEY, accept())
    with open_store(tmp_path / "runs") as store:
        build(monitor=monitor, checkpointer=store, budget=budget)[0].run("x", "t")
    with open_store(tmp_path / "runs") as store:
        with pytest.raises(ResumeError, match="cannot go on with other settings: budget"):
            build(checkpointer=store)[0].resume("t")
        stored = store.history.show("t")
        orchestrator, executor = build(checkpointer=store, budget=budget)

        assert (stored.summary.status, stored.summary.judged_again) == ("failed", True)
        assert (orchestrator.resume("t")["status"], executor.calls) == ("success", [])
        assert [run.judged_again for run in store.history.runs()] == [False]


class FailingSaver(InMemorySaver):
    puts = 0

    def put(self, config, checkpoint, metadata, new_versions):
        FailingSaver.puts += 1
        if FailingSaver.puts == 4:
            raise OSError("the disk is full")
        return super().put(config, checkpoint, metadata, new_versions)


def test_a_run_whose_store_failed_after_the_judging_is_judged_again():
    orchestrator, executor = build(checkpointer=FailingSaver())
    with pytest.raises(OSError, match="the disk is full"):
        orchestrator.run("x", "t")

    assert (orchestrator.resume("t")["status"], len(executor.calls)) == ("success", 1)


def test_a_judging_that_is_interrupted_is_taken_up_again_by_a_further_resume():
    async def evaluate(objective, result):
        if (answer := answers.pop(0)) == "interrupt":
            orchestrator.interrupt("t")
            await asyncio.sleep(10)
        if answer == "raise":
            raise WRONG_KEY
        return accept()

    answers = ["raise", "interrupt", "accept"]
    orchestrator, executor = build(monitor=SimpleNamespace(evaluate=evaluate))
    orchestrator.run("x", "t")

    stopped, state = orchestrator.resume("t"), orchestrator.resume("t")

    assert (stopped["status"], state["status"], len(executor.calls)) == ("executing", "success", 1)


def test_the_events_of_a_second_judging_begin_with_the_resumed_run_and_execute_nothing():
    orchestrator, _ = build(monitor=FakeMonitor(WRONG_KEY, accept()))
    orchestrator.run("x", "t")

    events = [type(event).__name__ for event in orchestrator.stream_resumed("t")]

    assert events == ["RunResumed", "StepJudged", "RunFinished"]
