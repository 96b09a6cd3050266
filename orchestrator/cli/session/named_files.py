"""Checks the files that a command writes before it begins, and names a file that cannot be used."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
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


def check_outputs(written: Iterable[Path | None], inputs: Iterable[Path]) -> None:
    """Checks the files of results, before a long evaluation whose results they could not hold.

    Args:
        written: The files to write; None for those that are not asked for.
        inputs: The files to read, which would be replaced.

    Raises:
        ConfigurationError: A file is a folder, its folder does not exist, one of the two cannot be written,
            it is a file to read, or two results have the same file.
    """
    taken = {path.resolve(): "a file that the command reads" for path in inputs}
    for path in filter(None, written):
        place = path if path.exists() else path.parent
        problem = taken.get(path.resolve())
        if path.is_dir():
            problem = "a folder"
        elif not path.parent.is_dir():
            problem = "in a folder that does not exist"
        elif not os.access(place, os.W_OK):
            problem = "not writable"
        if problem is not None:
            raise ConfigurationError(f"{str(path)!r} is {problem}; give another file for the results")
        taken[path.resolve()] = "the file of other results, too"
