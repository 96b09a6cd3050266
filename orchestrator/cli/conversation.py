"""A run from its beginning to its end, with the questions that come up on the way."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from rich.console import Console
from rich.text import Text

from orchestrator.cli.ask import Answer, ask, can_ask
from orchestrator.cli.follow import Begin, follow
from orchestrator.cli.interruption import unless_interrupted
from orchestrator.cli.view.consoles import can_draw
from orchestrator.cli.view.progress import progress
from orchestrator.cli.view.text import one_line
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.runtime.events import Event, RunResumed, RunStarted
from orchestrator.state.graph_state import OrchestratorState


@dataclass(frozen=True, slots=True)
class Conversation:
    """Follows a run on a console.

    Attributes:
        orchestrator: Whose run it is.
        thread_id: Names it.
        console: Where its progress, and its questions, are shown.
        quiet: Neither draw nor ask.
        kept_in: The store of a run that is new, which is said as soon as it has begun.
    """

    orchestrator: LangGraphOrchestrator
    thread_id: str
    console: Console
    quiet: bool
    kept_in: str | None = None

    def begin(self, task: str) -> OrchestratorState:
        """Run a task."""
        return self._begun(partial(self.orchestrator.astream, task, self.thread_id))

    def branch_off(self, thread_id: str, step: int) -> OrchestratorState:
        """Go on from before a step of another run."""
        return self._begun(partial(self.orchestrator.astream_forked, thread_id, step, self.thread_id))

    def go_on(self, answer: Mapping[str, str] | None) -> OrchestratorState:
        """Go on with a run, with an answer where one is given."""
        return self._to_the_end(partial(self.orchestrator.astream_resumed, self.thread_id, answer))

    def _begun(self, begin: Begin) -> OrchestratorState:
        return self._to_the_end(partial(self._announced, begin))

    async def _announced(self, begin: Begin) -> AsyncGenerator[Event, None]:
        """The events; before the first, how to find the run again."""
        async with aclosing(begin()) as events:
            async for event in events:
                if self.kept_in is not None and isinstance(event, RunStarted | RunResumed):
                    where = f"thread {one_line(self.thread_id)}, kept in {one_line(self.kept_in)}"
                    self.console.print(Text(where))
                yield event

    def _to_the_end(self, begin: Begin) -> OrchestratorState:
        """The state in which the run ended, or waits where nobody here answers."""
        state = self._followed(begin)
        while (answer := self._answer(state)) is not None:
            state = self._followed(partial(self.orchestrator.astream_resumed, self.thread_id, answer))
        return state

    def _followed(self, begin: Begin) -> OrchestratorState:
        live = not self.quiet and can_draw(self.console)
        with progress(self.console, live=live) as show:
            return follow(self.orchestrator, begin, show)

    def _answer(self, state: OrchestratorState) -> Answer | None:
        question = state["question"]
        if question is None or not question["accepts"] or self.quiet or not can_ask():
            return None
        answer = unless_interrupted(lambda: ask(self.console, question))
        if answer is None:
            self.console.print()
            return None
        return {**answer, "question": question["id"]}
