"""Limits the calls of all agents of this process by limits that it shares with others."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, cast

from tenacity import Retrying, retry_if_exception_type, sleep_using_event, wait_fixed
from tenacity.stop import stop_after_delay, stop_when_event_set

from agents.errors import ModelSpecError
from agents.models.identity import hide_credentials
from agents.models.model_call import PausingRateLimiter, ServedModel, limit_calls
from orchestrator.errors import ConfigurationError, StoreError, StoreLostError
from orchestrator.persistence import Store

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import DictRow

    from orchestrator.persistence.postgres import PostgresRunSaver


_UNITS: Final = {"s": 1, "min": 60, "h": 3600}
"""Seconds in each unit of time."""
# A model that is a number would be the port of a URL whose model was forgotten.
_LIMIT: Final = re.compile(
    r"(?P<endpoint> https?://(?:\[[^\]\s]+\]|[^\s/:\[]+)(?::\d+)?(?:/[^\s:]*)?(?!:\d+=) | [a-z][a-z0-9_]*)"
    r":(?P<model>(?!//)\S+)=(?P<calls>[1-9]\d{0,5})/(?P<unit>s|min|h)",
    re.VERBOSE,
)
_MARGIN: Final = timedelta(milliseconds=50)
"""A call may begin so much later than it was granted without passing the limit."""
_LONGEST_WAIT_S: Final = 1.0
_SHORTEST_WAIT_S: Final = 0.01
_PATIENCE: Final = timedelta(seconds=2 * _LONGEST_WAIT_S)
"""A worker that waits asks at least twice in this time, so one that does not ask has stopped."""
_LONGEST_PAUSE_S: Final = 300.0
"""An endpoint that wants a longer pause is asked again after this one."""


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
    """Grants at most a number of calls in any period to all processes together, with equal shares.

    One thread of this process asks the database, for one call after another.

    Args:
        limit: The limit.
        saver: The saver of a store in PostgreSQL, which has the tables and this limit.
        lost_s: Seconds that the database may be away before a call fails.

    Attributes:
        limit: The limit.
        worker: The name of this process in the database.
    """

    def __init__(self, limit: ModelLimit, saver: PostgresRunSaver, lost_s: float) -> None:
        self.limit = limit
        self.worker = str(uuid.uuid4())
        self._saver = saver
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="limit")
        self._closed, self._woken = threading.Event(), threading.Event()
        self._pauses = deque[float]()
        self._waiting = set[Future[bool]]()
        self._values: dict[str, Any] = {
            "name": limit.name,
            "worker": self.worker,
            "calls": limit.calls,
            "period": timedelta(seconds=limit.period_s) + _MARGIN,
            "patience": _PATIENCE,
        }
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
            StoreError: The database has no such limit.
        """
        return self._start_wait().result() if blocking else self._ask() is None

    async def aacquire(self, *, blocking: bool = True) -> bool:
        """Does the same without blocking the event loop."""
        if not blocking:
            return await asyncio.to_thread(self.acquire, blocking=False)
        return await asyncio.wrap_future(self._start_wait())

    def pause(self, seconds: float) -> None:
        """Grants no call to any process for this time, at most 300 s. Does not block."""
        self._pauses.append(min(seconds, _LONGEST_PAUSE_S))
        self._woken.set()
        self._asking.submit(self._retrying, self._send_pauses)

    def close(self) -> None:
        """Ends all waits with an error."""
        self._closed.set()
        self._woken.set()
        self._asking.shutdown(cancel_futures=True)
        with suppress(StoreLostError):
            self._send_pauses()

    def _start_wait(self) -> Future[bool]:
        wait = self._asking.submit(self._wait_for_grant)
        self._waiting.add(wait)
        wait.add_done_callback(self._waiting.discard)
        return wait

    def _wait_for_grant(self) -> bool:
        while (seconds := self._retrying(self._ask)) is not None:
            self._woken.wait(min(max(seconds, _SHORTEST_WAIT_S), _LONGEST_WAIT_S))
            if self._closed.is_set():
                raise RuntimeError("the limits were closed while a call waited")
            self._woken.clear()
        return True

    def _ask(self) -> float | None:
        """Returns None if a call is granted, else the seconds until it may be."""
        with self._saver.connection() as connection, connection.transaction():
            paused_s = self._lock(connection)
            if paused_s > 0:
                return paused_s
            values = {**self._values, "waiting": len(self._waiting)}
            [answer] = connection.execute(TAKE, values).fetchall()
        return None if answer["is_granted"] else float(answer["wait_s"])

    def _send_pauses(self) -> None:
        if self._pauses:
            with self._saver.connection() as connection, connection.transaction():
                self._lock(connection)

    def _lock(self, connection: Connection[DictRow]) -> float:
        """Locks the limit, and stores the pauses; returns how many seconds it is paused."""
        sent = [*self._pauses]
        row = connection.execute(LOCK, {**self._values, "pause_s": max(sent, default=0)}).fetchone()
        if row is None:
            raise StoreError(
                f"the database has no limit {self.limit.name} any more; start this process again"
            )
        for each in sent:
            with suppress(ValueError):  # another call of this process sent it, too
                self._pauses.remove(each)
        return float(row["pause_s"])


CREATE: Final = """
    CREATE TABLE IF NOT EXISTS orchestrator_limits (
        name text PRIMARY KEY, longest interval NOT NULL,
        paused_until timestamptz NOT NULL DEFAULT '-infinity'
    );
    CREATE TABLE IF NOT EXISTS orchestrator_limited_calls (
        name text NOT NULL, worker text NOT NULL, called timestamptz NOT NULL
    );
    CREATE INDEX IF NOT EXISTS orchestrator_limited_calls_index ON orchestrator_limited_calls (name, called);
    CREATE TABLE IF NOT EXISTS orchestrator_limit_waits (
        name text NOT NULL, worker text NOT NULL, asked timestamptz NOT NULL, PRIMARY KEY (name, worker)
    )
"""
HAS_TABLES: Final = "SELECT to_regclass('orchestrator_limit_waits') IS NOT NULL AS done"
ADD_LIMIT: Final = """
    INSERT INTO orchestrator_limits (name, longest) VALUES (%(name)s, %(longest)s)
    ON CONFLICT (name) DO UPDATE SET longest = greatest(orchestrator_limits.longest, excluded.longest)
"""
# An update, not FOR UPDATE: if the database has a stricter isolation by default, the second process fails.
LOCK: Final = """
    UPDATE orchestrator_limits
    SET paused_until = greatest(paused_until, clock_timestamp() + make_interval(secs => %(pause_s)s))
    WHERE name = %(name)s
    RETURNING extract(epoch FROM paused_until - clock_timestamp())::float AS pause_s
"""
"""Locks a limit until the end of the transaction, and returns how long it is paused."""
TAKE: Final = """
    WITH recent AS (
        SELECT worker, called FROM orchestrator_limited_calls
        WHERE name = %(name)s AND called > statement_timestamp() - %(period)s
    ), counted AS (
        SELECT count(*) AS made, count(*) FILTER (WHERE worker = %(worker)s) AS own,
            extract(epoch FROM min(called) + %(period)s - statement_timestamp())::float AS free_s
        FROM recent
    ), decided AS (
        SELECT made < %(calls)s AND NOT EXISTS (
            SELECT FROM orchestrator_limit_waits other
            WHERE other.name = %(name)s AND other.worker <> %(worker)s
                AND other.asked > statement_timestamp() - %(patience)s
                AND (SELECT count(*) FROM recent WHERE recent.worker = other.worker) < own
        ) AS is_granted, CASE WHEN made < %(calls)s THEN 0 ELSE free_s END AS wait_s
        FROM counted
    ), granted AS (
        INSERT INTO orchestrator_limited_calls (name, worker, called)
        SELECT %(name)s, %(worker)s, statement_timestamp() FROM decided WHERE is_granted
    ), waiting AS (
        INSERT INTO orchestrator_limit_waits (name, worker, asked)
        SELECT %(name)s, %(worker)s, statement_timestamp() FROM decided WHERE %(waiting)s > is_granted::int
        ON CONFLICT (name, worker) DO UPDATE SET asked = excluded.asked
    ), served AS (
        DELETE FROM orchestrator_limit_waits WHERE name = %(name)s AND (
            worker = %(worker)s AND %(waiting)s <= (SELECT is_granted::int FROM decided)
            OR worker <> %(worker)s AND asked <= statement_timestamp() - %(patience)s
        )
    ), forgotten AS (
        DELETE FROM orchestrator_limited_calls WHERE name = %(name)s AND called < statement_timestamp()
            - (SELECT longest FROM orchestrator_limits WHERE name = %(name)s)
    )
    SELECT is_granted, wait_s FROM decided
"""
"""Grants a call if fewer than ``calls`` were made in the last ``period``, and no other waiting worker has
made fewer of them than this one. So all busy workers get the same share, and what one leaves is for the
others. ``waiting`` is the number of calls that wait in this worker. A worker that has not asked for the time
``patience`` waits no more.
"""


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

    At most so many calls are granted in any period. Each process that waits for calls gets the same share,
    and what it leaves is for the others. If an endpoint answers with HTTP 429 or 503 and ``Retry-After``,
    all processes pause, at most 300 s. Without limits, nothing is limited.

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
    if not store.saver.HOLDS_QUEUES:
        raise ConfigurationError(
            f"{store.where} cannot count the calls of several processes; give a database as "
            "postgresql://USER:PASSWORD@HOST/NAME"
        )
    saver = cast("PostgresRunSaver", store.saver)
    _create(saver, store.where, limits)
    return [SharedRateLimiter(limit, saver, lost_s) for limit in limits]


def _create(saver: PostgresRunSaver, where: str, limits: Sequence[ModelLimit]) -> None:
    from orchestrator.persistence.postgres import setup_lock  # noqa: PLC0415 - an extra

    with saver.connection() as connection:
        if not saver.select(HAS_TABLES, ())[0][0]:
            with setup_lock(connection, where), connection.transaction():
                connection.execute(CREATE, prepare=False)
        rows = [{"name": each.name, "longest": timedelta(seconds=each.period_s + 1)} for each in limits]
        connection.cursor().executemany(ADD_LIMIT, rows)
