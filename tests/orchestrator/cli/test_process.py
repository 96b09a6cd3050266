"""The command line in its surroundings: processes, streams, terminals, encodings."""

import json
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app
from tests.orchestrator.cli.chat_server import plan

FINISH_S = 60
RUN = ("run", "the task", "--model", "openai:scripted")
TERMINAL = {"TERM": "xterm", "COLUMNS": "70", "LINES": "20"}


def test_standard_output_is_one_json_document_in_utf_8_whatever_the_locale(environment, chat):
    hostile = "🌊 \x00\x1b[31m \x85 \u2028 العربية \n"
    served = chat(steps=[hostile])

    done = CliRunner(charset="ascii", env=served.environment).invoke(app, [*RUN, "--json"])

    assert json.loads(done.stdout_bytes.decode("utf-8"))["results"][0]["result"].startswith("🌊 \x00\x1b[31m")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="arguments are text there")
def test_a_task_that_is_no_text_in_this_encoding_is_one_sentence_and_exit_status_2(process):
    running = process("run", b"a task \xff")
    stdout, stderr = running.communicate(timeout=FINISH_S)

    assert (running.returncode, stdout) == (2, b"")
    assert b"'a task \\udcff' holds bytes that are no text in utf-8" in stderr
    assert stderr.count(b"\n") == 1


def test_a_character_that_the_terminal_cannot_write_is_a_question_mark_and_the_exit_status_0(process, chat):
    served = chat(steps=["a 🌊 wave"])

    running = process(*RUN, env={**served.environment, "PYTHONIOENCODING": "ascii"})
    stdout, _ = running.communicate(timeout=FINISH_S)

    assert (running.returncode, stdout) == (0, b"Result\na ? wave\n")


def test_a_run_whose_progress_nobody_reads_any_more_goes_on_and_hands_over_its_result(process, chat):
    served = chat(plans=[plan("first step", "second step")])

    running = process(*RUN, "--json", env=served.environment)
    running.stderr.readline()
    running.stderr.close()
    document = json.loads(running.stdout.read())

    assert (running.wait(FINISH_S), document["status"], len(document["results"])) == (0, "success", 2)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_progress_that_cannot_be_written_does_not_end_the_run(process, chat):
    with open("/dev/full", "wb") as full:
        running = process(*RUN, "--json", env=chat().environment, stderr=full)
        stdout, _ = running.communicate(timeout=FINISH_S)

    assert (running.returncode, json.loads(stdout)["status"]) == (0, "success")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("command", [RUN, (*RUN, "--json"), ("doctor", "--json")])
def test_a_result_that_cannot_be_written_is_one_sentence_and_exit_status_1(process, chat, command):
    with open("/dev/full", "wb") as full:
        running = process(*command, env=chat().environment, stdout=full)
        _, stderr = running.communicate(timeout=FINISH_S)

    assert running.returncode == 1
    assert stderr.splitlines()[-1] == b"orchestrator: the result cannot be written: No space left on device"
    assert b"Traceback" not in stderr


class TestOnATerminal:
    @pytest.fixture
    def terminal(self):
        """Both ends of a terminal: ours, and the program's."""
        ours, theirs = pytest.importorskip("pty").openpty()
        yield ours, theirs
        os.close(ours)

    @pytest.fixture
    def shown(self, terminal, environment, chat, monkeypatch):
        """Run a task on a terminal, in this process: exit status, and what the terminal was sent."""
        ours, theirs = terminal

        def run(*options, env=None, **script):
            for name, value in {**chat(**script).environment, **TERMINAL, **(env or {})}.items():
                monkeypatch.setenv(name, value)
            with ThreadPoolExecutor(1) as pool:
                reading = pool.submit(read_all, ours)
                with (
                    open(theirs, "w", encoding="utf-8") as stream,
                    redirect_stdout(stream if "--json" not in options else TextIOWrapper(BytesIO())),
                    redirect_stderr(stream),
                    pytest.raises(SystemExit) as ended,
                ):
                    app([*RUN, *options])
                return ended.value.code, reading.result(FINISH_S)

        return run

    def test_a_live_view_is_drawn_and_the_cursor_is_given_back(self, shown):
        code, sent = shown(plans=[plan("first step", "second step")])

        assert code == 0
        assert "✓" in sent
        assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h") == 1
        assert sent.index("✓") < sent.index("\x1b[?25h") < sent.index("Result")

    def test_a_dumb_terminal_gets_lines(self, shown):
        _, sent = shown(env={"TERM": "dumb"})

        assert "step 1 of 1, attempt 1 executed" in sent
        assert "\x1b[?25l" not in sent

    def test_with_json_there_are_lines_on_the_terminal(self, shown):
        _, sent = shown("--json")

        assert "step 1 of 1, attempt 1 executed" in sent
        assert "\x1b[?25l" not in sent

    def test_a_warning_is_printed_above_the_view(self, shown):
        _, sent = shown(plans=["no plan"])

        assert sent.index("warning") < sent.index("✓")

    def test_an_interrupt_gives_the_cursor_back_and_prints_what_was_done(
        self, process, chat, terminal, interruptible_children
    ):
        asked, over = threading.Event(), threading.Event()

        def slow():
            asked.set()
            over.wait(FINISH_S)
            return "late"

        served = chat(plans=[plan("first step", "second step")], steps=["a finished result", slow])
        ours, theirs = terminal
        running = process(
            *RUN,
            env={**served.environment, **TERMINAL},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        assert asked.wait(FINISH_S)
        running.send_signal(signal.SIGINT)
        sent = read_all(ours)
        over.set()

        assert running.wait(FINISH_S) == 1
        assert sent.rindex("\x1b[?25l") < sent.rindex("\x1b[?25h") < sent.index("(cancelled): ")
        assert "a finished result" in sent
        assert "Traceback" not in sent

    @pytest.fixture
    def asked(self, process, chat, terminal, interruptible_children, tmp_path):
        """Run a supervised task in a process on a terminal up to its question: process, terminal, file."""
        ours, theirs = terminal
        db = tmp_path / "runs.sqlite"
        served = chat(steps=["the first result", "a better result"])
        running = process(
            *(*RUN, "--supervise", "human", "--db", str(db), "--thread", "t"),
            env={**served.environment, **TERMINAL},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        read_until(ours, "answer later): ")
        return running, ours, db

    def test_a_question_is_asked_and_answered_there(self, asked):
        running, ours, _ = asked

        os.write(ours, b"c\n")
        read_until(ours, "What is to be done otherwise? ")
        os.write(ours, b"make it better\n")
        again = read_until(ours, "answer later): ")
        os.write(ours, b"a\n")
        sent = read_all(ours)

        assert "Step 1, attempt 2, waits for an answer" in again
        assert (running.wait(FINISH_S), "a better result" in sent) == (0, True)

    def test_ctrl_c_at_a_question_leaves_the_run_waiting(self, asked, cli):
        running, ours, db = asked

        running.send_signal(signal.SIGINT)
        sent = read_all(ours)

        assert running.wait(FINISH_S) == 3
        assert sent.split("\r\n")[-2].startswith("orchestrator resume t --db ")
        assert "Traceback" not in sent
        again = cli("resume", "t", "--db", str(db), env={"OPENAI_API_KEY": "unused"})
        assert (again.exit_code, "Step 1, attempt 1, waits for an answer" in again.stdout) == (3, True)

    def test_the_end_of_the_input_at_a_question_leaves_the_run_waiting(self, asked):
        running, ours, _ = asked

        os.write(ours, b"\x04")
        sent = read_all(ours)

        assert (running.wait(FINISH_S), "orchestrator resume t" in sent) == (3, True)

    @pytest.mark.skipif(sys.platform == "win32", reason="terminals do not hang up there")
    def test_a_terminal_that_hangs_up_ends_the_run_and_the_result_is_in_its_file(
        self, process, chat, terminal, tmp_path
    ):
        asked, over = threading.Event(), threading.Event()

        def slow():
            asked.set()
            over.wait(FINISH_S)
            return "late"

        served = chat(plans=[plan("first step", "second step")], steps=["a finished result", slow])
        ours, theirs = terminal
        file = tmp_path / "result.json"
        with file.open("wb") as result:
            running = process(*RUN, "--json", env=served.environment, stdout=result, stderr=theirs)
        os.close(theirs)
        assert asked.wait(FINISH_S)
        # What the system does at a hang-up: nothing can be written any more, and the signal comes.
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), ours)
        running.send_signal(signal.SIGHUP)
        running.wait(FINISH_S)
        over.set()
        document = json.loads(file.read_bytes())

        assert document["failure"]["kind"] == "cancelled"
        assert document["results"][0]["result"] == "a finished result"


def read_until(terminal, end):
    """Everything up to a text that is waited for."""
    sent = b""
    while end.encode() not in sent:
        sent += os.read(terminal, 65536)
    return sent.decode()


def read_all(terminal):
    """Everything until the other side is closed."""
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other side is closed
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)
