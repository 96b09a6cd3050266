"""Runs multi-step tasks with language-model agents and judges every step.

The public names are listed in ``__init__.pyi``. Each is imported on first use.
"""

import logging

import lazy_loader

from orchestrator.runtime.siblings import check_sibling

check_sibling("evaluation")
check_sibling("agents")
# LangGraph and LangChain take seconds to import; the command line must react to Ctrl-C before that.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
logging.getLogger(__name__).addHandler(logging.NullHandler())
