"""Runs multi-step tasks with language-model agents and judges every step.

The public names are listed in ``__init__.pyi``. Each is imported on first use.
"""

import logging

import lazy_loader

import evaluation

if not hasattr(evaluation, "check_sibling"):
    raise ImportError(
        "`import evaluation` finds another package than the one of plan-execute-monitor; "
        "rename your own package, or move it into another one"
    )

# LangGraph and LangChain take seconds to import; the command line must react to Ctrl-C before that.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
logging.getLogger(__name__).addHandler(logging.NullHandler())
