"""Keeps runs in a file or a database, and finds them again.

Each name is imported when it is first asked for, as in ``orchestrator``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.persistence.held import RunSummary
    from orchestrator.persistence.history import History, StoredRun
    from orchestrator.persistence.stores import Store, open_store
else:
    _HOMES = {
        "History": "history",
        "RunSummary": "held",
        "Store": "stores",
        "StoredRun": "history",
        "open_store": "stores",
    }

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = ["History", "RunSummary", "Store", "StoredRun", "open_store"]
