"""Counts runs, steps, retries, tokens and costs as OpenTelemetry metrics."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.metrics import Meter

from orchestrator.runs.reader import list_models
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.usage import Usage
from orchestrator.telemetry.span_tree import PREFIX


class RunMetrics:
    """The counters of all runs of one meter.

    Their names begin with ``plan_execute_monitor.``: ``runs``, ``steps``, ``attempts``, ``tokens``, ``cost``
    in US dollars and ``model_latency`` in seconds, by status, basis and the executor's models; ``retries`` by
    strategy. The spans' package has the tokens and the duration of each call by its own model.
    """

    def __init__(self, meter: Meter) -> None:
        self._runs = meter.create_counter(f"{PREFIX}.runs", "{run}", "Runs that ended or wait for a person")
        self._steps = meter.create_counter(f"{PREFIX}.steps", "{step}", "Steps that were accepted")
        self._attempts = meter.create_counter(f"{PREFIX}.attempts", "{attempt}", "Judged executions of steps")
        self._retries = meter.create_counter(f"{PREFIX}.retries", "{retry}", "Steps that are executed again")
        self._tokens = meter.create_counter(f"{PREFIX}.tokens", "{token}", "Tokens of all model calls")
        self._cost = meter.create_counter(f"{PREFIX}.cost", "{USD}", "Costs of all model calls")
        self._latency = meter.create_histogram(f"{PREFIX}.model_latency", "s", "Time in model calls by run")

    def count_attempt(self, model: str | None, labels: Mapping[str, str], *, is_accepted: bool) -> None:
        """Counts a judged execution, and its step if it was accepted."""
        by_model = {**labels, **_name_model(model)}
        self._attempts.add(1, by_model)
        if is_accepted:
            self._steps.add(1, by_model)

    def count_retry(self, strategy: str) -> None:
        """Counts a step that is executed again."""
        self._retries.add(1, {f"{PREFIX}.strategy": strategy})

    def count_run(self, state: OrchestratorState, before: Usage, labels: Mapping[str, str]) -> None:
        """Counts a run that stops, with its usage since it began or was resumed.

        Args:
            state: The state at the stop.
            before: The usage until the run was resumed.
            labels: The status and the basis.
        """
        usage = state["usage"]
        by_model = {**labels, **_name_model(", ".join(list_models(state)))}
        self._runs.add(1, by_model)
        self._latency.record((usage["latency_ms"] - before["latency_ms"]) / 1000, by_model)
        if usage["total_tokens"] is not None:
            self._tokens.add(usage["total_tokens"] - (before["total_tokens"] or 0), by_model)
        if usage["cost_usd"] is not None:
            self._cost.add(usage["cost_usd"] - (before["cost_usd"] or 0), by_model)


def _name_model(model: str | None) -> Mapping[str, str]:
    return {"gen_ai.request.model": model or "none"}
