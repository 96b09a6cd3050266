"""Ctrl-C and requests to end during a run, in this process."""

import json
import os
import signal
import threading

import pytest

from tests.fakes.chat_server import plan, verdict

pytestmark = [
    pytest.mark.usefixtures("interruptible_children"),
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process"),
]
FINISH_S = 60


@pytest.fixture
def interrupted(cli, chat, slow):
    """Run a task, and send a signal when the slow answer is awaited."""

    def send(number):
        assert slow.asked.wait(FINISH_S)
        os.kill(os.getpid(), number)

    def run(*, by=signal.SIGINT, **script):
        thread = threading.Thread(target=send, args=[by])
        thread.start()
        ended = cli("run", "the task", "--model", "openai:scripted", "--json", env=chat(**script).environment)
        thread.join()
        return ended.exit_code, json.loads(ended.stdout)

    return run


WHEN = {
    "planning": (lambda slow: {"plans": [slow]}, 0),
    "executing": (lambda slow: {"plans": [plan("one step", "two step")], "steps": ["one", slow]}, 1),
    "judging": (lambda slow: {"plans": [plan("one step", "two step")], "verdicts": [slow]}, 1),
    "retrying": (lambda slow: {"steps": ["one", slow], "verdicts": [verdict(False, "bad")]}, 1),
}


@pytest.mark.parametrize("when", WHEN)
def test_ctrl_c_interrupts_the_run_and_keeps_its_results(interrupted, slow, when):
    script, records = WHEN[when]
    handler = signal.getsignal(signal.SIGINT)

    code, state = interrupted(**script(slow))

    assert (code, state["failure"]) == (130, None)
    assert state["status"] == ("planning" if when == "planning" else "executing")
    assert len(state["results"]) == records
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_other_requests_to_end_interrupt_the_run_as_ctrl_c_does(interrupted, slow, by):
    before = signal.signal(by, lambda *_: None)  # the default handler would end the tests
    code, state = interrupted(by=by, plans=[slow])
    signal.signal(by, before)

    assert (code, state["status"]) == (130, "planning")
