"""The command line as a process: streams, terminals, encodings."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.orchestrator.cli.chat_server import plan, verdict

FINISH_S = 60


@pytest.fixture
def finished(process, chat):
    """Run a task to its end: exit status, standard output and error as bytes."""

    def run(*options, env=None, task="the task", **script):
        served = chat(**script)
        environment = {**served.environment, **(env or {})}
        running = process("run", task, "--model", "openai:scripted", *options, env=environment)
        stdout, stderr = running.communicate(timeout=FINISH_S)
        return running.returncode, stdout, stderr

    return run


@pytest.mark.parametrize(("success", "code"), [(True, 0), (False, 1)])
def test_the_process_exits_with_the_status_of_the_run(finished, success, code):
    assert finished("--max-retries", "0", verdicts=[verdict(success, "so it is")])[0] == code


def test_bad_input_exits_with_2_without_a_traceback(process):
    running = process("run", "", "--max-retries", "-1")
    stdout, stderr = running.communicate(timeout=FINISH_S)

    assert (running.returncode, stdout) == (2, b"")
    assert stderr.decode() == "orchestrator: task is ''; give a text that says what to do\n"


def test_standard_output_is_one_json_document_in_utf_8_whatever_the_locale(finished):
    hostile = "🌊 \x00\x1b[31m \x85 \u2028 العربية \n"

    _, stdout, _ = finished("--json", env={"PYTHONIOENCODING": "ascii"}, steps=[hostile])

    assert json.loads(stdout.decode("utf-8"))["results"][0]["result"].startswith("🌊 \x00\x1b[31m")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="arguments are text there")
def test_a_task_that_is_no_text_in_this_encoding_is_bad_input(process):
    running = process("run", b"a task \xff")
    stdout, stderr = running.communicate(timeout=FINISH_S)

    assert (running.returncode, stdout) == (2, b"")
    assert b"'a task \\udcff' holds bytes that are no text in utf-8" in stderr


def test_a_character_that_the_terminal_cannot_write_is_a_question_mark(finished):
    code, stdout, _ = finished(env={"PYTHONIOENCODING": "ascii"}, steps=["a 🌊 wave"])

    assert (code, stdout) == (0, b"Result\na ? wave\n")


class TestOnATerminal:
    @pytest.fixture
    def shown(self, process, chat):
        """Run a task on a terminal: exit status, and what the terminal was sent."""
        pty = pytest.importorskip("pty")

        def run(*options, env=None, when_started=lambda running: None, **script):
            ours, theirs = pty.openpty()
            environment = {**chat(**script).environment, "TERM": "xterm", "COLUMNS": "70", "LINES": "20"}
            running = process(
                *("run", "the task", "--model", "openai:scripted", *options),
                env={**environment, **(env or {})},
                stdin=theirs,
                stdout=theirs if "--json" not in options else subprocess.PIPE,
                stderr=theirs,
            )
            os.close(theirs)
            when_started(running)
            sent = read_all(ours)
            os.close(ours)
            return running.wait(FINISH_S), sent

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

    def test_an_interrupt_gives_the_cursor_back_and_prints_what_was_done(self, shown, interruptible_children):
        asked, over = threading.Event(), threading.Event()

        def slow():
            asked.set()
            over.wait(FINISH_S)
            return "late"

        def interrupt(running):
            assert asked.wait(FINISH_S)
            running.send_signal(signal.SIGINT)

        script = {"plans": [plan("first step", "second step")], "steps": ["a finished result", slow]}
        code, sent = shown(when_started=interrupt, **script)
        over.set()

        assert code == 1
        assert sent.rindex("\x1b[?25l") < sent.rindex("\x1b[?25h") < sent.index("(cancelled): ")
        assert "a finished result" in sent
        assert "Traceback" not in sent


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
