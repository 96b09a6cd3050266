import pytest

from evaluation import EvaluationContract, TaskCase
from orchestrator import ConfigurationError, LangGraphOrchestrator, ResumeError
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner, steps
from tests.orchestrator.runs.test_runs import APPROVE, build, cut_off_at


def other(opened, *answers, **options):
    executor = FakeExecutor(*answers)
    return build(opened, ["never planned"], executor, **options), executor


def results(state):
    return [record["result"] for record in state["results"]]


def test_a_fork_of_a_fork_from_before_it_began_is_refused(opened):
    build(opened, steps(3)).run("x", "thread")
    build(opened).fork("thread", 2, "new")
    assert results(build(opened, executor=FakeExecutor("other")).fork("new", 2, "newer"))[-1] == "other"

    with pytest.raises(ResumeError, match="'new' never reached step 1"):
        build(opened).fork("new", 0)


@pytest.mark.parametrize("step", [0, 1, 2])
def test_a_fork_keeps_what_was_before_the_step_and_does_the_rest_anew(opened, step):
    first = build(opened, steps(3)).run("x", "thread")
    forked, executor = other(opened, "a", "b", "c")
    state = forked.fork("thread", step, "new")

    assert results(state) == [*results(first)[:step], *["a", "b", "c"][: 3 - step]]
    assert (state["status"], state["task"], state["plan"]) == ("success", "x", first["plan"])
    assert [call.step for call in executor.calls] == first["plan"][step:]
    assert opened.history.show("new").state == state


async def test_a_run_that_was_cut_off_can_be_forked(opened):
    await cut_off_at(opened, "step 2")
    [*_, last] = [event async for event in other(opened)[0].astream_forked("thread", 1, "new")]

    assert results(last.state) == ["step 1 done", "step 2 done", "step 3 done"]


def test_a_fork_of_the_second_run_on_a_thread_has_nothing_of_the_first(opened):
    build(opened, ["a", "b"]).run("first", "thread")
    build(opened, ["c", "d"]).run("second", "thread", replace=True)
    state = other(opened)[0].fork("thread", 1, "new")

    assert (state["task"], results(state)) == ("second", ["c done", "d done"])


NO_FORKS = [
    (("thread", 3), ResumeError, r"'thread' never reached step 4 \(index 3 in Python\)"),
    (("thread", 2), ResumeError, r"never reached step 3 \(index 2 in Python\)"),
    (("nothing", 0), ResumeError, "thread 'nothing' is not in this store"),
    (("no plan", 0), ResumeError, "never reached step 1"),
    (("thread", 0, "no plan"), ResumeError, "thread 'no plan' is in use; give another name"),
    (("thread", -1), ConfigurationError, "step is -1; give the index of a step, from 0"),
    (("thread", "1"), ConfigurationError, "step is '1'"),
    (("thread", 0, " "), ConfigurationError, "thread_id is ' '"),
]


def test_what_cannot_be_forked_is_refused_and_nothing_is_stored(opened, subtests):
    build(opened, monitor=FakeMonitor(accept(), *[refuse()] * 3)).run("x", "thread")
    plan = FakePlanner(ValueError("no"))
    LangGraphOrchestrator(plan, FakeExecutor(), FakeMonitor(), checkpointer=opened.saver).run("y", "no plan")
    before = opened.history.runs()
    for arguments, error, sentence in NO_FORKS:
        with subtests.test(arguments=arguments), pytest.raises(error, match=sentence):
            other(opened)[0].fork(*arguments)

    assert opened.history.runs() == before


TASK = "Name a fruit. Use at most 2 words."
THREE_WORDS = EvaluationContract(checks=[{"check": "word_count", "min": 3}], complete=True)
LONG = TaskCase(task=TASK, contract=THREE_WORDS)


@pytest.mark.parametrize("begun", [{"contract": "from_task"}, {}])
def test_a_fork_is_checked_by_the_contract_that_it_states(opened, begun):
    build(opened, ["name it"], FakeExecutor("Apple"), **begun).run(TASK, "thread")
    refused, _ = other(opened, "Apple", contract=LONG, max_retries=0)
    accepted, _ = other(opened, "a red apple", contract=LONG)

    assert refused.fork("thread", 0, "new")["failure"]["kind"] == "attempts_exhausted"
    assert accepted.fork("thread", 0, "newer")["basis"] == "checked"


def test_a_run_goes_on_with_no_other_contract_than_its_own(opened):
    options = {"supervision": "human", "contract": "from_task"}
    build(opened, ["name it"], FakeExecutor("Apple"), **options).run(TASK, "thread")
    stated, _ = other(opened, **{**options, "contract": LONG})
    derived, _ = other(opened, **options)

    with pytest.raises(ResumeError, match="it has another contract than contract=; leave that out, or fork"):
        stated.resume("thread", APPROVE)
    assert derived.resume("thread", APPROVE)["status"] == "success"
