"""Keeps runs in SQLite, each with the options of the command that began it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

_COMMAND: Final = "orchestrator_command"


class RunSaver(SqliteSaver):
    """LangGraph's saver, which builds nothing from what it reads but plain values and LangGraph's own."""

    def __init__(self, connection: sqlite3.Connection, command: Mapping[str, object]) -> None:
        """Take a connection that works from any thread, and the options to keep with each checkpoint."""
        super().__init__(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        self._command = dict(command)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint."""
        kept = cast("CheckpointMetadata", {**metadata, _COMMAND: self._command})
        return super().put(config, checkpoint, kept, new_versions)

    def keep(self, command: Mapping[str, object]) -> None:
        """Keep other options with the checkpoints to come."""
        self._command = dict(command)

    @staticmethod
    def command_in(metadata: CheckpointMetadata) -> Mapping[str, object] | None:
        """The options that were kept with a checkpoint; None where none were."""
        command: object = cast("Mapping[str, object]", metadata).get(_COMMAND)
        return command if isinstance(command, dict) else None
