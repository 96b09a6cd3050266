"""Verifies the final output by a verifier whose claims were measured on tasks with known answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from agents.models.chat_options import Sampling
from agents.models.identity import identify_judge
from evaluation.judges.figures import VerifierFigures, count_agreeing, find_figures
from orchestrator.errors import ConfigurationError
from orchestrator.judging.judging_calls import Evaluated
from orchestrator.runtime.agent_methods import AgentMethod, bind_method
from orchestrator.runtime.call import Raised, call_agent
from orchestrator.runtime.run_context import RunContext
from orchestrator.state.plain_values import plain_text
from orchestrator.state.records import StepRecord, VerificationRecord, VerifierName

SAMPLES: Final = 5
TEMPERATURE: Final = 0.7


@dataclass(frozen=True, slots=True)
class Verification:
    """The word of a verifier on an output.

    Attributes:
        verifier: The name of the verifier.
        approvals: The number of samples that approve the output.
        samples: The number of all samples.
        figures: How often its claims were right; None if it was not measured.
    """

    verifier: VerifierName
    approvals: int
    samples: int
    figures: VerifierFigures | None

    @property
    def holds(self) -> bool:
        """Whether enough samples approve the output."""
        needed = self._find_threshold()
        return needed is not None and self.approvals / self.samples >= needed

    def as_record(self) -> VerificationRecord:
        """Returns the verification as plain JSON."""
        share = self.approvals / self.samples
        return VerificationRecord(verifier=self.verifier, share=share, needed=self._find_threshold())

    def describe(self) -> str:
        """Returns the verification in words."""
        found = {
            "agreement": f"{self.approvals} of {self.samples} further answers of the model agree",
            "judge": "accepted by the monitor" if self.approvals else "refused by the monitor",
        }[self.verifier]
        return f"{found}; {self._describe_figures()}"

    def _describe_figures(self) -> str:
        needed = self._find_threshold()
        if self.figures is None:
            command = f"orchestrator doctor --verifier {self.verifier} --tasks FILE"
            return f"how often that is right was not measured: `{command}`"
        bound = f"at most {self.figures.max_wrong:.0%} wrong, measured on {self.figures.tasks} tasks"
        if needed is None:
            return f"such answers were not shown to be {bound}"
        return bound if self.holds else f"{round(needed * self.samples)} are needed for {bound}"

    def _find_threshold(self) -> float | None:
        return None if self.figures is None else self.figures.threshold


@dataclass(frozen=True, slots=True)
class Verifier:
    """Verifies final outputs.

    Attributes:
        name: "agreement" asks the executor for further answers to the whole task, and counts those that say
            the same; "judge" is the verdict of the monitor.
        execute: Executes a step, with a temperature and a seed.
        executor: The executor.
        monitor: The monitor, or the judge in its place.
    """

    name: VerifierName
    execute: AgentMethod[object]
    executor: object
    monitor: object

    async def verify(
        self, record: StepRecord, task: str, accepted: bool, run: RunContext
    ) -> tuple[Verification, Evaluated]:
        """Verifies the output of an execution.

        Returns:
            The verification, and the model calls for it.
        """
        # In a thread: both the identity of a model and its figures are read from files.
        figures = await asyncio.to_thread(_find_verifier_figures, self.name, self.executor, self.monitor)
        if self.name == "judge":
            return Verification("judge", int(accepted), 1, figures), Evaluated()
        answers, calls = await self._sample(record, task, run)
        agreeing = count_agreeing(task, record["result"], answers)
        return Verification("agreement", agreeing, SAMPLES, figures), calls

    async def _sample(self, record: StepRecord, task: str, run: RunContext) -> tuple[list[str], Evaluated]:
        answers, calls = list[str](), Evaluated()
        for seed in range(1, SAMPLES + 1):
            sample = partial(self.execute, sampling=Sampling(temperature=TEMPERATURE, seed=seed))
            called = await call_agent(sample, task, run=run, step_index=record["step_index"])
            calls = calls.add_spent(called.spent)
            if isinstance(called, Raised):
                # A limit of the run ends it; a sample that failed agrees with nothing.
                return answers, replace(calls, error=called if called.kind else None)
            answers.append(plain_text(called.value) if isinstance(called.value, str) else "")
        return answers, calls


def build_verifier(
    name: VerifierName | None, executor: object, monitor: object, tools: Mapping[str, object]
) -> Verifier | None:
    """Builds the verifier of an orchestrator.

    Raises:
        ConfigurationError: The executor has tools, whose effects further answers would repeat, or it cannot
            give several answers to one task.
    """
    if name is None:
        return None
    execute = bind_method(executor, "execute_step")
    if name == "agreement" and tools:
        raise ConfigurationError(
            "verifier is 'agreement', which asks the executor again, and the executor has tools, which would "
            "act again; give verifier='judge', or an executor without tools"
        )
    if name == "agreement" and "sampling" not in execute.takes:
        raise ConfigurationError(
            "verifier is 'agreement', and execute_step of the executor takes no sampling=, so that it cannot "
            "give several answers; give an ExecutionAgent, or verifier='judge'"
        )
    return Verifier(name, execute, executor, monitor)


def identify_verifier(name: VerifierName, executor: object, monitor: object) -> str | None:
    """Names a verifier by the models and instructions that its claims depend on; None if one has no name."""
    form = [str(getattr(executor, "system_prompt", "")), SAMPLES, TEMPERATURE]
    writer = identify_judge(executor, getattr(executor, "llm", None), json.dumps(form))
    judge = getattr(monitor, "identity", None)
    return f"{name}: {writer}; {judge}" if writer and isinstance(judge, str) else None


def _find_verifier_figures(name: VerifierName, executor: object, monitor: object) -> VerifierFigures | None:
    identity = identify_verifier(name, executor, monitor)
    return None if identity is None else find_figures(identity)
