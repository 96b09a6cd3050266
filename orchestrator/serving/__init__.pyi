from .live.run_sessions import NewRun as NewRun
from .live.run_sessions import OneOrchestrator as OneOrchestrator
from .live.run_sessions import RunBuilder as RunBuilder
from .mcp_server import build_mcp_server as build_mcp_server
from .request_guard import ServerOptions as ServerOptions
from .web_app import build_app as build_app
