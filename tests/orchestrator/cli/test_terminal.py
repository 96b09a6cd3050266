import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper

import pytest

from orchestrator.cli.app import app
from orchestrator.persistence import open_store
from tests.fakes.chat_server import plan
from tests.fakes.runs import build

FINISH_S = 60
PERSON_S = 1
"""A signal that comes between the prompt and the read is noticed at the next one; a person is slower."""
RUN = ("run", "the task", "--planning", "always", "--model", "openai:scripted")
TERMINAL = {"TERM": "xterm", "COLUMNS": "70", "LINES": "20"}
PROMPT = "answer later): "

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")


@pytest.fixture
def on_terminal(environment, chat, monkeypatch):
    """Run a task on a terminal: exit status, and what the terminal received.

    `type_answers` gets the user's end of the terminal, in another thread.
    """
    ours, theirs = pytest.importorskip("pty").openpty()

    def run(*options, command=RUN, env=None, type_answers=lambda _: None, **script):
        for name, value in {**chat(**script).environment, **TERMINAL, **(env or {})}.items():
            monkeypatch.setenv(name, value)
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(lambda: (type_answers(ours), read_all(ours))[1])
            with (
                open(os.dup(theirs), encoding="utf-8") as stdin,
                open(theirs, "w", encoding="utf-8") as stream,
                redirect_stdout(stream if "--json" not in options else TextIOWrapper(BytesIO())),
                redirect_stderr(stream),
            ):
                monkeypatch.setattr("sys.stdin", stdin)
                with pytest.raises(SystemExit) as ended:
                    app([*command, *options])
            return ended.value.code, reading.result(FINISH_S)

    yield run
    os.close(ours)


def test_a_live_view_is_drawn_and_the_cursor_is_shown_again(on_terminal):
    code, output = on_terminal(plans=[plan("first step", "second step")])

    assert code == 0
    # What a frame shows depends on time.
    assert output.count("\x1b[?25l") == output.count("\x1b[?25h") == 1
    assert output.index("\x1b[?25l") < output.index("\x1b[?25h") < output.rindex("the result")


def test_a_long_task_is_cut_at_the_edge_of_the_terminal(on_terminal, stored_runs):
    _, output = on_terminal(command=("runs", "--db", str(stored_runs)), env={"NO_COLOR": "1"})
    *_, line = output.splitlines()

    assert line.endswith("…")
    assert len(line.rpartition("\x1b[2K")[-1]) <= int(TERMINAL["COLUMNS"])


@pytest.fixture
def stored_runs(db):
    with open_store(db) as store:
        build(plan=["one"], checkpointer=store).run("a long task " * 20, "t")
    return db


@pytest.mark.usefixtures("interruptible_children")
def test_ctrl_c_shows_the_cursor_again_and_prints_the_command_to_resume(on_terminal):
    over = threading.Event()

    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        over.wait(FINISH_S)
        return "late"

    steps = ["a finished result", interrupt]
    code, output = on_terminal(plans=[plan("first step", "second step")], steps=steps)
    over.set()

    assert code == 130
    assert output.rindex("\x1b[?25l") < output.rindex("\x1b[?25h") < output.index("continue with")
    assert "orchestrator resume " in output


@pytest.fixture
def ask_human(on_terminal, db):
    options = ("--supervise", "human", "--db", str(db), "--thread", "t")
    steps = ["the first result", "a better result"]
    return lambda answer: on_terminal(*options, type_answers=answer, steps=steps)


def test_a_question_is_asked_and_answered_on_the_terminal(ask_human):
    def correct_then_approve(terminal):
        read_until(terminal, PROMPT)
        os.write(terminal, b"c\n")
        read_until(terminal, "What should be done differently? ")
        os.write(terminal, b"make it better\n")
        assert "Step 1, attempt 2, waits for an answer" in read_until(terminal, PROMPT)
        os.write(terminal, b"a\n")

    code, output = ask_human(correct_then_approve)

    assert (code, "a better result" in output) == (0, True)


@pytest.mark.usefixtures("interruptible_children")
def test_ctrl_c_at_a_question_leaves_the_run_waiting(ask_human, cli, db):
    def interrupt(terminal):
        read_until(terminal, PROMPT)
        time.sleep(PERSON_S)
        os.kill(os.getpid(), signal.SIGINT)

    code, output = ask_human(interrupt)

    assert code == 3
    assert output.split("\r\n")[-2].startswith("orchestrator resume t --db ")
    assert "Step 1, attempt 1, waits for an answer" in cli("resume", "t", "--db", str(db)).stderr


def read_until(terminal, end):
    output = b""
    while end.encode() not in output:
        output += os.read(terminal, 65536)
    return output.decode()


def read_all(terminal):
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux reports a closed terminal this way
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)
