"""Splits a JSON Lines file into ranges of lines, which several processes can read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evaluation.recordings.run_files import ReadRun, has_runs_in_lines, read_line

_BYTES: Final = 1 << 18
"""Bytes of a range, to the end of its last line: some tens of runs."""


@dataclass(frozen=True, slots=True)
class LineRange:
    """Some lines of a file, in a row.

    Attributes:
        file: The file.
        start: Number of bytes before the lines.
        number: Number of the first line, from 1.
        count: Number of lines.
    """

    file: Path
    start: int
    number: int
    count: int

    @property
    def name(self) -> str:
        """The place of the lines, as messages name it."""
        return f"{self.file.name}:{self.number}-{self.number + self.count - 1}"


def split_lines(file: Path) -> Iterator[LineRange] | None:
    """Return the ranges of a file of JSON Lines with a run in each; None for any other file.

    Raises:
        OSError: The file cannot be read.
    """
    return _split_lines(file) if has_runs_in_lines(file) else None


def _split_lines(file: Path) -> Iterator[LineRange]:
    with file.open("rb") as stream:
        start, number = 0, 1
        while part := stream.read(_BYTES):
            part += stream.readline()
            count = part.count(b"\n") + (not part.endswith(b"\n"))
            yield LineRange(file, start, number, count)
            start, number = start + len(part), number + count


def read_range(lines: LineRange) -> Iterator[ReadRun]:
    """Yield the runs of some lines, as ``read_runs`` reads them.

    Raises:
        OSError: The file cannot be read; raised when the first run is taken.
    """
    with lines.file.open("rb") as stream:
        stream.seek(lines.start)
        for number in range(lines.number, lines.number + lines.count):
            if (line := stream.readline()).strip():
                yield from read_line(line, f"{lines.file.name}:{number}")
