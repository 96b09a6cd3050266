"""Builds the orchestrator that a job names: this runs the user's code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evaluation.sensitive.quoting import describe_raised
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError, OrchestratorError
from orchestrator.experiments.named_functions import import_name
from orchestrator.persistence import Store


def import_orchestrator(name: str, store: Store) -> LangGraphOrchestrator:
    """Imports a function and calls it with the store. No name that a store states may come here.

    Args:
        name: ``MODULE:FUNCTION``, of an installed package or of a module in the working directory.
        store: The store, which the function gives to its orchestrator.

    Raises:
        ConfigurationError: It cannot be imported, raises, or returns no orchestrator that uses the store.
    """
    try:
        build: Callable[[Store], object] = import_name(name, Path.cwd())
    except ValueError as error:
        raise ConfigurationError(f"the app {error}") from error
    try:
        made = build(store)
    except OrchestratorError:
        raise
    except BaseException as error:  # the user's code
        raise ConfigurationError(
            f"the app {name!r} raised {describe_raised(error)}; give a function that takes the store and "
            "returns a LangGraphOrchestrator"
        ) from error
    if not isinstance(made, LangGraphOrchestrator):
        raise ConfigurationError(
            f"the app {name!r} returned {type(made).__name__}, not an orchestrator; give a function "
            "that takes the store and returns a LangGraphOrchestrator"
        )
    if made.graph.checkpointer is None:
        raise ConfigurationError(
            f"the orchestrator of the app {name!r} stores no runs; build it with checkpointer=store, the "
            "argument of the function"
        )
    return made
