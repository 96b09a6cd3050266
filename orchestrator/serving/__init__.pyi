from .live.run_builders import NewRun as NewRun
from .live.run_builders import OneOrchestrator as OneOrchestrator
from .live.run_builders import RunBuilder as RunBuilder
from .mcp.mcp_server import build_mcp_server as build_mcp_server
from .server_options import ServerOptions as ServerOptions
from .web_app import build_app as build_app
