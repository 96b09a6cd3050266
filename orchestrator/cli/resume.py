"""``orchestrator resume``: go on with a run that waits for an answer, or that was cut off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from orchestrator.cli.answering import Answer, given
from orchestrator.cli.arguments import text
from orchestrator.cli.consoles import logs_on, progress_console
from orchestrator.cli.conversation import Conversation
from orchestrator.cli.ending import end
from orchestrator.cli.exits import bad_input_exits
from orchestrator.cli.options import (
    SPEC,
    AsJson,
    CallTimeout,
    Database,
    MaxCalls,
    MaxSeconds,
    MaxTokens,
    StepTimeout,
    options_from,
)
from orchestrator.cli.store import Store, kept_in, open_store
from orchestrator.errors import ConfigurationError
from orchestrator.state import OrchestratorState
from orchestrator.wiring import build_orchestrator

Thread = Annotated[str, typer.Argument(help="The run.", metavar="THREAD", show_default=False, parser=text)]
Approve = Annotated[bool, typer.Option("--approve", help="The output stands.")]
Correct = Annotated[
    str | None, typer.Option(help="Do it again, otherwise: how.", metavar="TEXT", parser=text)
]
Deny = Annotated[str | None, typer.Option(help="End the run: why.", metavar="REASON", parser=text)]
Model = Annotated[str | None, typer.Option(help=SPEC, metavar="SPEC", parser=text)]


def resume(
    thread: Thread,
    *,
    approve: Approve = False,
    correct: Correct = None,
    deny: Deny = None,
    db: Database = None,
    model: Model = None,
    json: AsJson = False,
    call_timeout: CallTimeout = None,
    step_timeout: StepTimeout = None,
    max_seconds: MaxSeconds = None,
    max_tokens: MaxTokens = None,
    max_calls: MaxCalls = None,
) -> None:
    """Go on with the run THREAD: with your answer where it waits for one, or after a crash without.

    What is not typed is as it was when the run began. Exit status: as that of run.
    """
    typed = {
        "model": model,
        "call_timeout": call_timeout,
        "step_timeout": step_timeout,
        "max_seconds": max_seconds,
        "max_tokens": max_tokens,
        "max_calls": max_calls,
    }
    with bad_input_exits():
        answer = _answer(approve=approve, correct=correct, deny=deny)
        with open_store(db) as store:
            state = _resume(thread, answer, typed, store, quiet=json)
    end(state, thread, store, json=json)


def _answer(*, approve: bool, correct: str | None, deny: str | None) -> Answer | None:
    texts = {"correct": correct, "deny": deny}
    answers = {word: said for word, said in texts.items() if said is not None}
    if approve + len(answers) > 1:
        raise ConfigurationError(
            "--approve, --correct and --deny contradict each other; give one of them, or none after a crash"
        )
    for word, said in answers.items():
        if not said.strip():
            raise ConfigurationError(f"--{word} is {said!r}; give a text that says what to do, or why")
        return given(word, said)
    return given("approve") if approve else None


def _resume(
    thread_id: str, answer: Answer | None, typed: Mapping[str, object], store: Store, *, quiet: bool
) -> OrchestratorState:
    options = options_from(store.command_of(thread_id), thread_id).but(**typed)
    store.saver.keep(options.kept())
    console = progress_console()
    with logs_on(console):
        orchestrator = build_orchestrator(options.model, options.settings(), checkpointer=store.saver)
        with kept_in(store.path, thread_id):
            return Conversation(orchestrator, thread_id, console, quiet).go_on(answer)
