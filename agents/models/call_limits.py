"""Limits on the calls of models: their specification, and those that this process keeps.

Every agent asks before each call of its model, so that no agent has to be built in another way.
"""

from __future__ import annotations

import logging
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from http import HTTPStatus
from typing import Final, TypeAlias

from langchain_core.rate_limiters import BaseRateLimiter
from langchain_core.runnables import RunnableBinding

from agents.errors import ModelSpecError
from agents.models.identity import find_address, find_name, hide_credentials
from agents.models.transport_retry import find_status, read_retry_after

_log: Final = logging.getLogger(__name__)
_UNITS: Final = {"s": 1, "min": 60, "h": 3600}
"""Seconds in each unit of time."""
_BUSY: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
# A model that is a number would be the port of a URL whose model was forgotten.
_LIMIT: Final = re.compile(
    r"(?P<endpoint> https?://(?:\[[^\]\s]+\]|[^\s/:\[]+)(?::\d+)?(?:/[^\s:]*)?(?!:\d+=) | [a-z][a-z0-9_]*)"
    r":(?P<model>(?!//)\S+)=(?P<calls>[1-9]\d{0,5})/(?P<unit>s|min|h)",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model and where it is served.

    Attributes:
        provider: The provider, such as "ollama" or "openai": the package of LangChain's class.
        address: The URL of its endpoint without credentials; empty if only the class knows it.
        name: The model's name.
    """

    provider: str
    address: str
    name: str


@dataclass(frozen=True, slots=True)
class ModelLimit:
    """The greatest number of calls of a model in any period; ``read_limit`` reads it.

    Attributes:
        endpoint: A provider, or the URL of an endpoint.
        model: Name of the model; ``*`` stands for any characters.
        calls: Number of calls in any period.
        period_s: The period in seconds.
    """

    endpoint: str
    model: str
    calls: int
    period_s: int

    @property
    def name(self) -> str:
        """What is limited. Limits of one name count the same calls."""
        return f"{self.endpoint}:{self.model}"

    def covers(self, model: ServedModel) -> bool:
        """Checks whether the calls of a model are counted."""
        return self.endpoint in (model.provider, model.address) and fnmatchcase(model.name, self.model)


class PausingRateLimiter(BaseRateLimiter):
    """LangChain's interface of a rate limiter, with pauses that the endpoint asks for."""

    @abstractmethod
    def pause(self, seconds: float) -> None:
        """Grants no call for this time. Does not block."""


FindLimiter: TypeAlias = Callable[[ServedModel], PausingRateLimiter | None]
"""Returns what limits a model; None for nothing."""
_finders: list[FindLimiter] = []


def read_limit(text: str) -> ModelLimit:
    """Reads a limit such as ``ollama:qwen3=20/s``, ``openai:*=500/min`` or ``http://gpu1:8000/v1:llama=9/s``.

    Raises:
        ModelSpecError: The text is no limit.
    """
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise ModelSpecError(
            f"the limit {text!r:.200} is not accepted; give ENDPOINT:MODEL=CALLS/UNIT with a provider or a "
            "URL, a model or *, and s, min or h, such as ollama:qwen3=20/s or openai:*=500/min"
        )
    endpoint = match["endpoint"]
    place = hide_credentials(endpoint) if "://" in endpoint else endpoint
    return ModelLimit(place, match["model"], int(match["calls"]), _UNITS[match["unit"]])


@contextmanager
def limit_calls(find: FindLimiter) -> Iterator[None]:
    """Limits the calls of all agents of this process during the block."""
    _finders.append(find)
    try:
        yield
    finally:
        _finders.remove(find)


def wait_for_call(model: object) -> None:
    """Waits until a model may be called."""
    for limiter in _find_limiters(model):
        limiter.acquire()


async def await_call(model: object) -> None:
    """Does the same without blocking the event loop."""
    for limiter in _find_limiters(model):
        await limiter.aacquire()


def heed_refusal(model: object, error: Exception) -> None:
    """Pauses the calls of a model if its server has no capacity and says for how long."""
    seconds = read_retry_after(error) if _finders and find_status(error) in _BUSY else None
    if seconds is not None:
        for limiter in _find_limiters(model):
            limiter.pause(seconds)


def read_served_model(model: object) -> ServedModel:
    """Returns the provider, the endpoint and the name of a model, also of one with tools bound."""
    while isinstance(model, RunnableBinding):
        model = model.bound
    package = type(model).__module__.partition(".")[0]
    address = find_address(model)
    shown = "" if address is None else hide_credentials(address)
    return ServedModel(package.removeprefix("langchain_"), shown, find_name(model) or type(model).__name__)


def _find_limiters(model: object) -> list[PausingRateLimiter]:
    if not _finders:
        return []
    served = read_served_model(model)
    return [limiter for find in _finders if (limiter := find(served)) is not None]
