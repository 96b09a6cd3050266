"""The command line in processes of its own: signals and broken streams."""

import os
import signal
import subprocess
import sys

import pytest

from tests.fakes.chat_server import plan

FINISH_S = 60
RUN = ("run", "the task", "--model", "openai:scripted")


@pytest.mark.soak
@pytest.mark.skipif(os.name == "nt", reason="a console of Windows is not a file")
def test_a_result_with_characters_that_the_terminal_lacks_is_printed(process, chat):
    server = chat(plans=[plan("first step", "second step")], steps=["a 🌊 wave"])

    running = process(*RUN, env={**server.environment, "PYTHONIOENCODING": "ascii"})
    output, _ = running.communicate(timeout=FINISH_S)

    assert (running.returncode, output) == (0, b"a ? wave\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_result_that_cannot_be_written_is_one_sentence_and_exit_status_1(process):
    with open("/dev/full", "wb") as full:
        running = process("--version", stdout=full.fileno())
        _, stderr = running.communicate(timeout=FINISH_S)

    told = b"orchestrator: reading or writing failed ([Errno 28] No space left on device)"
    assert (running.returncode, stderr.strip()) == (1, told)


def interrupt_at_import(number, module, environment, *command):
    """Start a command and send a signal as soon as it has imported a module."""
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", *command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert any(line.split()[-1] == module for line in running.stderr)
        running.send_signal(number)
        stdout, stderr = running.communicate(timeout=FINISH_S)
    messages = [line.strip() for line in stderr.splitlines() if not line.startswith("import time:")]
    return running.returncode, stdout, [message for message in messages if message]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
@pytest.mark.usefixtures("interruptible_children")
@pytest.mark.parametrize(
    ("number", "command", "module"),
    [
        (signal.SIGTERM, ("-m", "orchestrator"), "typer.main"),
        # What the installed command executes. The module is imported while the model is loaded.
        pytest.param(
            signal.SIGINT,
            ("-c", "from orchestrator.__main__ import main; main()"),
            "langchain_openai",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_signal_before_the_start_is_one_line_and_exit_status_130(environment, number, command, module):
    variables = {**environment, "OPENAI_API_KEY": "none"}
    ended = interrupt_at_import(number, module, variables, *command, "run", "the task", "--model", "openai:m")

    assert ended == (130, "", ["orchestrator: interrupted"])


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
@pytest.mark.usefixtures("interruptible_children")
def test_a_second_signal_ends_the_process_at_once():
    script = (
        "import signal, time\n"
        "from orchestrator.cli.process_exit import stop_on_signal\n"
        "with stop_on_signal(lambda: print('first', flush=True)):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as running:
        for line in (b"ready\n", b"first\n"):
            assert running.stdout.readline() == line
            running.send_signal(signal.SIGINT)
        assert running.wait(FINISH_S) == -signal.SIGINT


@pytest.mark.soak
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
@pytest.mark.usefixtures("interruptible_children")
def test_the_command_that_ctrl_c_prints_resumes_the_run_as_it_stands(
    process, chat, environment, tmp_path, slow
):

    server = chat(plans=[plan("first step", "second step")], steps=["one", slow, "two"])
    # The command has to quote them for the shell.
    where = ("--db", str(tmp_path / "my runs.sqlite"), "--thread", "anna's $HOME; run")
    running = process(*RUN, *where, env=server.environment)
    assert slow.asked.wait(FINISH_S)
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=FINISH_S)
    slow.over.set()
    hint, command = stderr.decode().splitlines()[-2:]
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{environment.get('PATH', os.defpath)}"
    resumed = subprocess.run(
        ["/bin/sh", "-c", command],
        env={**environment, **server.environment, "PATH": path},
        check=False,
        capture_output=True,
        text=True,
        timeout=FINISH_S,
    )

    assert (running.returncode, hint) == (130, "continue with")
    assert (resumed.returncode, resumed.stdout.splitlines()[-2:]) == (0, ["two"])
    assert server.asked.count("plan") == 1
