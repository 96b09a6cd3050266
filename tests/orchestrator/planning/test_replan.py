from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import RetryPolicy
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import build as build_run
from tests.fakes.runs import failure_kind, statuses, stored_state


def build(planner=None, executor=None, monitor=None, *, policy=None, **options):
    options = {"max_retries": 0, "retry_policy": RetryPolicy(**(policy or {})), **options}
    return build_run(executor, monitor, ["one"], planner, **options)


def run(*agents, **options):
    return build(*agents, **options).run("x")


def refusing(*steps):
    return FakeMonitor(lambda objective, result: refuse("no") if objective in steps else accept())


# New plans


def test_a_step_that_is_out_of_retries_has_the_rest_planned_anew():
    planner = FakePlanner(["one", "two", "three"], ["four", "five"])
    state = run(planner, monitor=refusing("two"), max_retries=1, policy={"max_replans": 1})

    assert (state["status"], state["plan"]) == ("success", ["one", "two", "three", "four", "five"])
    assert state["replaced"] == [1, 2]
    assert [(record["step"], record["status"]) for record in state["results"]] == [
        ("one", "validated"),
        ("two", "failed"),
        ("two", "failed"),
        ("four", "validated"),
        ("five", "validated"),
    ]


def test_the_planner_is_told_the_task_what_stands_and_what_failed():
    planner = FakePlanner(["one", "two"], ["three"])
    run(planner, FakeExecutor("first", "second"), refusing("two"), policy={"max_replans": 1})
    told = planner.tasks[1]

    assert told.startswith("x\n")
    assert "Step 1: one\nResult: first" in told
    assert "step 2: refused once, max_retries is 0: no" in told


def test_a_new_plan_that_is_none_ends_the_run_with_what_was_done(subtests):
    plans = [([], "plan_invalid"), (ValueError("no"), "planner_error"), (["a"] * 9, "plan_invalid")]
    for second, kind in plans:
        with subtests.test(second=second):
            planner = FakePlanner(["one", "two"], second)
            state = run(planner, monitor=refusing("two"), policy={"max_replans": 3}, max_plan_steps=8)

            assert (failure_kind(state), statuses(state)) == (kind, ["validated", "failed"])


def test_the_steps_of_a_new_plan_are_given_what_stands():
    executor, planner = FakeExecutor(), FakePlanner(["one", "two"], ["a", "b"])
    state = run(planner, executor, refusing("two"), policy={"max_replans": 1})
    contexts = {call.step: call.context for call in executor.calls}

    assert (state["status"], state["replaced"]) == ("success", [1])
    assert contexts["a"] == "Step 1: one\nResult: one done"
    assert contexts["b"].startswith("Step 1: one\nResult: one done")
    assert "two" not in contexts["b"]


ANEW = [{"use": "feedback", "after": "unverified"}, {"use": "feedback"}]


# The three counters


@settings(max_examples=15)
@given(
    st.integers(0, 2),
    st.integers(0, 2),
    st.lists(st.sampled_from([accept(), refuse(), "hmm"]), min_size=1, max_size=12),
)
def test_whatever_the_monitor_says_the_bounds_hold(max_retries, replans, answers):
    planner, executor = FakePlanner(["one", "two"]), FakeExecutor()
    policy = {"max_replans": replans, "strategies": ANEW}
    options = {"max_retries": max_retries, "policy": policy, "checkpointer": InMemorySaver()}
    orchestrator = build(planner, executor, FakeMonitor(*answers), **options)
    state = orchestrator.run("x", "thread")

    assert len(planner.tasks) <= 1 + replans
    assert state["retries"]["replans"] == len(planner.tasks) - 1
    assert all(record["attempt"] <= 1 + max_retries for record in state["results"])
    assert stored_state(orchestrator) == state
    assert state["status"] in ("success", "failed")
