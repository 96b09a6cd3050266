"""Agents that plan, execute and judge, over any LangChain chat model."""

from agents.base import BaseAgent
from agents.compression import CompressContextTool, SummarizingCompressor
from agents.contracts import UNREADABLE_PREFIX, Verdict
from agents.errors import (
    AgentError,
    ModelRefusedError,
    ModelSetupError,
    ModelSpecError,
    ModelUnavailableError,
    PlanError,
    ToolLoopError,
)
from agents.execution import ExecutionAgent
from agents.models import load_model
from agents.models.transport_retry import TransportRetry
from agents.monitoring import MonitoringAgent
from agents.planning import PlanningAgent

__all__ = [
    "UNREADABLE_PREFIX",
    "AgentError",
    "BaseAgent",
    "CompressContextTool",
    "ExecutionAgent",
    "ModelRefusedError",
    "ModelSetupError",
    "ModelSpecError",
    "ModelUnavailableError",
    "MonitoringAgent",
    "PlanError",
    "PlanningAgent",
    "SummarizingCompressor",
    "ToolLoopError",
    "TransportRetry",
    "Verdict",
    "load_model",
]
