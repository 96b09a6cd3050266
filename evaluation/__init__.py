"""Evaluates recorded runs of agents against a contract.

``evaluate`` checks one run and returns a report. ``evaluate_many`` checks a stream of runs.
``build_evaluation_graph`` builds the same evaluation as a LangGraph graph.

The public names are listed in ``__init__.pyi``. Each is imported on first use.
"""

import logging

import lazy_loader

from evaluation.siblings import check_sibling

check_sibling("agents")
# The metrics need no LangGraph, which takes about a second to import.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
logging.getLogger(__name__).addHandler(logging.NullHandler())
