"""Explains wrong usage in one sentence, instead of the usage lines, a hint and an error."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from orchestrator.cli.process.statuses import BAD_INPUT, INTERRUPTED

_SHOWN_CHARACTERS: Final = 300


class SentenceGroup(TyperGroup):
    """The commands. An error of usage ends the process with one sentence and status 2."""

    def main(self, args: Sequence[str] | None = None, **options: Any) -> NoReturn:  # type: ignore[override]  # noqa: ANN401
        """Run a command and exit."""
        try:
            status = super().main(args, **{**options, "standalone_mode": False})
        except typer.Abort:
            _exit("interrupted", INTERRUPTED)
        except typer.TyperException as error:
            _exit(self._explain(error), BAD_INPUT)
        sys.exit(status or 0)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - Typer's
        """Find the command, or suggest one."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            ctx.fail(self._suggest_command(args[0]))
        return super().resolve_command(ctx, args)

    def _explain(self, error: typer.TyperException) -> str:
        message = error.format_message().rstrip(".").replace("Value error, ", "")
        context = getattr(error, "ctx", None)
        command = "orchestrator" if context is None else str(context.command_path)
        sentence = self._rephrase(error, message)
        return sentence if "; " in sentence else f"{sentence}; see `{command} --help`"

    def _rephrase(self, error: typer.TyperException, message: str) -> str:
        if isinstance(error, typer.BadParameter) and error.message:
            name = "" if error.param is None else f"{_name_parameter(error.param)}: "
            return f"{name}{error.message}"
        if message.startswith("Got unexpected extra argument"):
            return f"{_lower(message).replace('(s)', '')}; put a text of several words in quotation marks"
        return self._explain_fixed_option(error) or _suggest_option(error) or _lower(message)

    def _explain_fixed_option(self, error: typer.TyperException) -> str | None:
        """Return the sentence about an option of ``run`` that a stored run keeps; None for another error."""
        context, name = getattr(error, "ctx", None), getattr(error, "option_name", None)
        if context is None or context.info_name not in ("resume", "fork"):
            return None
        options = (each for each in self.commands["run"].params if name in (*each.opts, *each.secondary_opts))
        own = {name for each in context.command.params for name in each.opts}
        fixed = next((each.opts[0] for each in options if each.opts[0] not in own), None)
        return None if fixed is None else f"the run keeps the {fixed} it began with; leave it out"

    def _suggest_command(self, words: str) -> str:
        if " " in words:
            return f"no such command {words!r}; did you mean `orchestrator run {shlex.quote(words)}`"
        close: Sequence[str] = get_close_matches(words, self.commands, n=2)
        hint = f"did you mean {' or '.join(close)}?" if close else f"give one of {', '.join(self.commands)}"
        return f"no such command {words!r}; {hint}"


def _suggest_option(error: typer.TyperException) -> str | None:
    """Return the sentence about an option without a value, or that does not exist; None for another error."""
    if hasattr(error, "option_name") and "requires an argument" in error.message:
        return f"{error.option_name} has no value; give one after it"
    if not hasattr(error, "possibilities"):
        return None
    close = error.possibilities or ()
    return f"no such option {getattr(error, 'option_name', '')}" + (
        f"; did you mean {' or '.join(close)}?" if close else ""
    )


def _name_parameter(parameter: Any) -> str:  # noqa: ANN401 - Typer does not publish the type
    options = [name for name in parameter.opts if name.startswith("--")]
    return options[0] if options else str(parameter.metavar or parameter.name)


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def _exit(sentence: str, status: int) -> NoReturn:
    line = " ".join("".join(filter(_is_shown, sentence)).split())
    typer.echo(f"orchestrator: {line[:_SHOWN_CHARACTERS]}", err=True)
    sys.exit(status)


def _is_shown(character: str) -> bool:
    return character.isprintable() or character.isspace()
