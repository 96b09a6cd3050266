"""Serves the runs of a store: pages for people, HTTP for programs.

The public names are ``build_app``, ``ServerOptions``, ``NewRun``, ``RunBuilder`` and ``OneOrchestrator``.
"""

import lazy_loader

from orchestrator.service.executions import NewRun, OneOrchestrator, RunBuilder

# Each is imported when it is used, because it may need an extra.
__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={"web_app": ["ServerOptions", "build_app"]},
)
__all__ = ["NewRun", "OneOrchestrator", "RunBuilder", "ServerOptions", "build_app"]
