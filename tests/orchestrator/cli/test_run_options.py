"""From typed options to settings."""

from typing import get_args, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

from orchestrator import Budget, ConfigurationError, ResampleRule, RetryPolicy
from orchestrator.cli.arguments.options import TypedOptions, accept_run_options
from orchestrator.cli.commands.history import runs
from orchestrator.cli.run import build_settings
from orchestrator.cli.store import changed_options, parse_options
from orchestrator.runs.summary import STATUSES

TYPED = ("--model", "openai:m", "--supervise", "llm", "--max-retries", "3", "--call-timeout", "4")
TYPED += ("--step-timeout", "5", "--max-seconds", "6", "--max-tokens", "7", "--max-calls", "8")
TYPED += ("--baseline", "stored", "--approve-tools", "send, pay", "--once-tools", "pay")


@pytest.fixture
def collect():
    """Parse a command line with the run options: `collect(["--model", "local"], only_changes=True)`."""

    def parse(arguments, **kind):
        seen, app = [], typer.Typer()

        @app.command()
        @accept_run_options(**kind)
        def command(*, options: TypedOptions) -> None:
            seen.append(options)

        result = CliRunner().invoke(app, arguments)
        return seen[0] if seen else result

    return parse


def test_every_option_reaches_the_settings(collect):
    options = parse_options(collect(TYPED))
    settings = build_settings(options)

    assert options.model == "openai:m"
    assert (settings.max_retries, settings.call_timeout, settings.step_timeout) == (3, 4, 5)
    assert settings.budget == Budget(max_seconds=6, max_total_tokens=7, max_model_calls=8)
    assert (settings.approve_tools, settings.once_tools) == (("send", "pay"), ("pay",))
    assert len(changed_options(options)) == len(TYPED) // 2


def test_a_file_with_a_retry_policy_is_kept_as_text_and_decides(collect, tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text("max_retries: 4\nstrategies: [{use: resample}]\n")
    options = parse_options(collect(["--retry-policy", str(file)]))

    assert options.retry_policy == file.read_text()
    assert build_settings(options).retry_policy == RetryPolicy(max_retries=4, strategies=[ResampleRule()])


@pytest.mark.parametrize(
    ("text", "more", "sentence"),
    [
        ("max_retry: 1", [], "--retry-policy: max_retry is not an argument of RetryPolicy"),
        (
            "max_retries: 4",
            ["--max-retries", "3"],
            "--max-retries is 3 and the retry policy has 4; give only",
        ),
        (
            "max_retries: 4",
            ["--max-retries", "2"],
            "--max-retries is 2 and the retry policy has 4; give only",
        ),
    ],
)
def test_a_retry_policy_that_cannot_be_used_is_one_sentence(collect, tmp_path, text, more, sentence):
    file = tmp_path / "policy.yaml"
    file.write_text(text)

    with pytest.raises(ConfigurationError) as raised:
        build_settings(parse_options(collect(["--retry-policy", str(file), *more])))
    assert str(raised.value).startswith(sentence)


def test_a_new_run_has_defaults_and_a_stored_run_only_what_is_typed(collect):
    assert collect([]) == {
        "supervise": "none",
        "synthesis": True,
        "checks": True,
    }
    assert collect(["--max-calls", "8"], only_changes=True) == {"max_calls": 8}


def test_an_option_can_be_left_out(collect):
    assert "no such option" in collect(["--supervise", "llm"], without=["supervise"]).output.lower()


def test_the_statuses_to_list_are_those_of_stored_runs():
    literal, _none = get_args(get_type_hints(runs)["status"])

    assert get_args(literal) == STATUSES
