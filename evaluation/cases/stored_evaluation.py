"""Stores the results of an evaluation as they come, in JSON Lines: a header, one result a line, an end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, Literal, TypeVar

from pydantic import Field, ValidationError

from evaluation.cases.case_result import CaseResult
from evaluation.errors import ContractError
from evaluation.validation import InputModel
from evaluation.values import VersionOne

FORMAT: Final = "plan-execute-monitor evaluation"
_LONGEST_HEADER: Final = 1_000_000
"""Bytes; a longer first line is that of another file."""
_END: Final = b'{"unread":'
_Line = TypeVar("_Line", bound=InputModel)


class EvaluationHeader(InputModel):
    """The first line: of which cases and with which options the results are."""

    format: Literal["plan-execute-monitor evaluation"] = FORMAT
    version: VersionOne = 1
    created: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """When the evaluation began, in ISO 8601."""
    options: dict[str, object] = Field(default_factory=dict)
    """The options that the results depend on, such as the models, by name."""
    cases: str = ""
    """A digest of the cases; empty for recorded runs."""


class EvaluationEnd(InputModel):
    """The last line: the evaluation has ended."""

    unread: tuple[str, ...]
    """What could not be read, one sentence each."""


def is_stored_evaluation(path: Path) -> bool:
    """Return whether a file begins as a stored evaluation does; raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return FORMAT.encode() in file.read(200)


def read_results(path: Path, *, is_continued: bool = False) -> Iterator[CaseResult]:
    """Yield the results of a stored evaluation.

    Args:
        path: The file.
        is_continued: Whether a last line that a crash has cut is left out; else it is an error.

    Raises:
        ContractError: It is no stored evaluation, of another version, or a line is wrong or behind the
            end; the sentence names the file and the line.
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        _read_header(file, path.name)
        has_ended = False
        for number, line in enumerate(file, 2):
            where = f"{path.name}:{number}"
            if not line.endswith(b"\n"):
                if is_continued:
                    return
                raise ContractError(f"{where}: the line is cut off; continue the command that wrote it")
            if has_ended:
                raise ContractError(f"{where}: the evaluation ended in the line before; leave this line out")
            if has_ended := line.startswith(_END):
                continue
            yield _read_line(line, where, CaseResult)


def read_end(path: Path) -> EvaluationEnd:
    """Read the end of a stored evaluation.

    Raises:
        ContractError: It has none, because the command that wrote it was interrupted.
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        last = b"".join(deque(file, 1))
    if not last.startswith(_END):
        raise ContractError(f"{path.name}: the evaluation has not ended; continue the command that wrote it")
    return _read_line(last, f"{path.name}, last line", EvaluationEnd)


@contextmanager
def append_results(
    path: Path, header: EvaluationHeader
) -> Iterator[tuple[list[CaseResult], Callable[[CaseResult | EvaluationEnd], None]]]:
    """Open a file that stores results as they come. A file with results of the same cases is continued.

    Yields:
        The results that the file has, and a function that appends one, or the end.

    Raises:
        ContractError: The file is no stored evaluation, or one of other cases or options.
        OSError: The file cannot be read or written.
    """
    with path.open("ab") as file:
        stored = []
        if path.stat().st_size:
            with path.open("rb") as written:
                _check_same(_read_header(written, path.name), header, path.name)
            stored = [*read_results(path, is_continued=True)]
            file.truncate(_measure_results(path.read_bytes()))
        else:
            _append(file, header)
        yield stored, lambda result: _append(file, result)


def _measure_results(data: bytes) -> int:
    """Return the size of the lines before the end, without a last line that a crash has cut."""
    size = data.rfind(b"\n") + 1
    last = data.rfind(b"\n", 0, size - 1) + 1
    return last if data.startswith(_END, last) else size


def _append(file: BinaryIO, line: InputModel) -> None:
    # One write and a flush, so that a crash cuts the last line at most.
    file.write(line.model_dump_json(exclude_defaults=isinstance(line, CaseResult)).encode() + b"\n")
    file.flush()


def _check_same(stored: EvaluationHeader, header: EvaluationHeader, name: str) -> None:
    options = {**stored.options, **header.options}
    changed = [each for each in options if stored.options.get(each) != header.options.get(each)]
    if stored.cases != header.cases or changed:
        what = f"other options ({', '.join(changed)})" if changed else "other cases"
        raise ContractError(f"{name} has results of {what}; give another file, or the command it began with")


def _read_header(file: BinaryIO, name: str) -> EvaluationHeader:
    line = file.readline(_LONGEST_HEADER)
    if FORMAT.encode() not in line:
        raise ContractError(f"{name}:1: this is no stored evaluation; give a file that --out wrote")
    return _read_line(line, f"{name}:1", EvaluationHeader)


def _read_line(line: bytes, where: str, model: type[_Line]) -> _Line:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        (problem, *_) = error.errors(include_url=False)
        place = ".".join(map(str, problem["loc"])) or "the line"
        raise ContractError(f"{where}: {place}: {problem['msg']}; give a file that --out wrote") from None
