"""Imports the tools that a user names with ``--tools``. This runs code, so no stored text comes here."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from langchain_core.tools import BaseTool, tool

from orchestrator.errors import ConfigurationError


def import_tools(names: Sequence[str]) -> list[BaseTool]:
    """Import tools.

    Args:
        names: ``MODULE:NAME`` each: a LangChain tool, a function, or a list of these.

    Raises:
        ConfigurationError: A module or a name does not exist, the module raises, or it holds no tool.
    """
    return [each for name in names for each in _import_each(name)]


def _import_each(text: str) -> Iterator[BaseTool]:
    module, separator, name = text.partition(":")
    if not (separator and name.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise ConfigurationError(
            f"--tools {text!r} is not accepted; give MODULE:NAME, such as my_tools:TOOLS"
        )
    imported = _import_module(module, text)
    if not hasattr(imported, name):
        file = getattr(imported, "__file__", None) or module
        raise ConfigurationError(f"--tools {text!r}: {file} has no {name!r}; give a name that it defines")
    value = getattr(imported, name)
    yield from (_build_tool(item, text) for item in (value if isinstance(value, list | tuple) else [value]))


def _build_tool(item: object, text: str) -> BaseTool:
    if isinstance(item, BaseTool):
        return item
    if isinstance(item, type) or not callable(item):
        raise ConfigurationError(
            f"--tools {text!r} has a {type(item).__name__}; "
            "give a LangChain tool, a function, or a list of these"
        )
    try:
        return tool(item)
    except (TypeError, ValueError) as error:  # without a docstring, say
        raise ConfigurationError(f"--tools {text!r} has a function that cannot be a tool: {error}") from None


def _import_module(module: str, text: str) -> ModuleType:
    folder = str(Path.cwd())
    # Last, so that no file of the folder replaces a module of Python or of an installed package.
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"--tools {text!r} needs the module {error.name!r}, which is neither in {folder} nor installed; "
            "run the command in the folder of the module, or install it"
        ) from None
    except Exception as error:
        raise ConfigurationError(
            f"--tools {text!r}: importing {module} raised {type(error).__name__}: {error}; "
            f"`python -c 'import {module}'` shows where"
        ) from error
