from types import MappingProxyType

from agents import TransportRetry
from orchestrator import RetryPolicy
from orchestrator.judging.judging_calls import read_verdict
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept
from tests.fakes.runs import run as run_agents

UNREADABLE = {"success": False, "feedback": "Failed to parse monitoring response: hmm"}
AT_ONCE = TransportRetry(max_attempts=3, initial_seconds=0)


def run(monitor, executor=None, plan=("one", "two"), **options):
    options.setdefault("retry_policy", RetryPolicy(transport=AT_ONCE))
    return run_agents(executor, monitor, plan, **options)


def test_an_answer_that_is_unreadable_or_late_is_asked_for_again_without_a_new_execution(subtests):
    for answers in [
        *([lambda *_, said=said: said] for said in (UNREADABLE, {"success": True}, None)),
        [ConnectionError("refused")] * 2,
    ]:
        with subtests.test(answers=answers):
            executor, monitor = FakeExecutor(), FakeMonitor(*answers, accept())
            state = run(monitor, executor, ["one"])

            assert (state["status"], len(executor.calls)) == ("success", 1)
            assert len(monitor.calls) == len(answers) + 1


def test_a_judge_that_stays_unreadable_or_unreachable_ends_the_run_for_review(subtests):
    for monitor, asked in [
        (FakeMonitor(UNREADABLE), 2),
        (FakeMonitor({"success": True}), 2),
        (FakeMonitor(lambda *_: None), 2),
        (FakeMonitor(ConnectionError("refused")), 3),
    ]:
        with subtests.test(monitor=monitor):
            executor = FakeExecutor()
            state = run(monitor, executor)

            assert (len(executor.calls), len(monitor.calls)) == (1, asked)
            failure = state["failure"]
            assert (state["status"], failure["kind"], failure["step_index"]) == ("failed", "needs_review", 0)
            assert ("refused" in failure["message"]) == (asked == 3)
            assert [record["status"] for record in state["results"]] == ["needs_review"]


GOOD = {"success": True, "feedback": "good"}


def test_a_monitors_answer_is_read_as(subtests):
    for answer, verdict in [
        (GOOD, GOOD),
        ({**GOOD, "score": 1}, GOOD),
        (MappingProxyType(GOOD), GOOD),
        ({"success": False, "feedback": ""}, {"success": False, "feedback": ""}),
        ({"success": False, "feedback": "It Failed to parse monitoring response: x"},) * 2,
        ({"success": True, "feedback": "Failed to parse monitoring response: x"},) * 2,
        ({"success": False, "feedback": "Failed to parse monitoring response: x"}, None),
        ({"success": "true", "feedback": "good"}, None),
        ({"success": True, "feedback": None}, None),
        ({**GOOD, "verdict": "fail"}, None),
        ({}, None),
        ([GOOD], None),
        (True, None),
    ]:
        with subtests.test(answer=answer, verdict=verdict):
            assert read_verdict(answer) == verdict
