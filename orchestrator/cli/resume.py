"""``orchestrator resume``: go on with a run that waits for an answer, or that was cut off."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.cli.ask import Answer, given
from orchestrator.cli.conversation import Conversation
from orchestrator.cli.ending import end
from orchestrator.cli.exits import bad_input_exits
from orchestrator.cli.options import options_from
from orchestrator.cli.store import command_of, kept_in, open_store
from orchestrator.cli.view.consoles import logs_on, progress_console
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.wiring import build_orchestrator


def go_on(
    thread: str,
    typed: Mapping[str, object],
    *,
    approve: bool,
    correct: str | None,
    deny: str | None,
    db: str | None,
    json: bool,
) -> None:
    """Go on with a run, print how it ended and exit.

    Args:
        thread: Names the run.
        typed: Fields of ``Options`` that are not to be as they were; None for those that are.
        approve: The answer is that the output stands.
        correct: The answer is to do it again, like this.
        deny: The answer is to end the run, for this reason.
        db: The file that keeps it; None for the user's.
        json: Print JSON, and ask nothing.

    Raises:
        typer.Exit: With the exit status, but for success.
    """
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
    options = options_from(command_of(store, thread_id), thread_id).but(**typed)
    store.keep(options.kept())
    console = progress_console()
    with logs_on(console):
        orchestrator = build_orchestrator(options.model, options.settings(), checkpointer=store.saver)
        with kept_in(store, thread_id):
            return Conversation(orchestrator, thread_id, console, quiet).go_on(answer)
