"""Counts runs, steps, retries, tokens and costs as OpenTelemetry metrics."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.metrics import Meter

from orchestrator.state.graph_state import OrchestratorState
from orchestrator.telemetry.span_tree import PREFIX


class RunMetrics:
    """The counters of all runs of one meter.

    Their names begin with ``plan_execute_monitor.``: ``runs`` by status and basis, ``attempts`` by status,
    ``retries`` by strategy, ``tokens``, ``cost`` in US dollars, ``model_latency`` in seconds.
    """

    def __init__(self, meter: Meter) -> None:
        self._runs = meter.create_counter(f"{PREFIX}.runs", "{run}", "Runs that ended or wait for a person")
        self._attempts = meter.create_counter(f"{PREFIX}.attempts", "{attempt}", "Judged executions of steps")
        self._retries = meter.create_counter(f"{PREFIX}.retries", "{retry}", "Steps that are executed again")
        self._tokens = meter.create_counter(f"{PREFIX}.tokens", "{token}", "Tokens of all model calls")
        self._cost = meter.create_counter(f"{PREFIX}.cost", "{USD}", "Costs of all model calls")
        self._latency = meter.create_histogram(f"{PREFIX}.model_latency", "s", "Time in model calls by run")

    def count_attempt(self, labels: Mapping[str, str]) -> None:
        """Counts a judged execution."""
        self._attempts.add(1, labels)

    def count_retry(self, strategy: str) -> None:
        """Counts a step that is executed again."""
        self._retries.add(1, {f"{PREFIX}.strategy": strategy})

    def count_run(self, state: OrchestratorState, labels: Mapping[str, str]) -> None:
        """Counts a run that stops, with its usage so far."""
        usage = state["usage"]
        self._runs.add(1, labels)
        self._latency.record(usage["latency_ms"] / 1000, labels)
        if usage["total_tokens"] is not None:
            self._tokens.add(usage["total_tokens"], labels)
        if usage["cost_usd"] is not None:
            self._cost.add(usage["cost_usd"], labels)
