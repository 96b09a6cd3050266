import re
from pathlib import Path

import typer
from typer.testing import CliRunner

from orchestrator.cli.app import COMMANDS as HELP
from orchestrator.cli.app import app

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "command-line.md"
GROUP = typer.main.get_command(app)
COMMANDS = {name: GROUP.get_command(None, name) for name in GROUP.list_commands(None)}
"""The commands by name."""


def read_synopsis() -> dict[str, str]:
    block = PAGE.read_text(encoding="utf-8").split("```")[1]
    parts = re.split(r"^orchestrator (\w+)", block, flags=re.MULTILINE)
    synopsis: dict[str, str] = {}
    for command, words in zip(parts[1::2], parts[2::2], strict=True):
        synopsis[command] = synopsis.get(command, "") + words
    return synopsis


def list_options(command: str) -> set[str]:
    """The option names of a command, without --help and without the short and negative forms."""
    options = (option for option in COMMANDS[command].params if option.param_type_name == "option")
    return {option.opts[0] for option in options} - {"--help"}


def test_the_help_of_every_command_fits_on_its_line():
    page = CliRunner().invoke(app, ["--help"]).stdout

    assert "..." not in page.replace("[ARGS]...", "")


def test_every_command_is_in_the_synopsis():
    assert set(read_synopsis()) == set(COMMANDS)


def test_every_option_is_in_the_synopsis(subtests):
    for command in sorted(COMMANDS):
        with subtests.test(command=command):
            synopsis = read_synopsis()
            inherited = synopsis["run"] if "options of run" in synopsis[command] else ""
            named = {*re.findall(r"--[a-z-]+", synopsis[command] + inherited)}
            negated = {f"--{name.removeprefix('--no-')}" for name in named if name.startswith("--no-")}

            assert list_options(command) <= named | negated


def test_the_list_of_commands_has_the_first_sentence_of_each_help_in_short(subtests):
    for command in sorted(COMMANDS):
        with subtests.test(command=command):
            assert HELP[command][1].split()[0] == COMMANDS[command].help.split()[0]
