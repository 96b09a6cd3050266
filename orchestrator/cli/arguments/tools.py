"""Imports the tools that a user names with ``--tools``. This runs code, so no stored text comes here."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from langchain_core.tools import BaseTool, tool

from agents.calls.tool_binding import build_tools
from orchestrator.errors import ConfigurationError


def import_tools(names: Sequence[str]) -> list[BaseTool]:
    """Import tools.

    Args:
        names: ``MODULE:NAME`` or ``FILE.py:NAME`` each: a LangChain tool, a function, or a list of these.

    Raises:
        ConfigurationError: A module or a name does not exist, the module raises, it holds no tool, or two
            tools have one name.
    """
    tools = [each for name in names for each in _import_each(name)]
    try:
        return build_tools(tools)
    except ValueError as error:
        raise ConfigurationError(f"--tools: {error}") from None


def _import_each(text: str) -> Iterator[BaseTool]:
    module, _, name = text.rpartition(":")
    is_file = module.endswith(".py")
    if not (name.isidentifier() and (is_file or all(part.isidentifier() for part in module.split(".")))):
        raise ConfigurationError(
            f"--tools {text!r} is not accepted; give MODULE:NAME, such as my_tools:TOOLS, or FILE.py:NAME"
        )
    imported = _import_file(Path(module), text) if is_file else _import_module(module, text)
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
    with _report_import_error(module, Path.cwd(), text, f"python -c 'import {module}'"):
        return importlib.import_module(module)


def _import_file(file: Path, text: str) -> ModuleType:
    if not file.is_file():
        raise ConfigurationError(f"--tools {text!r}: there is no file {file}; give the path of a file")
    # A name that no import can ask for: the file replaces no module that is called as it is.
    spec = importlib.util.spec_from_file_location(f"tools of {file.stem}", file.resolve())
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"--tools {text!r}: {file} is no module of Python; give a file that is")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    with _report_import_error(str(file), file.resolve().parent, text, f"python {file}"):
        spec.loader.exec_module(module)
    return module


@contextmanager
def _report_import_error(name: str, folder: Path, text: str, command: str) -> Iterator[None]:
    """Turn the error of an import into one sentence; the modules of the folder can be imported."""
    # Last, so that no file of the folder replaces a module of Python or of an installed package.
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"--tools {text!r} needs the module {error.name!r}, which is neither in {folder} nor installed; "
            "run the command in the folder of the module, or install it"
        ) from None
    except Exception as error:
        raise ConfigurationError(
            f"--tools {text!r}: importing {name} raised {type(error).__name__}: {error}; "
            f"`{command}` shows where"
        ) from error
