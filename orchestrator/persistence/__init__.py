"""Stores runs in SQLite or PostgreSQL and lists them."""

from orchestrator.persistence.store import Store, open_store
from orchestrator.runs.history import History
from orchestrator.runs.reader import StoredRun
from orchestrator.runs.run_selection import RunSummary

__all__ = ["History", "RunSummary", "Store", "StoredRun", "open_store"]
