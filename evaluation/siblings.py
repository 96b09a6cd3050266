"""Checks that no package of the user's project hides ours, which has the same name."""

import os
from importlib.util import find_spec
from pathlib import Path

_MARK = "lazy_loader.attach_stub"
"""A text in the ``__init__.py`` of each of our packages."""


def check_sibling(name: str) -> None:
    """Checks that ``import name`` finds the package beside this one.

    Raises:
        ImportError: It finds another one, or another distribution replaced it; the message names the paths.
    """
    try:
        spec = find_spec(name)
    except ValueError:  # a double in sys.modules, which has no spec
        return
    ours = str(Path(__file__).parents[__name__.count(".")] / name / "__init__.py")
    if spec is None or spec.origin is None or not (os.path.exists(spec.origin) and os.path.exists(ours)):
        return
    if _MARK not in Path(ours).read_text("utf-8", "replace"):
        raise ImportError(
            f"{ours} was overwritten by another distribution with a package {name}, such as openai-agents; "
            "install plan-execute-monitor and that one into environments of their own",
            name=name,
            path=ours,
        )
    if not os.path.samefile(spec.origin, ours):
        raise ImportError(
            f"`import {name}` finds {spec.origin} instead of {ours}, which plan-execute-monitor needs; "
            "rename your own package, or move it into another one",
            name=name,
            path=spec.origin,
        )
