"""Limits the calls of all agents of this process by limits that it shares with others."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final, cast

from agents.models.call_limits import ModelLimit, ServedModel, limit_calls, read_limit
from orchestrator.errors import ConfigurationError
from orchestrator.limits.limit_tables import ADD_LIMIT, CREATE, HAS_TABLES
from orchestrator.persistence import Store

if TYPE_CHECKING:
    from orchestrator.limits.shared_limiter import SharedRateLimiter
    from orchestrator.persistence.postgres import PostgresRunSaver

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
        opened = SharedLimits(
            tuple(stack.enter_context(closing(each)) for each in _open(store, read, lost_s))
        )
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
    if not limits:
        return []
    if not store.saver.HOLDS_QUEUES:
        raise ConfigurationError(
            f"{store.where} cannot count the calls of several processes; give a database as "
            "postgresql://USER:PASSWORD@HOST/NAME"
        )
    # Imported here: psycopg is an extra, which such a saver has.
    from orchestrator.limits.shared_limiter import SharedRateLimiter  # noqa: PLC0415

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
