from orchestrator.service.executions import NewRun as NewRun
from orchestrator.service.executions import OneOrchestrator as OneOrchestrator
from orchestrator.service.executions import RunBuilder as RunBuilder

from .web_app import ServerOptions as ServerOptions
from .web_app import build_app as build_app
