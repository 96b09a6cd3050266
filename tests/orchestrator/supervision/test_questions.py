import re
from datetime import UTC, datetime

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import ResumeError, RetryPolicy, SupervisionPolicy
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept
from tests.fakes.runs import build, statuses, stored_state
from tests.fakes.supervision import SpeakingExecutor, missed
from tests.orchestrator.supervision.supervised_runs import APPROVE, CORRECT, DENY, DONE, start_human


def test_a_question_shows_each_problem_once_in_words():
    _, state = start_human(SpeakingExecutor("bad", said=[missed(concerns=["it may be old"])]), contract=DONE)
    findings, report = state["question"]["findings"], state["results"][0]["report"]

    assert findings[:2] == ["commitment not met", "concern: it may be old"]
    reasons = [alert["reason"] for alert in report["alerts"]]
    assert [finding.partition(": ")[2] for finding in findings[2:]] == reasons
    assert state["results"][0]["supervision"]["triggers"][0] == "commitment_not_met"


def test_approve_keeps_what_the_evaluation_said():
    orchestrator, _ = start_human(SpeakingExecutor("bad"), plan=["one"], contract=DONE)
    state = orchestrator.resume("thread", APPROVE)

    assert statuses(state) == ["validated"]
    assert state["results"][0]["report"]["status"] == "failed"
    assert state["results"][0]["verdict"]["success"] is False


def test_after_a_correction_the_step_is_checked_and_asked_about_again_and_who_answered_is_kept():
    executor = SpeakingExecutor("first", "second")
    orchestrator, _ = start_human(executor, plan=["one"])
    before = datetime.now(UTC)
    state = orchestrator.resume("thread", {**CORRECT, "answered_by": "Ada"})

    assert (state["question"]["attempt"], state["question"]["output"]) == (2, "second")
    assert [output for _, _, output in executor.assessments] == ["first", "second"]
    assert [record["report"]["status"] for record in state["results"]] == ["passed", "passed"]
    answer = dict(state["results"][0]["supervision"]["answer"])
    assert before <= datetime.fromisoformat(answer.pop("answered_at")) <= datetime.now(UTC)
    assert answer == {"answer": "correct", "text": "use fewer words", "answered_by": "Ada"}


ENDS = [
    (APPROVE, "success", ["validated"]),
    (DENY, "failed", ["failed"]),
    (CORRECT, "success", ["failed", "validated"]),
]


def test_a_step_without_a_verdict_is_a_persons_to_judge_by_choice(subtests):
    for answer, status, records in ENDS:
        with subtests.test(answer=answer, status=status, records=records):
            rules = [{"use": "feedback"}, {"use": "ask_human", "after": "unverified"}]
            options = {"supervision": "none", "retry_policy": RetryPolicy(strategies=rules), "plan": ["one"]}
            orchestrator, before = start_human(FakeExecutor(), FakeMonitor("hm", "hm", accept()), **options)
            state = orchestrator.resume("thread", answer)

            assert before["question"]["kind"] == "review"
            assert (state["status"], statuses(state)) == (status, records)


def test_cancelling_a_run_that_has_ended_or_an_unknown_one_changes_nothing():
    orchestrator, _ = start_human(plan=["one"])
    ended = orchestrator.resume("thread", APPROVE)
    orchestrator.cancel("thread")
    orchestrator.cancel("unknown")

    assert stored_state(orchestrator) == ended


def test_a_bad_answer_is_refused_with_the_reason_and_the_question_stays_open(subtests):
    orchestrator, before = start_human()
    for answer, fault in [
        ("deny", "the answer is 'deny'; give"),
        (["approve"], "the answer is ['approve']; give"),
        ({"answer": "Approve"}, "the answer is {'answer': 'Approve'}; give"),
        ({"answer": "deny"}, "has no 'text'"),
        ({"answer": "correct", "text": 3}, "is {'answer': 'correct', 'text': 3}; give"),
        ({"answer": "approve", "answered_by": 3}, "'answered_by': 3}; give"),
        ({"answer": "approve", "txt": "x"}, "'txt': 'x'}; give"),
        ({"answer": ["approve"]}, "is {'answer': ['approve']}; give"),
    ]:
        with subtests.test(answer=answer):
            with pytest.raises(ResumeError, match=rf"{re.escape(fault)}.*the question is still open"):
                orchestrator.resume("thread", answer)

            assert stored_state(orchestrator) == before


def test_a_question_stays_open_without_an_answer():
    executor = SpeakingExecutor()
    orchestrator, before = start_human(executor)
    question = before["question"]

    assert (before["status"], statuses(before)) == ("executing", ["pending_validation"])
    about = {"step_index": 0, "step": "one", "attempt": 1, "output": "one done"}
    shown = {"kind": "supervision", **about, "accepts": ["approve", "correct", "deny"]}
    assert shown.items() <= question.items()
    assert orchestrator.resume("thread") == stored_state(orchestrator) == before
    assert len(executor.calls) == 1
    assert orchestrator.resume("thread", APPROVE)["results"][0]["status"] == "validated"


def test_a_second_answer_that_names_its_question_does_not_answer_the_next():
    orchestrator, state = start_human()
    answer = {**APPROVE, "question": state["question"]["id"]}
    after = orchestrator.resume("thread", answer)
    with pytest.raises(ResumeError, match=r"the answer is for another question") as refused:
        orchestrator.resume("thread", answer)

    question = after["question"]
    assert f'the one that waits: step 2, attempt 1, "{question["text"]}"; ' in str(refused.value)
    assert question["id"] not in str(refused.value)
    assert stored_state(orchestrator) == after


def test_a_waiting_run_cannot_be_resumed_where_nobody_can_be_asked():
    saver = InMemorySaver()
    _, before = start_human(checkpointer=saver)
    nobody = SupervisionPolicy(human=False)
    other = build(SpeakingExecutor(), supervision_policy=nobody, checkpointer=saver)
    with pytest.raises(ResumeError, match="resume it with the supervision, the retry_policy"):
        other.resume("thread", APPROVE)

    assert before["status"] == "executing"
