"""The table of the index of a store, and the triggers that keep it up to date; see ``runs/history.py``.

``mark`` is 0 if the row is right, 1 if the thread was written to since, else the mark of a reader. A version
that needs other columns gives the table another name: several versions may use one store.
"""

from typing import Final

_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS orchestrator_runs (
        thread_id TEXT PRIMARY KEY,
        mark BIGINT NOT NULL DEFAULT 1,
        checkpoint_id TEXT NOT NULL DEFAULT '',
        status TEXT NOT NULL DEFAULT '',
        started TEXT NOT NULL DEFAULT '',
        updated TEXT NOT NULL DEFAULT '',
        basis TEXT,
        models TEXT,
        task TEXT,
        type TEXT,
        summary {bytes}
    );
    CREATE INDEX IF NOT EXISTS orchestrator_runs_mark ON orchestrator_runs (thread_id) WHERE mark <> 0;
    CREATE INDEX IF NOT EXISTS orchestrator_runs_updated ON orchestrator_runs (checkpoint_id{texts});
    CREATE INDEX IF NOT EXISTS orchestrator_runs_started ON orchestrator_runs (started, checkpoint_id);
    CREATE INDEX IF NOT EXISTS orchestrator_runs_status ON orchestrator_runs (status, checkpoint_id);
    CREATE INDEX IF NOT EXISTS orchestrator_runs_basis ON orchestrator_runs (basis, checkpoint_id);
"""
_FILL: Final = """
    INSERT INTO orchestrator_runs (thread_id)
    SELECT DISTINCT thread_id FROM checkpoints WHERE checkpoint_ns = '' AND NOT EXISTS
    (SELECT 1 FROM orchestrator_runs AS r WHERE r.thread_id = checkpoints.thread_id);
"""
_MARK: Final = """
    CREATE TRIGGER IF NOT EXISTS orchestrator_runs_{table}_{event} AFTER {event} ON {table} BEGIN
        {before}
        UPDATE orchestrator_runs SET mark = 1 WHERE thread_id = {row}.thread_id AND mark <> 1;
    END;
"""
_ADD: Final = """
    INSERT INTO orchestrator_runs (thread_id) SELECT NEW.thread_id WHERE NEW.checkpoint_ns = ''
    AND NOT EXISTS (SELECT 1 FROM orchestrator_runs WHERE thread_id = NEW.thread_id);
"""
_REMOVE: Final = """
    DELETE FROM orchestrator_runs WHERE thread_id = OLD.thread_id AND NOT EXISTS
    (SELECT 1 FROM checkpoints WHERE thread_id = OLD.thread_id AND checkpoint_ns = '');
"""
SQLITE_INDEX: Final = "".join([
    # A filter by a text reads the index alone, a tenth of the table. PostgreSQL bounds the size of an entry.
    _TABLE.format(bytes="BLOB", texts=", models, task"),
    _MARK.format(table="checkpoints", event="INSERT", row="NEW", before=_ADD),
    _MARK.format(table="checkpoints", event="UPDATE", row="NEW", before=""),
    _MARK.format(table="checkpoints", event="DELETE", row="OLD", before=_REMOVE),
    _MARK.format(table="writes", event="INSERT", row="NEW", before=""),
    _MARK.format(table="writes", event="UPDATE", row="NEW", before=""),
    _FILL,
])  # fmt: skip
"""Statements of SQLite."""

# The row is locked even if it is marked: a reader that marks it next waits for the end of this transaction,
# and reads what it wrote. SECURITY DEFINER: a role that may write checkpoints needs no rights on the index.
POSTGRES_INDEX: Final = f"""
    {_TABLE.format(bytes="BYTEA", texts="")}
    CREATE OR REPLACE FUNCTION orchestrator_runs_mark_thread() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DECLARE thread text;
    BEGIN
        IF TG_OP = 'DELETE' THEN
            thread := OLD.thread_id;
        ELSE
            thread := NEW.thread_id;
        END IF;
        IF TG_OP = 'INSERT' AND TG_TABLE_NAME = 'checkpoints' AND NEW.checkpoint_ns = '' THEN
            INSERT INTO orchestrator_runs (thread_id) VALUES (thread) ON CONFLICT DO NOTHING;
        END IF;
        PERFORM 1 FROM orchestrator_runs WHERE thread_id = thread FOR NO KEY UPDATE;
        UPDATE orchestrator_runs SET mark = 1 WHERE thread_id = thread AND mark <> 1;
        IF TG_OP = 'DELETE' THEN
            DELETE FROM orchestrator_runs WHERE thread_id = thread AND NOT EXISTS
            (SELECT 1 FROM checkpoints WHERE thread_id = thread AND checkpoint_ns = '');
        END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER orchestrator_runs_checkpoints AFTER INSERT OR UPDATE OR DELETE ON checkpoints
    FOR EACH ROW EXECUTE FUNCTION orchestrator_runs_mark_thread();
    CREATE TRIGGER orchestrator_runs_writes AFTER INSERT OR UPDATE ON checkpoint_writes
    FOR EACH ROW EXECUTE FUNCTION orchestrator_runs_mark_thread();
    {_FILL}
"""  # noqa: S608 - made of constants
"""Statements of PostgreSQL."""
