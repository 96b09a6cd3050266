"""Limits the calls of all agents of this process by limits that it shares with others."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

from tenacity import Retrying, retry_if_exception_type, sleep_using_event, wait_fixed
from tenacity.stop import stop_after_delay, stop_when_event_set

from agents.errors import ModelSpecError
from agents.models.identity import hide_credentials
from agents.models.model_call import PausingRateLimiter, ServedModel, limit_calls
from orchestrator.errors import ConfigurationError, StoreLostError
from orchestrator.persistence import Store
from orchestrator.persistence.store import names_database
from orchestrator.runs.run_saver import RunSaver

_UNITS: Final = {"s": 1, "min": 60, "h": 3600}
"""Seconds in each unit of time."""
# A model that is a number would be the port of a URL whose model was forgotten.
_LIMIT: Final = re.compile(
    r"(?P<endpoint> https?://(?:\[[^\]\s]+\]|[^\s/:\[]+)(?::\d+)?(?:/[^\s:]*)?(?!:\d+=) | [a-z][a-z0-9_]*)"
    r":(?P<model>(?!//)\S+)=(?P<calls>[1-9]\d{0,5})/(?P<unit>s|min|h)",
    re.VERBOSE,
)
_MARGIN_S: Final = 0.05
"""A call may begin so much later than it was granted without passing the limit."""
_LONGEST_WAIT_S: Final = 1.0
_SHORTEST_WAIT_S: Final = 0.01
_LONGEST_PAUSE_S: Final = 300.0
"""An endpoint that wants a longer pause is asked again after this one."""
_CREATE: Final = """
    CREATE TABLE IF NOT EXISTS orchestrator_limited_calls (name text NOT NULL, called timestamptz NOT NULL);
    CREATE INDEX IF NOT EXISTS orchestrator_limited_calls_index ON orchestrator_limited_calls (name, called);
    CREATE TABLE IF NOT EXISTS orchestrator_limits (
        name text PRIMARY KEY, paused_until timestamptz NOT NULL DEFAULT '-infinity'
    )
"""
_ADD_LIMIT: Final = "INSERT INTO orchestrator_limits (name) VALUES (?) ON CONFLICT DO NOTHING"
_PAUSE: Final = """
    UPDATE orchestrator_limits
    SET paused_until = greatest(paused_until, clock_timestamp() + make_interval(secs => ?)) WHERE name = ?
"""
_FORGET: Final = """
    DELETE FROM orchestrator_limited_calls WHERE name = ? AND called < clock_timestamp() - interval '2 hours'
"""
# The update locks the limit until the function returns; each statement after it sees the calls of others.
_CREATE_TAKE: Final = """
    CREATE OR REPLACE FUNCTION orchestrator_take_call(limited text, most integer, period double precision)
    RETURNS double precision LANGUAGE plpgsql AS $$
    DECLARE wait_s double precision; made integer;
    BEGIN
        UPDATE orchestrator_limits SET paused_until = paused_until WHERE name = limited
        RETURNING extract(epoch FROM paused_until - clock_timestamp()) INTO wait_s;
        IF wait_s > 0 THEN RETURN wait_s; END IF;
        SELECT count(*), extract(epoch FROM min(called) - clock_timestamp()) + period INTO made, wait_s
        FROM orchestrator_limited_calls
        WHERE name = limited AND called > clock_timestamp() - make_interval(secs => period);
        IF made >= most THEN RETURN wait_s; END IF;
        INSERT INTO orchestrator_limited_calls VALUES (limited, clock_timestamp());
        RETURN NULL;
    END $$
"""
_TAKE: Final = "SELECT orchestrator_take_call(?, ?, ?)"


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


class SharedRateLimiter(PausingRateLimiter):
    """Grants at most a number of calls in any period to all processes together.

    One thread of this process asks the database, for one call after another.

    Args:
        limit: The limit.
        saver: The saver of a store in PostgreSQL, which has the tables and this limit.
        lost_s: Seconds that the database may be away before a call fails.

    Attributes:
        limit: The limit.
    """

    def __init__(self, limit: ModelLimit, saver: RunSaver, lost_s: float) -> None:
        self.limit = limit
        self._saver = saver
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="limit")
        self._pausing = ThreadPoolExecutor(1, thread_name_prefix="pause")
        self._closed = threading.Event()
        self._retrying = Retrying(
            retry=retry_if_exception_type(StoreLostError),
            stop=stop_after_delay(lost_s) | stop_when_event_set(self._closed),
            wait=wait_fixed(0.5),
            sleep=sleep_using_event(self._closed),
            reraise=True,
        )

    def acquire(self, *, blocking: bool = True) -> bool:
        """Waits until a call is granted; without ``blocking``, returns whether one is granted now.

        Raises:
            StoreLostError: The database cannot be reached for ``lost_s``. Without it, no call is granted.
        """
        return self._asking.submit(self._wait_for_grant).result() if blocking else self._ask() is None

    async def aacquire(self, *, blocking: bool = True) -> bool:
        """Does the same without blocking the event loop."""
        if not blocking:
            return await asyncio.to_thread(self.acquire, blocking=False)
        return await asyncio.wrap_future(self._asking.submit(self._wait_for_grant))

    def pause(self, seconds: float) -> None:
        """Grants no call to any process for this time, at most 300 s. Does not block."""
        rows = [(min(seconds, _LONGEST_PAUSE_S), self.limit.name)]
        self._pausing.submit(self._retrying, self._saver.change, _PAUSE, rows)

    def close(self) -> None:
        """Ends all waits with an error."""
        self._closed.set()
        self._pausing.shutdown()
        self._asking.shutdown(cancel_futures=True)

    def _wait_for_grant(self) -> bool:
        while (seconds := self._retrying(self._ask)) is not None:
            if self._closed.wait(min(max(seconds, _SHORTEST_WAIT_S), _LONGEST_WAIT_S)):
                raise RuntimeError("the limits were closed while a call waited")
        return True

    def _ask(self) -> float | None:
        """Returns None if a call is granted, else the seconds until it may be."""
        values = (self.limit.name, self.limit.calls, self.limit.period_s + _MARGIN_S)
        ((seconds,),) = self._saver.select(_TAKE, values)
        return None if seconds is None else float(seconds)


_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SharedLimits:
    """Limits by endpoint and model.

    Attributes:
        limiters: LangChain's rate limiters, one for each limit, in the order of the limits. The agents of
            this process wait for them; a model that you call yourself takes one as ``rate_limiter=``.
    """

    limiters: tuple[SharedRateLimiter, ...]
    _reported: set[ServedModel] = field(default_factory=set)

    def find(self, model: ServedModel) -> SharedRateLimiter | None:
        """Returns the limiter of the first limit that covers a model. Reports a model without one, once."""
        found = next((each for each in self.limiters if each.limit.covers(model)), None)
        if found is None and model not in self._reported:
            self._reported.add(model)
            place = f" at {model.address}" if model.address else ""
            _log.warning("no limit covers %s:%s%s", model.provider, model.name, place)
        return found


@contextmanager
def share_limits(
    store: Store, limits: Sequence[str | ModelLimit], *, lost_s: float = 30.0
) -> Iterator[SharedLimits]:
    """Limits the calls of all agents of this process, together with all processes on the same database.

    At most so many calls are granted in any period. If an endpoint answers with HTTP 429 or 503 and
    ``Retry-After``, all processes pause, at most 300 s. Without limits, nothing is limited.

    Args:
        store: A store in PostgreSQL.
        limits: The limits, such as "ollama:qwen3=20/s"; the first that covers a model applies to it.
        lost_s: Seconds that the database may be away before a call fails; without it, none is made.

    Raises:
        ModelSpecError: A limit is not accepted.
        ConfigurationError: The store is no PostgreSQL, or a model is given two limits.
        StoreLostError: The database cannot be reached.
    """
    read = read_limits(limits)
    with ExitStack() as stack:
        limiters = _open(store, read, lost_s) if read else []
        opened = SharedLimits(tuple(stack.enter_context(closing(each)) for each in limiters))
        if read:
            stack.enter_context(limit_calls(opened.find))
        yield opened


def read_limits(limits: Sequence[str | ModelLimit]) -> list[ModelLimit]:
    """Reads the limits of ``share_limits``, and creates nothing.

    Raises:
        ModelSpecError: A limit is not accepted.
        ConfigurationError: A model is given two limits.
    """
    read = [read_limit(limit) if isinstance(limit, str) else limit for limit in limits]
    names = [limit.name for limit in read]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise ConfigurationError(f"{repeated} is given {names.count(repeated)} limits; give it one")
    return read


def _open(store: Store, limits: Sequence[ModelLimit], lost_s: float) -> list[SharedRateLimiter]:
    if not names_database(store.where):
        raise ConfigurationError(
            f"{store.where} cannot count the calls of several processes; give a database as "
            "postgresql://USER:PASSWORD@HOST/NAME"
        )
    store.saver.create_tables("orchestrator_limits", f"{_CREATE}; {_CREATE_TAKE}")
    rows = [(limit.name,) for limit in limits]
    store.saver.change(_ADD_LIMIT, rows)
    store.saver.change(_FORGET, rows)
    return [SharedRateLimiter(limit, store.saver, lost_s) for limit in limits]
