import inspect
from concurrent.futures import ThreadPoolExecutor

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import ConfigurationError
from tests.fakes.interruption import interrupt_run
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import agent, call
from tests.fakes.runs import build as build_run
from tests.fakes.supervision import SpeakingExecutor

OTHERS = "give another thread_id, or replace=True to run in its place"


def build(saver, planner=None, executor=None, **options):
    return build_run(executor, plan=["one"], planner=planner, checkpointer=saver, **options)


def interrupt(saver):
    interrupt_run(lambda executor: build(saver, executor=executor), "x", "t")


def ask(saver):
    build(saver, executor=SpeakingExecutor(), supervision="human").run("x", "t")


SENTENCE = f"thread 't' has a run that has not ended; continue it with resume('t'), {OTHERS}"


def test_the_refusal_says_how_to_go_on(subtests):
    for prepare in (interrupt, ask):
        with subtests.test(prepare=prepare):
            saver = InMemorySaver()
            prepare(saver)
            planner = FakePlanner(["two"])

            with pytest.raises(ConfigurationError) as refusal:
                build(saver, planner, supervision="human", executor=SpeakingExecutor()).run("y", "t")
            assert (str(refusal.value), planner.tasks) == (SENTENCE, [])


async def test_every_method_refuses_before_anything_is_stored_and_replaces_on_purpose(subtests):
    for method in ("run", "arun", "stream", "astream"):
        with subtests.test(method=method):
            saver, config = InMemorySaver(), {"configurable": {"thread_id": "t"}}
            waiting = build(saver, executor=SpeakingExecutor(), supervision="human")
            await waiting.arun("x", "t")
            before = waiting.graph.get_state(config)

            with pytest.raises(ConfigurationError, match="replace=True"):
                await follow(getattr(waiting, method)("y", "t"))
            assert waiting.graph.get_state(config) == before

            await follow(getattr(build(saver), method)("y", "t", replace=True))
            state = waiting.graph.get_state(config).values
            assert (state["task"], state["status"], len(state["results"])) == ("y", "success", 1)


async def follow(started):
    if inspect.isawaitable(started):
        return await started
    return [event async for event in started] if inspect.isasyncgen(started) else list(started)


def test_of_several_runs_that_begin_at_once_on_a_thread_one_is_executed(backend):
    executor = SpeakingExecutor()
    with backend.open() as one, backend.open() as other, ThreadPoolExecutor(4) as pool:
        runs = [build(store.saver, executor=executor, supervision="human") for store in (one, other) * 2]
        started = [pool.submit(run.run, "x", "t") for run in runs]
        errors = [each.exception() for each in started]

    assert (len(executor.calls), errors.count(None)) == (1, 1)
    assert all(isinstance(error, ConfigurationError) for error in errors if error is not None)


@pytest.mark.parametrize(("answer", "told"), [("Noted.", "may have acted"), ("Sold.", "acted")])
def test_the_refusal_says_whether_the_effect_of_the_ended_run_is_known(answer, told):
    def sell(share: str) -> str:
        """Sell a share."""
        return answer

    executor = agent(call("sell", share="ACME"), "It is done.", tools=[sell])
    orchestrator = build(InMemorySaver(), executor=executor, acting_tools=["sell"])
    orchestrator.run("x", "t")

    with pytest.raises(ConfigurationError, match=f"a run whose tool 'sell' {told}, and a new run"):
        orchestrator.run("y", "t")
