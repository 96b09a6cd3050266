"""Imports the tools that a user names with ``--tools``. This runs code, so no stored text comes here."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from langchain_core.tools import BaseTool, tool

from agents.calls.tool_binding import build_tools
from orchestrator.errors import ConfigurationError


def import_tools(names: Sequence[str]) -> list[BaseTool]:
    """Imports tools.

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
    imported = _import_module(module, text)
    if not hasattr(imported, name):
        raise ConfigurationError(f"--tools {text!r}: {module} has no {name!r}; give a name that it defines")
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
    """Imports a module or a file; the modules in its folder can be imported, too."""
    file = Path(module) if module.endswith(".py") else None
    folder = str(Path.cwd() if file is None else file.resolve().parent)
    # Last, so that no file of the folder replaces a module of Python or of an installed package.
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        return importlib.import_module(module) if file is None else _import_file(file)
    except (Exception, SystemExit) as error:
        raise ConfigurationError(
            f"--tools {text!r}: importing {module} raised {type(error).__name__}: {error}; "
            "run the command in the folder of the module, or mend it"
        ) from error


def _import_file(file: Path) -> ModuleType:
    # A name that no import can ask for: the file replaces no module that is called as it is.
    name = f"tools of {file.stem}"
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no module of Python")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
