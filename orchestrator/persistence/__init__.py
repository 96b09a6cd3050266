"""Keeps runs in a file or a database, and finds them again.

Each name is imported when it is first asked for, as in ``orchestrator``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.persistence.store import Store, open_store
    from orchestrator.runs.history import History, StoredRun
    from orchestrator.runs.summary import RunSummary
else:
    _HOMES = {
        "History": "orchestrator.runs.history",
        "RunSummary": "orchestrator.runs.summary",
        "Store": "orchestrator.persistence.store",
        "StoredRun": "orchestrator.runs.history",
        "open_store": "orchestrator.persistence.store",
    }

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = ["History", "RunSummary", "Store", "StoredRun", "open_store"]
