"""Where a study is kept: its lock, its finished runs, and the replies of models."""
