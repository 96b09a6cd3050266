"""The command line, in this process and in one of its own, in front of a scripted endpoint."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from orchestrator.cli.app import app
from tests.fakes.chat_server import ChatServer


def plan_first(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Have a run ask its planner, whose script has the steps; ``test_run.py`` tests the default."""
    is_run = arguments[:1] == ("run",) and "--planning" not in arguments
    return ("run", "--planning", "always", *arguments[1:]) if is_run else arguments


@pytest.fixture
def cli(environment: dict[str, str]) -> Callable[..., Result]:
    """Run a command in this process: `cli("run", "task", env={...}, typed="standard input")`."""

    def invoke(
        *arguments: str, env: dict[str, str] | None = None, typed: str | bytes | None = None
    ) -> Result:
        return CliRunner().invoke(app, plan_first(arguments), env=env, input=typed, catch_exceptions=False)

    return invoke


@pytest.fixture
def process(environment: dict[str, str]) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a command in a process of its own: `process("run", "task", env={...})`."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str, env: dict[str, str] | None = None, **streams: int) -> subprocess.Popen[bytes]:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        command = [sys.executable, "-m", "orchestrator", *plan_first(arguments)]
        running = subprocess.Popen(command, env={**environment, **(env or {})}, **streams)
        started.append(running)
        return running

    yield start
    for running in started:
        with running:
            running.kill()


@pytest.fixture
def interruptible_children() -> Iterator[None]:
    """Make sure that children do not inherit an ignored SIGINT, as they do in a background shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite"


class Slow:
    """An answer that comes after the test."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.over = threading.Event()

    def __call__(self) -> str:
        self.asked.set()
        self.over.wait(60)
        return "late"


@pytest.fixture
def slow() -> Iterator[Slow]:
    """An answer that is late until the end of the test, or until `slow.over.set()`."""
    answer = Slow()
    yield answer
    answer.over.set()


@pytest.fixture
def ask(cli: Callable[..., Result], chat: Callable[..., ChatServer]) -> Callable[..., Result]:
    """Run a task against a scripted endpoint: `ask("--json", steps=[...])`."""

    def run(*options: str, task: str = "the task", **script: object) -> Result:
        return cli("run", task, "--model", "openai:scripted", *options, env=chat(**script).environment)

    return run
