"""A reply that repeats the fences of our own prompt is a failed check, never a result."""

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from tests.fakes.executor import FakeExecutor, SynthesizingExecutor
from tests.fakes.runs import run

MARK = "=====0123456789ab"


def repeat_prompt(messages):
    return messages[-1].text


def test_a_model_that_repeats_its_prompt_has_not_done_the_step():
    state = run(ExecutionAgent(ScriptedChatModel(repeat_prompt)), max_retries=0)

    assert (state["status"], state["failure"]["kind"]) == ("failed", "attempts_exhausted")
    assert "repeated_prompt" in state["failure"]["message"]
    assert "without the marked lines of the request" in state["results"][0]["verdict"]["feedback"]


def test_the_final_answer_is_checked_as_well():
    state = run(SynthesizingExecutor(written=(f"{MARK} results of the steps", "answer")))

    assert (state["output"], [record["status"] for record in state["synthesis"]]) == (
        "answer",
        ["failed", "validated"],
    )


def test_other_rules_and_hashes_are_ordinary_text(subtests):
    for text in [
        "Title\n=====\nText",
        "<<<<<<< ours\n=======\n>>>>>>> theirs",
        "=================0123456789ab",
        "sha 0123456789ab of =====",
        "=====0123456789abcdef",
        "a == b, a === b, x=====1",
        "== BEGIN your last output ==",
    ]:
        with subtests.test(text=text):
            assert run(FakeExecutor(text), plan=["one"])["status"] == "success"


def test_a_mark_that_the_user_wrote_may_be_quoted(subtests):
    for where in ["task", "step", "earlier result"]:
        with subtests.test(where=where):
            text = f"Explain the line {MARK} notes"
            if where == "earlier result":
                # A step that reads a log may quote it, and the next one may quote the step.
                state = run(FakeExecutor(f"{MARK} notes", "second"), plan=[text, "two"])
            else:
                state = run(
                    FakeExecutor(f"{MARK} notes"), plan=[text if where == "step" else "one"], task=text
                )

            assert state["status"] == "success"
