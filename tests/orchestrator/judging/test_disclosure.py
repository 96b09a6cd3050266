from itertools import chain, cycle, islice, product

from hypothesis import given
from hypothesis import strategies as st

from evaluation import EvaluationContract
from evaluation.contract.requirements import Contract
from orchestrator import RetryPolicy
from orchestrator.judging.feedback import read_expectations
from orchestrator.retry import FeedbackRule
from tests.fakes.executor import CorrectingExecutor, ExecutorCall, FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import run
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor, reorient

TURN = RetryPolicy(strategies=[FeedbackRule(last_output="turn")])


def refused_run(contract, executor, monitor=None, task="What does the lamp cost?", step="Find it", **options):
    contract = EvaluationContract.model_validate(contract)
    return run(executor, monitor, [step], task=task, contract=contract, **options)


ANSWERS = [
    ({"required_content": [{"number": 12.5}]}, ["12.5"]),
    ({"required_content": [{"number": 1250, "tolerance": 5}]}, ["1250", "1,250", "1245", "1255"]),
    ({"required_content": [{"text": "twelve euros"}]}, ["twelve", "euros"]),
    ({"required_content": [{"pattern": r"12\.5 EUR"}]}, ["12.5", "12\\", "EUR"]),
    ({"required_content": [{"json_schema": {"anyOf": [{"const": 12.5}]}}]}, ["12.5"]),
    ({"reference_output": "The lamp Orion costs 12.5 euros."}, ["12.5", "Orion", "euros"]),
    ({"expected_trajectory": [{"name": "look_up", "args": {"item": "Orion"}}]}, ["look_up", "Orion"]),
    ({"checks": [{"check": "one_of", "options": ["yes", "no"]}]}, ["yes"]),
    ({"checks": [{"check": "regex", "pattern": r"12\.5 EUR"}]}, ["12.5", "12\\", "EUR"]),
    ({"checks": [{"check": "schema", "json_schema": {"const": "Orion"}}]}, ["Orion"]),
    ({"checks": [{"check": "states_number", "number": 1250, "tolerance": 5}]}, ["1250", "1245"]),
    ({"checks": [{"check": "contains", "texts": ["Orion"], "quote": "no words of the task"}]}, ["Orion"]),
]


def test_a_retry_is_not_told_the_answer(subtests):
    ways = cycle(product([CorrectingExecutor, FakeExecutor], ["turn", "none"]))
    for (contract, answers), (executor, last_output) in chain(
        zip(ANSWERS, ways, strict=False), product(ANSWERS[:1], islice(ways, 4))
    ):
        with subtests.test(contract=contract, answers=answers, executor=executor, last_output=last_output):
            fake, rule = executor("9"), FeedbackRule(last_output=last_output)
            anew = FeedbackRule(after="unverified", last_output=last_output)
            state = refused_run(contract, fake, retry_policy=RetryPolicy(strategies=[rule, anew]))
            told = " ".join(f"{call.step} {call.feedback} {call.context}" for call in fake.calls[1:])

            assert state["status"] == "failed"
            assert any(text in told for text in ("[not shown]", "output", "Keep to these requirements"))
            assert [answer for answer in answers if answer in told] == []


def test_people_see_the_whole_feedback():
    state = refused_run({"required_content": [{"number": 12.5}]}, CorrectingExecutor("9"))
    record = state["results"][0]

    assert "12.5" in record["verdict"]["feedback"]
    assert "12.5" in state["failure"]["message"]
    assert "12.5" not in record["feedback"]


def test_what_the_task_or_the_step_says_is_quoted(subtests):
    for task, step in [("Say 12.5 euros", "go"), ("go", "Say 12.5 euros")]:
        with subtests.test(task=task):
            executor = CorrectingExecutor("9")
            contract = {"required_content": [{"number": 12.5}, {"text": "euros"}]}
            refused_run(contract, executor, task=task, step=step, retry_policy=TURN)

            assert "12.5" in executor.calls[1].feedback
            assert "euros" in executor.calls[1].feedback


def test_the_words_of_the_reference_are_masked_in_what_the_monitor_says():
    executor = CorrectingExecutor("9")
    words = "Too short. It costs 12.5, that is twelve and a half. Be polite!"
    contract = {"reference_output": "It is 12.5 euros", "subjective_criteria": ["clarity"]}
    refused_run(contract, executor, FakeMonitor(refuse(words), accept()))

    assert "costs [not shown], that" in executor.calls[1].feedback


def test_a_planner_is_not_told_the_answer_either():
    planner = FakePlanner(["Find the price"], ["Say it"])
    contract = EvaluationContract.model_validate({"required_content": [{"number": 12.5}]})
    options = {"contract": contract, "retry_policy": RetryPolicy(max_retries=0, max_replans=1)}
    run(FakeExecutor("9"), planner=planner, task="What does it cost?", **options)

    assert "12.5" not in planner.tasks[1]


def test_a_supervisor_that_repeats_its_request_does_not_tell_the_answer():
    # No time and no latency in the request has this number.
    executor = SpeakingExecutor("9")
    options = {"supervision": "llm", "supervisor": FakeSupervisor(lambda request: reorient(str(request)))}
    refused_run({"required_content": [{"number": 9173.25}]}, executor, **options)

    assert "[not shown]" in executor.calls[1].step
    assert "9173.25" not in executor.calls[1].step


def test_expected_words_and_numbers_are_masked(subtests):
    for text, masked in [
        ("the number 12.50 is missing", "the number [not shown] is missing"),
        ("the number 112.5 is wrong", "the number 112.5 is wrong"),
        ("say 'twelve euros' now", "say '[not shown]' now"),
        ("a dozen", "a dozen"),
    ]:
        with subtests.test(text=text):
            contract = {"required_content": [{"number": 12.5}, {"text": "twelve euros"}]}

            assert read_expectations(Contract.read(contract), "").mask(text) == masked


def told(checks, **texts):
    executor = CorrectingExecutor("9")
    refused_run({"checks": checks}, executor, retry_policy=TURN, **texts)
    return executor.calls[1].feedback


def test_a_text_that_the_task_states_is_shown(subtests):
    for texts in [
        {"task": "Write a letter with a   greeting."},
        {"step": "Begin with a Greeting"},
        {"task": "Say moin and tschüss"},
        {"task": "Say moin", "step": "and say tschüss, too"},
    ]:
        with subtests.test(texts=texts):
            check = {"check": "contains", "texts": ["Moin", "Tschüss"], "quote": "a greeting"}
            item = '- Include "Moin" and "Tschüss"; "Moin" and "Tschüss" are missing.'

            assert told([check], **texts).endswith(item)


def test_the_next_step_is_told_nothing_of_an_earlier_ones_refusal():
    executor = CorrectingExecutor()
    run(executor, FakeMonitor(refuse("no rhyme"), accept()), plan=["one", "two"])

    assert executor.calls[2].feedback is None
    assert "no rhyme" not in executor.calls[2].context


@given(draft=st.text(min_size=1), feedback=st.text(min_size=1))
def test_neither_output_nor_feedback_can_leave_its_fence(draft, feedback):
    # Of two steps: a blank output of the last one has a feedback of our own.
    executor = FakeExecutor(draft, "final", "end")
    run(executor, FakeMonitor(refuse(feedback), accept(), accept()), plan=["one", "two"])

    context = executor.calls[1].context
    mark = context.split(" ", 1)[0]
    assert mark not in draft + feedback
    assert context == (
        f"{mark} your last output\n{draft}\n{mark} end of your last output\n\n"
        f"{mark} why it was refused; correct that\n{feedback}\n{mark} end of why it was refused; correct that"
    )


def test_without_feedback_a_retry_is_the_first_call_again(subtests):
    for kind in [CorrectingExecutor, FakeExecutor]:
        with subtests.test(kind=kind):
            executor = kind("draft", "final")
            policy = RetryPolicy(strategies=[{"use": "resample"}])
            run(executor, FakeMonitor(refuse("no rhyme"), accept()), plan=["one"], retry_policy=policy)

            assert executor.calls == [ExecutorCall("one", ""), ExecutorCall("one", "")]
