"""Serves one weights file with llama.cpp, as a separate program, until its standard input ends.

The program reads its settings as one JSON object from the first line of standard input, so that no process
list shows the key, and writes one line: its address. It imports nothing from this project, which keeps its
start fast.

It is a separate process because llama.cpp's server cannot be stopped while it writes a reply. In the user's
process it would keep the interpreter from exiting.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TextIO


def serve(incoming: TextIO, outgoing: TextIO) -> object:
    """Serves until ``incoming`` ends.

    Args:
        incoming: A line with ``path`` (of the weights), ``alias`` (the name of the model in replies),
            ``n_ctx`` (the size of the context in tokens), ``n_threads`` and ``api_key`` (for every request).
        outgoing: Gets one line, the address.

    Returns:
        The server. It runs until it is freed, and freeing it waits for a reply that is being written.

    Raises:
        RuntimeError: llama.cpp cannot load the file.
    """
    import xllamacpp  # noqa: PLC0415 - an extra, and 100 MB of native code

    settings = json.loads(incoming.readline())
    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["alias"]}
    params.n_ctx = settings["n_ctx"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["n_threads"]
    params.api_keys = [settings["api_key"]]
    params.n_parallel = 1
    params.cache_ram_mib = 256
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = params.ui_mcp_proxy = False
    params.endpoint_slots = params.endpoint_metrics = params.endpoint_props = False
    params.offline = True
    params.verbosity = -1
    server = xllamacpp.Server(params)
    outgoing.write(f"{server.listening_address}\n")
    outgoing.flush()
    incoming.read()
    return server


if __name__ == "__main__":
    # The terminal sends Ctrl-C to both processes; the other one decides whether the model is still needed.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    running = serve(sys.stdin, sys.stdout)
    os._exit(0)  # skips freeing the server
