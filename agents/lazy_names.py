"""Imports the public names of a package on first use; its stub ``__init__.pyi`` lists them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def attach_stub(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Args:
        package: Its ``__name__``.
        file: Its ``__file__``; the stub stands beside it, and has an import for each name.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    sources = {
        alias.name: ".".join(filter(None, (package if node.level else None, node.module)))
        for node in imports
        for alias in node.names
    }
    names = sorted(sources)

    def load(name: str) -> object:
        if name not in sources:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # "from . import name" imports a module of the package.
        is_module = sources[name] == package
        return (
            import_module(f"{package}.{name}") if is_module else getattr(import_module(sources[name]), name)
        )

    return load, lambda: names, names
