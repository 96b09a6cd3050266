"""Evaluates recorded runs of agents against a contract.

``evaluate`` checks one run and returns a report. ``evaluate_many`` checks a stream of runs.
``build_evaluation_graph`` builds the same evaluation as a LangGraph graph.

The public names are listed in ``__init__.pyi``. Each is imported on first use.
"""

import logging
import os
from importlib.util import find_spec
from pathlib import Path

import lazy_loader

_MARK = "attach_stub(__name__, __file__)"
"""A text in the ``__init__.py`` of each of our packages."""


def check_sibling(name: str) -> None:
    """Checks that ``import name`` finds a package of ours.

    Raises:
        ImportError: It finds a package of the user's project, or of another distribution.
    """
    try:
        spec = find_spec(name)
    except ValueError:  # a double in sys.modules, which has no spec
        return
    origin = spec and spec.origin
    if origin and os.path.exists(origin) and _MARK not in Path(origin).read_text("utf-8", "replace"):
        raise ImportError(
            f"`import {name}` finds {origin}, which is no part of plan-execute-monitor; rename your package, "
            "and install a distribution of this name, such as openai-agents, into an environment of its own",
            name=name,
            path=origin,
        )


check_sibling("agents")

# The metrics need no LangGraph, which takes about a second to import.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
logging.getLogger(__name__).addHandler(logging.NullHandler())
