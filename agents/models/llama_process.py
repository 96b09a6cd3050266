"""The embedded server's process: run as a file, it serves one weights file until its standard input ends.

It reads its settings as one JSON object on the first line of standard input, where no process list shows
the key, and answers with one line: the address it listens on. It imports nothing of this project, so that
it starts as fast as llama.cpp does.

A process of its own, since llama.cpp's server cannot be stopped while it writes a reply: in the user's
process it would keep the interpreter from exiting, and a forked child from ending.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TextIO, TypedDict


class Settings(TypedDict):
    """What to serve, and how.

    Attributes:
        path: The weights file.
        alias: The model's name in replies.
        n_ctx: The context's size in tokens.
        n_threads: Threads to compute with.
        api_key: What every request has to carry.
    """

    path: str
    alias: str
    n_ctx: int
    n_threads: int
    api_key: str


_PROMPT_CACHE_MIB = 256


def serve(incoming: TextIO, outgoing: TextIO) -> object:
    """Serve until ``incoming`` ends.

    Returns:
        The server, which listens until it is freed; freeing it waits for a reply that is being written.

    Raises:
        RuntimeError: llama.cpp cannot load the file.
    """
    import xllamacpp  # noqa: PLC0415 - an extra, and 100 MB of native code

    settings: Settings = json.loads(incoming.readline())
    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["alias"]}
    params.n_ctx = settings["n_ctx"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["n_threads"]
    params.api_keys = [settings["api_key"]]
    params.n_parallel = 1
    params.cache_ram_mib = _PROMPT_CACHE_MIB
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
    # Ctrl-C reaches the whole terminal; whether the model is still needed is the other process's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    running = serve(sys.stdin, sys.stdout)
    os._exit(0)  # with the server still referred to: it is not freed
