import pytest
from langgraph.checkpoint.memory import InMemorySaver

from evaluation import EvaluationContract
from orchestrator import ResumeError, RetryPolicy
from orchestrator.persistence import open_store
from tests.fakes.executor import FakeExecutor, PlainExecutor, SynthesizingExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import agent, build, call, failure_kind, stored_state

RESULTS = "Step 1: one\nResult: one done\n\nStep 2: two\nResult: two done"


def test_the_output_of_a_plan_of_one_step_is_its_result_and_costs_nothing_more():
    executor = SynthesizingExecutor()
    state = build(executor, plan=["one"]).run("the task")

    assert (state["output"], state["synthesis"], executor.requests) == ("one done", [], [])


def test_the_output_of_several_steps_is_written_from_their_results():
    executor = SynthesizingExecutor()
    state = build(executor).run("the task")

    assert (state["status"], state["output"]) == ("success", "the task answered")
    assert executor.requests == [("the task", RESULTS)]
    # The synthesis is no step.
    assert (state["plan"], len(state["results"]), state["current_step_index"]) == (["one", "two"], 2, 2)
    assert state["context"] == RESULTS
    [record] = state["synthesis"]
    assert (record["step_index"], record["step"], record["status"]) == (2, "the task", "validated")


def test_with_synthesis_an_executor_without_the_method_carries_out_an_instruction():
    executor = PlainExecutor()
    state = build(executor, synthesis=True).run("the task")

    told = "Write the final answer to this task, from the results so far:\nthe task"
    assert (executor.calls[-1].step, executor.calls[-1].context) == (told, RESULTS)
    assert state["output"].endswith("the task done")


def test_a_refused_answer_is_written_again_and_no_step_is_repeated():
    executor = SynthesizingExecutor(written=("draft", "final"))
    monitor = FakeMonitor(accept(), accept(), refuse("too short"), accept())
    state = build(executor, monitor).run("the task")

    assert (state["output"], len(executor.calls), len(executor.requests)) == ("final", 2, 2)
    assert [record["status"] for record in state["synthesis"]] == ["failed", "validated"]
    assert all(text in executor.requests[1][1] for text in (RESULTS, "draft", "too short"))
    assert (state["retries"]["semantic"], state["attempts"]) == (1, 0)


def test_an_answer_that_is_refused_to_the_end_fails_the_run_without_output():
    monitor = FakeMonitor(accept(), accept(), refuse("too short"))
    policy = RetryPolicy(max_retries=1, max_replans=3)
    state = build(SynthesizingExecutor(), monitor, retry_policy=policy).run("the task")

    assert (state["status"], state["output"], len(state["results"])) == ("failed", None, 2)
    assert (state["current_step_index"], state["attempts"], state["retries"]["replans"]) == (2, 2, 0)
    assert state["failure"] == {
        "kind": "attempts_exhausted",
        "message": "final answer: refused 2 times, max_retries is 1: too short",
        "step_index": None,
        "error_type": None,
    }


class Killed(BaseException):
    """Ends a run as a killed process does."""


def run_until_killed(saver, place="writing"):
    """Run the task in a process that ends as its answer is written, or before it is judged."""

    def kill(event):
        if getattr(event, "step_index", None) == 2 and place == "writing":
            raise Killed
        if place == "judging" and type(event).__name__ == "StepExecuted" and event.record["step_index"] == 2:
            raise Killed

    with pytest.raises(Killed):
        build(SynthesizingExecutor(), checkpointer=saver, hooks=(kill,)).run("the task", "t")


@pytest.mark.parametrize("place", ["writing", "judging"])
def test_a_run_that_was_killed_at_its_answer_goes_on_there(tmp_path, place):
    with open_store(tmp_path / "runs.sqlite") as store:
        run_until_killed(store.saver, place)
        executor = SynthesizingExecutor()
        before = store.history.show("t").state
        state = build(executor, checkpointer=store.saver).resume("t")
        shown = store.history.show("t").state

    assert (before["status"], before["output"], before["current_step_index"]) == ("executing", None, 2)
    assert (state["output"], executor.calls) == ("the task answered", [])
    assert shown == state


def test_a_run_that_was_killed_at_its_answer_is_refused_where_none_is_written():
    saver, executor = InMemorySaver(), FakeExecutor()
    run_until_killed(saver)

    with pytest.raises(ResumeError, match="this orchestrator writes no final answer; use the synthesis"):
        build(executor, checkpointer=saver).resume("t")
    assert executor.calls == []


def test_a_fork_at_the_answer_writes_it_anew_and_repeats_no_step():
    executor = SynthesizingExecutor(written=("first", "second"))
    orchestrator = build(executor, checkpointer=InMemorySaver())
    orchestrator.run("the task", "t")
    forked = orchestrator.fork("t", 2, "new")

    assert (forked["status"], forked["output"], len(executor.calls)) == ("success", "second", 2)
    assert executor.requests == [("the task", RESULTS)] * 2


def ask_about_answer(executor):
    """A run that waits for a person after its written answer was refused."""
    monitor = FakeMonitor(accept(), accept(), refuse("too long"), accept())
    policy = RetryPolicy(strategies=[{"use": "ask_human"}])
    orchestrator = build(executor, monitor, retry_policy=policy, checkpointer=InMemorySaver())
    return orchestrator, orchestrator.run("the task", "thread")["question"]


def test_a_person_decides_about_a_refused_answer(subtests):
    for answer, ended in [
        ({"answer": "approve"}, ("success", "draft", 1)),
        ({"answer": "correct", "text": "be brief"}, ("success", "final", 2)),
        ({"answer": "deny", "text": "no"}, ("failed", None, 1)),
    ]:
        with subtests.test(answer=answer):
            orchestrator, question = ask_about_answer(SynthesizingExecutor(written=("draft", "final")))
            state = orchestrator.resume("thread", answer)

            assert (question["step_index"], question["step"]) == (2, "the task")
            assert (state["status"], state["output"], len(state["synthesis"])) == ended
            assert (len(state["results"]), state["context"]) == (2, RESULTS)


def test_an_answer_that_waits_for_a_person_is_cancelled_and_reported():
    orchestrator, _ = ask_about_answer(SynthesizingExecutor())
    orchestrator.cancel("thread")
    state = stored_state(orchestrator)

    assert (failure_kind(state), len(state["results"]), state["output"]) == ("cancelled", 2, None)
    assert [record["report"]["status"] for record in state["synthesis"]] == ["failed"]


def test_a_final_output_in_which_a_reader_sees_nothing_is_no_success(subtests):
    for blank in ["", " \n\t", "\u200b", "\ufeff\u2060", "\u3164", "\x00"]:
        for contract in [None, "from_task"]:
            with subtests.test(blank=blank, contract=contract):
                state = build(FakeExecutor(blank, "done"), plan=["one"], contract=contract).run("Greet")

                assert [record["status"] for record in state["results"]] == ["failed", "validated"]
                assert "Use at least 1 word; the text is empty." in state["results"][0]["verdict"]["feedback"]
                assert state["output"] == "done"


def test_a_contract_that_asks_for_calls_accepts_a_blank_output():
    def send() -> str:
        """Send the invitation."""
        return "sent"

    executor, contract = agent(call("send"), " ", tools=[send]), EvaluationContract(must_call=["send"])
    state = build(executor, plan=["one"], contract=contract).run("x")

    assert (state["status"], state["basis"]) == ("success", "unverified")
    assert state["evidence"] == {"form": "nothing", "content": "nothing", "actions": "code"}
