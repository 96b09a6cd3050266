"""The tables of PgQueuer, and our table of the workers, in SQL for ``RunSaver.select``."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "orchestrator_"
"""So that the queue does not meet another use of PgQueuer in the same database."""
HAS_QUEUE: Final = "SELECT to_regclass('orchestrator_workers') IS NOT NULL"
CREATE_WORKERS: Final = """
    CREATE TABLE IF NOT EXISTS orchestrator_workers (
        id text PRIMARY KEY, queue text NOT NULL, routes text[] NOT NULL, host text NOT NULL,
        process integer NOT NULL, version text NOT NULL, concurrency integer NOT NULL,
        heartbeat_s double precision NOT NULL,
        started timestamptz NOT NULL DEFAULT now(), seen timestamptz NOT NULL DEFAULT now()
    )
"""
SHOW_LIFE: Final = """
    INSERT INTO orchestrator_workers (id, queue, routes, host, process, version, concurrency, heartbeat_s)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET seen = now()
"""
FORGET_WORKER: Final = "DELETE FROM orchestrator_workers WHERE id = ? OR seen < now() - interval '1 day'"
WORKERS: Final = """
    SELECT id, queue, routes, host, process, version, concurrency, started, seen,
        seen > now() - make_interval(secs => 2 * heartbeat_s)
    FROM orchestrator_workers
    WHERE greatest(started, seen) < '9000-01-01' AND least(started, seen) > '2000-01-01'
        AND heartbeat_s BETWEEN 0 AND 86400
    ORDER BY queue, host, process
"""
COUNTS: Final = """
    SELECT entrypoint, CASE WHEN status = 'picked' THEN 'running' WHEN status = 'failed' THEN 'failed'
        WHEN execute_after > now() THEN 'delayed' ELSE 'waiting' END AS state, count(*)
    FROM orchestrator_pgqueuer
    WHERE status IN ('queued', 'picked', 'failed') AND dedupe_key IS NOT NULL
        AND entrypoint ~ '^[^/]+/[^/]+/[^/]+$'
    GROUP BY 1, 2 ORDER BY 1, 2
"""
"""Leaves out jobs that have ended, and rows that another program wrote."""
FAILED: Final = """
    SELECT job.dedupe_key, job.updated, log.traceback ->> 'exception_message'
    FROM orchestrator_pgqueuer job LEFT JOIN LATERAL (
        SELECT traceback FROM orchestrator_pgqueuer_log WHERE job_id = job.id AND status = 'failed'
        ORDER BY id DESC LIMIT 1
    ) log ON true
    WHERE job.status = 'failed' AND job.dedupe_key IS NOT NULL
        AND job.updated BETWEEN '2000-01-01' AND '9000-01-01'
    ORDER BY job.updated DESC LIMIT 20
"""
ROUTES: Final = """
    SELECT id, entrypoint FROM orchestrator_pgqueuer
    WHERE dedupe_key = ? AND status IN ('queued', 'picked', 'failed') AND entrypoint ~ '^[^/]+/[^/]+/[^/]+$'
"""
REPLACE: Final = """
    UPDATE orchestrator_pgqueuer job SET entrypoint = ?, payload = ?, priority = ?, status = 'queued',
        execute_after = now(), updated = now(), queue_manager_id = NULL
    FROM (SELECT id, status::text FROM orchestrator_pgqueuer WHERE id = ? FOR UPDATE) earlier
    WHERE job.id = earlier.id RETURNING earlier.status
"""
REMOVE_WAITING: Final = "DELETE FROM orchestrator_pgqueuer WHERE dedupe_key = ? AND status = 'queued'"
PAYLOAD: Final = """
    SELECT payload FROM orchestrator_pgqueuer WHERE dedupe_key = ? AND status IN ('queued', 'picked')
"""
FORGET_FAILED: Final = "DELETE FROM orchestrator_pgqueuer WHERE dedupe_key = ? AND status = 'failed'"
COUNT_TAKEN: Final = """
    SELECT (SELECT entrypoint FROM orchestrator_pgqueuer WHERE id = $1) AS route, count(*) AS count
    FROM orchestrator_pgqueuer_log WHERE job_id = $1 AND status = 'picked'
"""
"""For PgQueuer's driver."""
