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
def interrupted(ask, slow):
    def send(number):
        assert slow.asked.wait(FINISH_S)
        os.kill(os.getpid(), number)

    def run(*, by=signal.SIGINT, **script):
        thread = threading.Thread(target=send, args=[by])
        thread.start()
        ended = ask("--json", **script)
        thread.join()
        return ended.exit_code, json.loads(ended.stdout)

    return run


WHEN = {
    "planning": (lambda slow: {"plans": [slow]}, 0),
    "executing": (lambda slow: {"plans": [plan("one step", "two step")], "steps": ["one", slow]}, 1),
    "judging": (lambda slow: {"plans": [plan("one step", "two step")], "verdicts": [slow]}, 1),
    "retrying": (lambda slow: {"steps": ["one", slow], "verdicts": [verdict(False, "bad")]}, 1),
}


OTHERS = [("planning", signal.SIGTERM), ("planning", signal.SIGHUP)]


@pytest.mark.parametrize(("when", "by"), [*((when, signal.SIGINT) for when in WHEN), *OTHERS])
def test_a_request_to_end_interrupts_the_run_and_keeps_its_results(interrupted, slow, when, by):
    script, records = WHEN[when]
    before = signal.getsignal(by)
    handler = before if by == signal.SIGINT else lambda *_: None  # the default would end the tests
    signal.signal(by, handler)

    code, state = interrupted(by=by, **script(slow))
    after = signal.signal(by, before)

    assert (code, state["failure"]) == (130, None)
    assert state["status"] == ("planning" if when == "planning" else "executing")
    assert len(state["results"]) == records
    assert after is handler
