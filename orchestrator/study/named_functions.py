"""Imports objects that the user names as ``module:name``: this runs the user's code."""

from __future__ import annotations

import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from evaluation.sensitive.scanner import describe_raised


def import_name(name: str, *folders: Path) -> Any:  # noqa: ANN401 - whatever the user has put there
    """Imports an object. No name that a store, a model or a recorded run states may come here.

    Args:
        name: ``MODULE:NAME``, of an installed package or of a module in one of the folders.
        folders: The folders of the user's modules.

    Raises:
        ValueError: The module or the name does not exist, or the module raises.
    """
    # Last, so that no file of the folder replaces a module of Python or of an installed package.
    sys.path.extend(path for folder in folders if (path := str(folder.absolute())) not in sys.path)
    if ":" not in name:
        raise ValueError(f"{name!r} is not accepted; give MODULE:NAME, such as my_tools:TOOLS")
    try:
        return resolve_name(name)
    except BaseException as error:
        raise ValueError(
            f"{name!r} raised {describe_raised(error)}; give MODULE:NAME, and run the command in the folder "
            "of the module"
        ) from error
