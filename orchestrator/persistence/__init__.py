"""Stores runs in SQLite or PostgreSQL and lists them."""

from orchestrator.persistence.store import Store, open_store
from orchestrator.runs.history import History
from orchestrator.runs.reader import RunSummary, StoredRun

__all__ = ["History", "RunSummary", "Store", "StoredRun", "open_store"]
