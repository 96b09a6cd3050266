"""The known formats of recorded runs, and the formats of installed packages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from evaluation.errors import ContractError
from evaluation.recordings.formats.adk_evalset import EvalsetFormat
from evaluation.recordings.formats.atif import AtifFormat
from evaluation.recordings.formats.conversations import ConversationFormat
from evaluation.recordings.formats.langchain_trace import TraceFormat
from evaluation.recordings.formats.langgraph_history import HistoryFormat
from evaluation.recordings.formats.model_exchange import ExchangeFormat
from evaluation.recordings.formats.otel_spans import SpanFormat
from evaluation.recordings.formats.own_runs import CaseFormat, StateFormat
from evaluation.recordings.formats.tau_bench import TauBenchFormat
from evaluation.recordings.recorded_run import RunFormat

GROUP: Final = "plan_execute_monitor.run_formats"
"""Entry points of installed packages: objects with ``name``, ``recognises`` and ``read``."""
_OWN: Final[Sequence[RunFormat]] = (
    CaseFormat(),
    StateFormat(),
    AtifFormat(),
    SpanFormat(),
    TauBenchFormat(),
    EvalsetFormat(),
    TraceFormat(),
    ExchangeFormat(),
    HistoryFormat(),
    ConversationFormat(),
)


@cache
def list_formats() -> Sequence[RunFormat]:
    """Returns the formats; the first that recognises a value reads it. The formats of packages come first.

    Raises:
        ContractError: An entry point of the group is no format.
    """
    return (*map(_check_format, entry_points(group=GROUP)), *_OWN)


def _check_format(entry: EntryPoint) -> RunFormat:
    loaded: object = entry.load()
    if not isinstance(loaded, RunFormat):
        raise ContractError(
            f"the entry point {entry.name} of {GROUP} is a {type(loaded).__name__}; "
            "give an object with name, recognises() and read()"
        )
    return loaded
