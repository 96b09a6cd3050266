import asyncio
import re
import threading

import pytest

from evaluation.checks import CheckContext, CheckOutcome
from evaluation.checks.contract_checks import check
from evaluation.errors import ContractError

HELLO = CheckContext("Hello you", "Greet the reader")


@pytest.mark.parametrize(
    "result", [None, 1, 0, "yes", re.match("a", "a"), CheckOutcome(1), CheckOutcome(True, 7)]
)
def test_any_other_result_is_an_error(result):
    outcome = check(lambda context: result).evaluate(HELLO)

    assert (outcome.passed, outcome.is_error) == (None, True)
    assert "has no result: it " in outcome.sentence


def test_an_outcome_that_is_an_error_is_never_a_pass():
    outcome = check(lambda _: CheckOutcome(True, "the server is away", is_error=True)).evaluate(HELLO)

    assert (outcome.passed, outcome.is_error) == (None, True)


def test_a_thread_that_takes_too_long_is_left_behind():
    let_go, ended = threading.Event(), []
    slow = check(timeout=0.05)(lambda context: let_go.wait(60) and ended.append(context))
    outcome = slow.evaluate(HELLO)

    assert (outcome.passed, outcome.is_error, ended) == (None, True, [])
    assert outcome.seen == "it took more than 0.05 s"
    let_go.set()


def test_an_async_function_that_takes_too_long_is_cancelled():
    cancelled = []

    @check(timeout=0.05)
    async def waits(context):
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.append(True)

    assert waits.evaluate(HELLO).is_error
    assert cancelled


async def test_cancelling_the_evaluation_cancels_the_function():
    ended = asyncio.Event()

    @check
    async def waits(context):
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    evaluation = asyncio.create_task(waits.aevaluate(HELLO))
    await asyncio.sleep(0.01)
    evaluation.cancel()
    with pytest.raises(asyncio.CancelledError):
        await evaluation
    await asyncio.wait_for(ended.wait(), 1)


def test_an_unusable_check_is_refused(subtests):
    for build, problem in [
        (lambda: check(lambda: True), "let its only required parameter be the context"),
        (lambda: check(lambda context, other: True), "let its only required parameter be the context"),
        (lambda: check(type("Greeting", (), {})), "give a function"),
        (lambda: check(name=" ")(lambda context: True), "the name of a check is blank; give a text"),
        (lambda: check(timeout=0)(lambda context: True), "timeout is 0; give a positive number of seconds"),
        (lambda: check(timeout=float("nan"))(lambda context: True), "timeout is nan"),
    ]:
        with subtests.test(build=build), pytest.raises(ContractError, match=problem):
            build()


def test_texts_of_an_outcome_are_bounded_and_can_be_stored():
    outcome = check(
        lambda _: CheckOutcome(False, seen="\ud800" + "x" * 10**5, evidence="\ud800" + "x" * 10**5)
    ).evaluate(CheckContext("a text"))

    assert max(len(outcome.seen), len(outcome.sentence), len(outcome.evidence)) <= 4100
    assert (outcome.seen + outcome.sentence + outcome.evidence).encode()
