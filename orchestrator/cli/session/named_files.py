"""Checks the files that a command writes before it begins, and names a file that cannot be used."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from evaluation import ContractError
from orchestrator.errors import ConfigurationError


@contextmanager
def name_file() -> Iterator[None]:
    """Turns the error of a file that cannot be used into one sentence with its name.

    Raises:
        ConfigurationError: A file cannot be used.
        OSError: Reading or writing failed for another reason.
    """
    try:
        yield
    except ContractError as error:
        raise ConfigurationError(str(error)) from None
    except OSError as error:
        if error.filename is None:  # a closed pipe or a full disk is no wrong path
            raise
        name = str(error.filename)
        raise ConfigurationError(f"{name!r} cannot be used ({error.strerror}); give another file") from None


def check_outputs(written: Sequence[tuple[Path | None, str]], inputs: Sequence[Path]) -> None:
    """Checks the files of results, before a long evaluation whose results they could not hold.

    Args:
        written: The files to write, each with the endings of the names of its kind; None for one that is not
            asked for.
        inputs: The files to read, which would be replaced.

    Raises:
        ConfigurationError: A file is a folder, its folder does not exist, one of the two cannot be written,
            it is a file to read, or an existing one of another kind, as a contract or a program, or two
            results have the same file.
    """
    taken: list[str] = []
    for path, endings in written:
        if path is None:
            continue
        problem = _find_problem(path, endings.split(), inputs)
        if os.path.realpath(path) in taken:
            problem = "the file of other results, too"
        if problem is not None:
            raise ConfigurationError(f"{str(path)!r} is {problem}; give another file for the results")
        taken.append(os.path.realpath(path))


def _find_problem(path: Path, endings: Sequence[str], inputs: Sequence[Path]) -> str | None:
    if path.is_dir():
        return "a folder"
    if not path.parent.is_dir():
        return "in a folder that does not exist"
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return "not writable"
    # Not by its name: a link is the same file.
    if path.exists() and any(each.exists() and each.samefile(path) for each in inputs):
        return "a file that the command reads"
    if path.is_file() and path.suffix.lower() not in {"", ".txt", *endings}:
        return f"an existing file of another kind, whose name does not end in {' or '.join(endings)}"
    return None
