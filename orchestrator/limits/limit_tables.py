"""The tables of the limits, in PostgreSQL. Every time in them is by the clock of the database."""

from __future__ import annotations

from typing import Final

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
