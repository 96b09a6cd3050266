"""Ctrl-C."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from agents.models.weights import find_weights
from orchestrator import LangGraphOrchestrator, RunStarted
from orchestrator.cli.interruption import end_on_ctrl_c, unless_interrupted
from orchestrator.cli.session import follow
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.orchestrator.cli.chat_server import plan, verdict

pytestmark = [
    pytest.mark.usefixtures("interruptible_children"),
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process"),
]
FINISH_S = 60


class Slow:
    """An answer that says when it is asked for, and comes when the test is over."""

    def __init__(self):
        self.asked = threading.Event()
        self.over = threading.Event()

    def __call__(self):
        self.asked.set()
        self.over.wait(FINISH_S)
        return "late"


@pytest.fixture
def slow():
    answer = Slow()
    yield answer
    answer.over.set()


@pytest.fixture
def interrupted(cli, chat, slow):
    """Run a task in this process, and interrupt it once the slow answer is waited for."""

    def run(*options, by=signal.SIGINT, **script):
        served = chat(**script)
        thread = threading.Thread(target=interrupt_when_asked, args=[slow, by])
        thread.start()
        ended = cli("run", "the task", "--model", "openai:scripted", *options, env=served.environment)
        thread.join()
        return ended

    return run


def interrupt_when_asked(slow, by):
    assert slow.asked.wait(FINISH_S)
    os.kill(os.getpid(), by)


WHEN = {
    "planning": (lambda slow: {"plans": [slow]}, 0),
    "executing": (lambda slow: {"plans": [plan("one step", "two step")], "steps": ["one", slow]}, 2),
    "judging": (lambda slow: {"plans": [plan("one step", "two step")], "verdicts": [slow]}, 1),
    "retrying": (lambda slow: {"steps": ["one", slow], "verdicts": [verdict(False, "bad")]}, 2),
}


@pytest.mark.parametrize("when", WHEN)
def test_an_interrupt_ends_the_run_as_cancelled_and_keeps_what_was_done(interrupted, slow, when):
    script, records = WHEN[when]

    ended = interrupted("--json", **script(slow))

    state = json.loads(ended.stdout)
    assert (ended.exit_code, state["status"], state["failure"]["kind"]) == (1, "failed", "cancelled")
    assert len(state["results"]) == records


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_keeps_what_was_done_as_ctrl_c_does(interrupted, slow, by):
    before = signal.signal(by, lambda *_: None)  # in place of the end of the tests
    ended = interrupted("--json", by=by, plans=[slow])
    signal.signal(by, before)

    assert (ended.exit_code, json.loads(ended.stdout)["failure"]["kind"]) == (1, "cancelled")


def test_an_interrupt_within_a_process_gives_its_handler_back(interrupted, slow):
    before = signal.getsignal(signal.SIGINT)

    interrupted(plans=[slow])

    assert signal.getsignal(signal.SIGINT) is before


def test_a_process_that_is_asked_to_end_prints_what_was_done_and_no_traceback(process, chat, slow):
    script = {"plans": [plan("one step", "two step")], "steps": ["a finished result", slow]}
    environment = chat(**script).environment

    running = process("run", "the task", "--model", "openai:scripted", env=environment)
    assert slow.asked.wait(FINISH_S)
    running.terminate()
    stdout, stderr = (stream.decode() for stream in running.communicate(timeout=FINISH_S))

    assert running.returncode == 1
    assert stdout.startswith("Failed (cancelled): step 2: interrupted by the user")
    assert "Done so far: 1 of 2 steps\n\nStep 1: one step (accepted)\na finished result" in stdout
    assert "Traceback" not in stdout + stderr


@pytest.fixture
def unserved_weights(tmp_path):
    """Weights that no server of this process has loaded."""
    pytest.importorskip("xllamacpp")
    if (found := find_weights()) is None:
        pytest.skip("no weights are on this machine")
    path = tmp_path / "weights.gguf"
    try:
        os.link(found.path, path)
    except OSError:  # on another file system
        shutil.copyfile(found.path, path)
    return path


def children():
    """The processes that the main thread has started."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def interrupt_after_start_of_a_child(before):
    deadline = time.monotonic() + FINISH_S
    while children() <= before and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the model's process in /proc")
def test_an_interrupt_while_the_model_is_built_is_a_cancelled_run_too(cli, unserved_weights):
    thread = threading.Thread(target=interrupt_after_start_of_a_child, args=[children()])
    thread.start()
    ended = cli("run", "the task", "--model", f"gguf:{unserved_weights}", "--max-retries", "4", "--json")
    thread.join()

    state = json.loads(ended.stdout)
    assert (ended.exit_code, state["failure"]["kind"], state["max_retries"]) == (1, "cancelled", 4)
    assert state["usage"]["model_calls"] == 0


MODULE = ("-m", "orchestrator")
SCRIPT = ("-c", "from orchestrator.cli.main import main; main()")  # what the installed command is


def interrupted_at_import(module, environment, *command):
    """Start a command and interrupt it as soon as it has imported a module."""
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", *command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert any(line.split()[-1] == module for line in running.stderr)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=FINISH_S)
    said = [line for line in stderr.splitlines() if not line.startswith("import time:")]
    return running.returncode, stdout, said


@pytest.mark.parametrize("module", ["typer.main", "langchain_core.messages", "langgraph.graph"])
@pytest.mark.parametrize("start", [MODULE, SCRIPT], ids=["module", "script"])
def test_an_interrupt_before_anything_began_is_one_line_and_exit_status_130(environment, start, module):
    ended = interrupted_at_import(module, environment, *start, "run", "the task")

    assert ended == (130, "", ["orchestrator: interrupted"])


def test_an_interrupt_while_a_models_library_is_imported_is_a_cancelled_run(environment, chat):
    environment = {**environment, **chat().environment}

    command = (*MODULE, "run", "the task", "--model", "openai:scripted", "--json")
    code, stdout, said = interrupted_at_import("openai.types", environment, *command)

    assert (code, json.loads(stdout)["failure"]["kind"], said) == (1, "cancelled", [])


def test_an_interrupt_that_a_library_swallows_still_ends_the_building():
    def swallow():
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return "made"

    assert unless_interrupted(swallow) is None


def test_an_interrupt_within_generated_code_does_not_change_the_exit_status(environment, tmp_path):
    # Python notes a KeyboardInterrupt there, and kills a process run by -m at its end, though it was caught.
    (tmp_path / "generating.py").write_text(
        "from orchestrator.cli.interruption import unless_interrupted\n"
        "generated = 'import signal; signal.raise_signal(signal.SIGINT)'\n"
        "raise SystemExit(1 if unless_interrupted(lambda: exec(generated)) is None else 0)\n"
    )
    environment = {**environment, "PYTHONPATH": str(tmp_path)}

    ended = subprocess.run([sys.executable, "-m", "generating"], env=environment, check=False)

    assert ended.returncode == 1


def test_a_command_whose_interrupts_are_ignored_keeps_ignoring_them():
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    end_on_ctrl_c()

    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_second_interrupt_ends_the_process_at_once():
    script = (
        "import signal, time\n"
        "from orchestrator.cli.interruption import interruptible\n"
        "with interruptible(lambda: print('first', flush=True)):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as running:
        for said in (b"ready\n", b"first\n"):
            assert running.stdout.readline() == said
            running.send_signal(signal.SIGINT)
        assert running.wait(FINISH_S) == -signal.SIGINT


def test_a_process_whose_interrupts_are_ignored_keeps_ignoring_them(chat, cli):
    served = chat(steps=[lambda: os.kill(os.getpid(), signal.SIGINT) or "the result"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    done = cli("run", "the task", "--model", "openai:scripted", env=served.environment)

    assert (done.exit_code, signal.getsignal(signal.SIGINT)) == (0, signal.SIG_IGN)


def test_an_interrupt_that_comes_between_two_calls_cancels_the_run():

    def show(event):
        if isinstance(event, RunStarted):
            signal.raise_signal(signal.SIGINT)

    orchestrator = LangGraphOrchestrator(FakePlanner(), FakeExecutor(), FakeMonitor())
    state = follow(orchestrator, lambda: orchestrator.astream("the task"), show)

    assert (state["failure"]["kind"], state["results"]) == ("cancelled", [])
