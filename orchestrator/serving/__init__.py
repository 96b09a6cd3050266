"""Serves the runs of a store: pages for people, HTTP and the Model Context Protocol for programs.

The public names are ``build_app``, ``build_mcp_server``, ``ServerOptions``, ``RunBuilder`` and
``OneOrchestrator``.
"""

import lazy_loader

# Each is imported when it is used, because it may need an extra.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
