"""Reads the config of the graph that calls an agent, and the journal in it.

A resumed run takes the results of its calls from the journal, and does not repeat them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

from agents.calls.conversation import Request
from agents.sync import run_in_threads

CALL_JOURNAL: Final = "call_journal"
"""Name of the journal in ``config["configurable"]``."""


def read_config() -> RunnableConfig:
    """Returns the config of the running node, chain or tool; an empty one outside of these."""
    try:
        return get_config()
    except RuntimeError:
        return RunnableConfig()


def read_values() -> Mapping[str, object]:
    """Returns the values in ``configurable`` of the running node, chain or tool."""
    return read_config().get("configurable", {})


@runtime_checkable
class CallJournal(Protocol):
    """Makes each request once, also if the run is interrupted and resumed.

    The order of the requests and ``describe_request`` are the key.
    """

    def run(self, requests: Sequence[Request]) -> list[BaseMessage]:
        """Makes the requests at once. Returns their messages in order, from the journal if they are there."""
        ...

    async def arun(self, requests: Sequence[Request]) -> list[BaseMessage]:
        """Does the same without blocking the event loop."""
        ...


def describe_request(request: Request) -> str:
    """Describes a request by its key, or its type, so that another one does not take its result."""
    return str(getattr(request, "key", type(request).__name__))


def hash_call(name: str, args: object, *purpose: str) -> str:
    """Builds the key of a request about a call: the same for the same purpose, tool and arguments."""
    call = json.dumps([name, args], sort_keys=True, default=str)
    return hashlib.sha256(json.dumps([*purpose, call]).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class JournaledRequests:
    """Requests that are made at once, and once for each position in a conversation.

    The journal keeps each of them as soon as it has ended.
    """

    requests: Sequence[Request]

    def run(self) -> list[BaseMessage]:
        """Makes the requests, with the journal if there is one. Returns their messages in order."""
        journal = _find_journal()
        if journal is not None:
            return journal.run(self.requests)
        return join_messages(run_in_threads([request.run for request in self.requests]))

    async def arun(self) -> list[BaseMessage]:
        """Does the same without blocking the event loop."""
        journal = _find_journal()
        if journal is not None:
            return await journal.arun(self.requests)
        jobs = (request.arun() for request in self.requests)
        return join_messages(await asyncio.gather(*jobs, return_exceptions=True))


def join_messages(outcomes: Sequence[list[BaseMessage] | BaseException]) -> list[BaseMessage]:
    """Joins the messages of requests, or raises the first error after all of them have ended."""
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [message for messages in outcomes if isinstance(messages, list) for message in messages]


def _find_journal() -> CallJournal | None:
    journal = read_values().get(CALL_JOURNAL)
    return journal if isinstance(journal, CallJournal) else None
