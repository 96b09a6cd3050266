"""CommandCheck: a program of the user decides about an output, such as a test runner."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import IO, ClassVar, Final

from agents.parsing.loose_json import replace_surrogates
from agents.sync import DaemonExecutor
from evaluation.checks.check_model import CheckContext, CheckOutcome
from evaluation.checks.custom import CustomCheck, CustomSource
from evaluation.errors import ContractError
from evaluation.sensitive.scanner import describe_error, keep_end, quote_text

_INHERITED: Final = (
    *("PATH", "LANG", "LC_ALL", "TMPDIR"),
    *("SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP"),  # Windows
)
_OWN: Final = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Python trusts the bytecode of a file with the same second and size, which may be of an earlier output."""
_POLL_S: Final = 0.02
"""Seconds for the output of a group that was killed; a program that left the group may keep it open."""
_CHUNK: Final = 65536


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a program ended."""

    exit_status: int | None
    """Negative for a signal; None if it was ended because its time was over."""
    output: bytes
    """The end of what it wrote to standard output and standard error."""


def run_program(  # noqa: PLR0917
    arguments: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    text: bytes,
    seconds: float,
    limit: int,
    stop: threading.Event,
) -> ProgramResult:
    """Run a program to its end, and end everything else that it started in its process group.

    Args:
        arguments: The program and its arguments.
        directory: Its working directory.
        environment: Its variables besides the few that it inherits: search path, language, temporary files.
        text: Its standard input.
        seconds: The most that it may take.
        limit: Most bytes of its output that are kept.
        stop: Ends it if set.

    Raises:
        OSError: It cannot be started.
    """
    with tempfile.TemporaryFile() as source:
        source.write(text)
        source.seek(0)
        process = _start(arguments, directory, environment, source)
    tail = _Tail(process, limit)
    try:
        is_ended = _wait(process, seconds, stop)
    finally:
        _kill_group(process)
    return ProgramResult(process.returncode if is_ended else None, tail.close())


def _start(
    arguments: Sequence[str], directory: Path, environment: Mapping[str, str], source: IO[bytes]
) -> subprocess.Popen[bytes]:
    inherited = {name: value for name in _INHERITED if (value := os.environ.get(name)) is not None}
    return subprocess.Popen(  # noqa: S603 - the user's own arguments, and no shell
        arguments,
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=directory,
        env={**inherited, **_OWN, **environment},
        start_new_session=True,
    )


def _wait(process: subprocess.Popen[bytes], seconds: float, stop: threading.Event) -> bool:
    """Wait for the end of a program; False if it was not reached in time."""
    end = monotonic() + seconds
    while process.poll() is None:
        if monotonic() >= end or stop.wait(_POLL_S):
            return False
    return True


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            # The program is the leader of its group.
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Tail:
    """Reads the output of a program in a thread, so that a full pipe never blocks it, and keeps the end."""

    def __init__(self, process: subprocess.Popen[bytes], limit: int) -> None:
        self._process, self._limit, self._kept = process, limit, b""
        self._thread = threading.Thread(target=self._read, name="check-output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        stream = self._process.stdout
        with suppress(OSError, ValueError):
            while stream and (chunk := os.read(stream.fileno(), _CHUNK)):
                self._kept = (self._kept + chunk)[-self._limit :]

    def close(self) -> bytes:
        """Return the end of the output, once it is whole."""
        self._thread.join(_GRACE_S)
        if self._process.stdout and not self._thread.is_alive():
            self._process.stdout.close()
        return self._kept


_GRACE_S: Final = 1.0
_MAX_OUTPUT: Final = 4000
"""Most characters of what a program prints that are kept: the last ones."""
_KEPT_BYTES: Final = 65_536
"""More than these characters need, so that a secret at their start is recognised."""
_SHORTEST_SECRET: Final = 6
_CONTROL: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Colours and other control characters, which mean nothing outside of a terminal."""
_THREADS: Final = DaemonExecutor()
_LOCKS: Final[defaultdict[Path, threading.Lock]] = defaultdict(threading.Lock)
"""By file of output: two evaluations must not write the same file at once."""


@dataclass(frozen=True)
class CommandCheck(CustomCheck):
    """Passes an output if a program that reads it ends with exit status 0.

    Only Python code can build one: a contract, a plan or a file can name it and never contain it. The program
    runs without a shell, in a process group of its own that is killed at its end, and inherits only the
    search path, the language and the folder of temporary files from the environment. It is no sandbox: code
    that a model wrote runs with your rights, and can end its test runner with status 0.

    A program that takes too long has not passed. One that cannot be started is an error of the check.

    Attributes:
        arguments: The program and its arguments, such as ``[sys.executable, "-m", "pytest", "-q"]``.
        directory: The working directory of the program.
        output_file: Name of a file in ``directory`` that is overwritten with the output. Default: the program
            reads the output from its standard input.
        code_only: Whether the program gets the content of the output's only block of code, if it has one, in
            place of the whole output.
        environment: Further variables. Their values are redacted in the program's output.
        name: Default: the name of the program.
        timeout: Most seconds of one run. Default: 60.

    Raises:
        ContractError: An argument is not accepted; the message says what is.
    """

    source: ClassVar[CustomSource] = "command"

    arguments: Sequence[str]
    directory: str | Path
    output_file: str | None = field(default=None, kw_only=True)
    code_only: bool = field(default=False, kw_only=True)
    environment: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    name: str = field(default="", kw_only=True)
    timeout: float = field(default=60.0, kw_only=True)

    def __post_init__(self) -> None:
        """Check the arguments, and choose the name."""
        _check_arguments(self.arguments)
        _check_file_name(self.output_file)
        object.__setattr__(self, "arguments", tuple(self.arguments))
        object.__setattr__(self, "directory", Path(self.directory))
        object.__setattr__(self, "name", self.name or Path(self.arguments[0]).name)
        super().__post_init__()

    async def _decide(self, context: CheckContext) -> CheckOutcome:
        stop = threading.Event()
        run = asyncio.wrap_future(_THREADS.submit(self._run, context, stop))
        try:
            await asyncio.wait((run,))
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait((run,), timeout=_GRACE_S)
            raise
        return run.result()

    def _run(self, context: CheckContext, stop: threading.Event) -> CheckOutcome:
        text = replace_surrogates(context.code if self.code_only else context.output)
        try:
            return self._describe(self._run_program(text, stop))
        except (OSError, ValueError) as error:
            return self.fail_with_error(f"it cannot be run: {type(error).__name__}: {describe_error(error)}")

    def _run_program(self, text: str, stop: threading.Event) -> ProgramResult:
        directory, data = Path(self.directory), text.encode()
        options = (self.timeout, _KEPT_BYTES, stop)
        if self.output_file is None:
            return run_program(self.arguments, directory, self.environment, data, *options)
        with _LOCKS[directory.absolute() / self.output_file]:
            _write_file(directory / self.output_file, data)
            return run_program(self.arguments, directory, self.environment, b"", *options)

    def _describe(self, result: ProgramResult) -> CheckOutcome:
        wanted = self.description or f"write an output that the command {quote_text(self.name)} accepts"
        evidence = self._clean(result.output.decode("utf-8", "replace"))
        seen = _describe_end(result.exit_status, self.timeout)
        return self.complete(CheckOutcome(result.exit_status == 0, seen, wanted, evidence=evidence))

    def _clean(self, text: str) -> str:
        """Return the end of the printed text, without control characters and secrets."""
        plain = _CONTROL.sub("", text)
        for name, value in self.environment.items():
            plain = plain.replace(value, f"[{name}]") if len(value) >= _SHORTEST_SECRET else plain
        return keep_end(plain.strip(), _MAX_OUTPUT)


def _describe_end(status: int | None, timeout: float) -> str:
    if status is None:
        return f"it did not end within {timeout:g} s"
    if status >= 0:
        return f"it ended with exit status {status}"
    names = {each.value: each.name for each in signal.Signals}
    return f"it was ended by the signal {names.get(-status, -status)}"


def _check_arguments(arguments: object) -> None:
    if isinstance(arguments, str) or not isinstance(arguments, Sequence) or not arguments:
        raise ContractError(
            f"arguments is {arguments!r:.80}; give a list, the program and its arguments: no shell splits it"
        )
    if not all(isinstance(argument, str) and "\0" not in argument for argument in arguments):
        raise ContractError("an argument of a command is no text; give texts without NUL")


def _check_file_name(name: str | None) -> None:
    if name is not None and (name in {"", ".", ".."} or re.search(r"[/\\:\0]", name)):
        raise ContractError(
            f"output_file is {name!r:.80}; give the name of a file without its folder, such as 'answer.txt'"
        )


def _write_file(path: Path, data: bytes) -> None:
    """Write a file by replacing it, so that no link is followed. Raises OSError if it cannot be written."""
    temporary = path.with_name(f".check-{token_hex(8)}")
    try:
        # Exclusive, so that no link that was put there is followed.
        with temporary.open("xb") as file:
            file.write(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
