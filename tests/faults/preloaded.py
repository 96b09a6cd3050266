"""What every process of a story needs, imported and used once in the process from which they are forked."""

from __future__ import annotations

import gc
from pathlib import Path

import langgraph.checkpoint.sqlite  # noqa: F401
from langgraph.checkpoint.memory import InMemorySaver

import orchestrator.persistence.postgres
import orchestrator.persistence.sqlite  # noqa: F401
import tests.faults.children  # noqa: F401
from tests.faults.story import SHORT, Log, build

build(SHORT, Log(Path("unused")), InMemorySaver())
# What is here stays, and is not copied for every process when it collects garbage.
gc.freeze()
