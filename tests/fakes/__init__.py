"""Public fakes, one module a port: plain objects that answer from a script and note how they were called."""
