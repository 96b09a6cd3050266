"""How the adapters of other frameworks ask the model: as they would ask any server with structured output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from agents.models.model_call import call_model, reply_text
from agents.models.server_errors import TransportRetry
from agents.sync import run_conversation


def ask(model: BaseChatModel, messages: Sequence[BaseMessage], schema: Mapping[str, object] | None) -> str:
    """Return the reply to the messages; with a schema, the model is constrained to it if it can be."""
    call = call_model(model, messages, TransportRetry(), None if schema is None else dict(schema))
    return reply_text(run_conversation(call))
