"""Five-phase supervision of a step: COMMIT, EXECUTE, POST, RECONCILE, SUPERVISE."""
