"""What every process of a story needs, made once in the process from which they are forked."""

import gc

import langgraph.checkpoint.sqlite  # noqa: F401

import orchestrator.persistence.postgres
import orchestrator.persistence.sqlite  # noqa: F401
from tests.faults.children import prepared
from tests.faults.story import STORIES

PREPARED = {story: prepared(story) for story in STORIES}
# What is here stays, and is not copied for every process when it collects garbage.
gc.freeze()
