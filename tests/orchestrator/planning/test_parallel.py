"""Steps that a plan says do not need each other run side by side, each by itself."""

import asyncio
import threading

from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from agents.testing import ScriptedChatModel
from orchestrator import Budget, RetryPolicy
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import build as build_run
from tests.fakes.runs import failure_kind, stored_state
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor, halt, met, missed


def step(text, *needs):
    return {"step": text, "needs": list(needs)}


BESIDE = [step("one"), step("two"), step("three")]
DIAMOND = [step("top"), step("left", 1), step("right", 1), step("end", 2, 3)]
TWO_ROWS = [step("a1"), step("a2", 1), step("b1"), step("b2", 3)]


def build(plan=BESIDE, executor=None, monitor=None, **options):
    return build_run(executor, monitor, plan, **options)


def run(*agents, **options):
    return build(*agents, **options).run("x")


def refusing(*steps, times=99):
    """A monitor that refuses the outputs of these steps, each so many times."""
    left = dict.fromkeys(steps, times)

    def judge(objective, result):
        if not left.get(objective):
            return accept()
        left[objective] -= 1
        return refuse(f"not {objective}")

    return FakeMonitor(judge)


def told(state):
    return [(record["step"], record["attempt"], record["status"]) for record in state["results"]]


class Meeting(FakeExecutor):
    """Each of its first calls ends only once so many are under way."""

    def __init__(self, parties):
        super().__init__()
        self._barrier = threading.Barrier(parties)

    def execute_step(self, step_description, context=""):
        self._barrier.wait(20)
        return super().execute_step(step_description, context)


class Crowd(FakeExecutor):
    """Notes how many of its calls were under way at once at the most."""

    def __init__(self):
        super().__init__()
        self.most = self._now = 0

    async def execute_step(self, step_description, context=""):
        self._now += 1
        self.most = max(self.most, self._now)
        for _ in range(50):
            await asyncio.sleep(0)
        self._now -= 1
        return f"{step_description} done"


# At once, and in order


def test_independent_steps_run_at_once():
    state = run(executor=Meeting(3))

    assert told(state) == [(name, 1, "validated") for name in ("one", "two", "three")]


def test_no_more_steps_run_at_once_than_is_configured(subtests):
    for bound in [1, 2, 3]:
        with subtests.test(bound=bound):
            crowd = Crowd()
            state = run([step(str(number)) for number in range(9)], crowd, max_parallel_steps=bound)

            assert (state["status"], crowd.most) == ("success", bound)


def test_a_step_begins_once_what_it_needs_is_validated():
    executor = FakeExecutor()
    state = run(DIAMOND, executor)
    order = [call.step for call in executor.calls]

    assert (order[0], set(order[1:3]), order[3]) == ("top", {"left", "right"}, "end")
    assert state["current_step_index"] == 4


# What a step is given


def test_a_step_is_given_the_results_that_it_needs_and_no_others(subtests):
    for plan, contexts in [
        (BESIDE, {"one": [], "two": [], "three": []}),
        (DIAMOND, {"top": [], "left": ["top"], "right": ["top"], "end": ["top", "left", "right"]}),
        (TWO_ROWS, {"a1": [], "a2": ["a1"], "b1": [], "b2": ["b1"]}),
    ]:
        with subtests.test(plan=plan):
            executor = FakeExecutor()
            run(plan, executor)

            assert {
                call.step: [
                    line.removeprefix("Result: ").removesuffix(" done")
                    for line in call.context.splitlines()[1::3]
                ]
                for call in executor.calls
            } == contexts


# Attempts and failures


def test_the_failure_of_one_step_keeps_the_others(subtests):
    for failing in ["one", "two", "three"]:
        with subtests.test(failing=failing):
            state = run(monitor=refusing(failing), max_retries=0)
            index = ["one", "two", "three"].index(failing)

            assert (failure_kind(state), state["failure"]["step_index"]) == ("attempts_exhausted", index)
            assert [status for _, _, status in told(state)].count("validated") == 2
            assert (state["current_step_index"], state["attempts"]) == (index, 1)


def test_a_halt_begins_nothing_more(subtests):
    for bound in [1, 3]:
        with subtests.test(bound=bound):
            executor = SpeakingExecutor(said=[lambda step, *_: missed() if step == "one" else met()])
            state = run(
                executor=executor,
                monitor=refusing("two", times=9),
                max_retries=9,
                supervision=lambda step, index: "llm" if step == "one" else "none",
                supervisor=FakeSupervisor(halt("stop it all")),
                max_parallel_steps=bound,
            )

            assert (failure_kind(state), state["failure"]["step_index"]) == ("halted", 0)
            assert state["failure"]["message"].endswith("stop it all")
            assert len(executor.calls) < 10
            assert bound > 1 or [call.step for call in executor.calls] == ["one"]


# New plans


def test_a_step_out_of_retries_has_the_rest_planned_anew_and_keeps_what_stands():
    planner = FakePlanner(DIAMOND, [step("other"), step("last", 1)])
    executor = FakeExecutor()
    options = {"planner": planner, "max_retries": 0, "retry_policy": RetryPolicy(max_replans=1)}
    state = run((), executor, refusing("left"), **options)

    assert (state["status"], state["replaced"]) == ("success", [1, 3])
    assert told(state) == [
        ("top", 1, "validated"),
        ("left", 1, "failed"),
        ("right", 1, "validated"),
        ("other", 1, "validated"),
        ("last", 1, "validated"),
    ]
    assert "right done" in planner.tasks[1]
    assert "right done" in executor.calls[-1].context


# What is spent


class Calling(FakeExecutor):
    """Asks a model, so many times a step."""

    def __init__(self, model, calls=1):
        def executed(step, context):
            return [model.invoke(step).text for _ in range(calls)][-1]

        super().__init__(executed)


def model():
    return ScriptedChatModel(lambda messages: "out", usage=(3, 1))


def test_steps_side_by_side_never_exceed_the_budget_together(subtests):
    for bound in range(1, 8):
        for at_once in [1, 8]:
            with subtests.test(bound=bound, at_once=at_once):
                asked = model()
                state = run(
                    [step(str(number)) for number in range(4)],
                    Calling(asked, calls=2),
                    budget=Budget(max_model_calls=bound),
                    max_parallel_steps=at_once,
                )

                assert len(asked.prompts) == bound
                assert (failure_kind(state), state["usage"]["model_calls"]) == ("budget_exceeded", bound)


def needed_before(number):
    return st.sets(st.integers(1, number), max_size=2) if number else st.just(set())


plans = st.integers(1, 5).flatmap(lambda count: st.tuples(*map(needed_before, range(count))))


@settings(max_examples=15)
@given(plans, st.lists(st.sampled_from([accept(), accept(), refuse(), "hm"]), min_size=1, max_size=8))
def test_whatever_is_needed_and_judged_a_step_runs_only_after_what_it_needs(needs, verdicts):
    executor = FakeExecutor()
    orchestrator = build(
        [step(str(number), *needed) for number, needed in enumerate(needs, 1)],
        executor,
        FakeMonitor(*verdicts),
        max_retries=1,
        checkpointer=InMemorySaver(),
    )
    state = orchestrator.run("x", "thread")
    standing = {record["step_index"] for record in state["results"] if record["status"] == "validated"}
    keys = [(record["step_index"], record["attempt"]) for record in state["results"]]

    assert stored_state(orchestrator) == state
    assert keys == sorted(keys)
    assert all({one - 1 for one in needs[index]} <= standing for index, _ in keys)
    assert (state["status"] == "success") == (len(standing) == len(needs))
