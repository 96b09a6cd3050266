"""Bad input is one sentence on standard error and exit status 2, and calls no model."""

from __future__ import annotations

import shlex

import pytest
import typer

from orchestrator import ConfigurationError
from orchestrator.cli.session.bad_input import report_bad_input

RUN = "run x --model openai:m"
TABLE = {
    "run ''": "task is ''; give a text that says what to do",
    "run": 'the task is missing or given twice; give either TASK in quotation marks, "-" for standard input',
    "run x --task-file y": "the task is missing or given twice",
    "run --task-file absent": "--task-file 'absent' cannot be read (No such file or directory)",
    "run x y": "Got unexpected extra argument(s) (y)",
    f"{RUN} --call-timeout 0": "'--call-timeout': '0' is not accepted; give a time above 0, such as 90s",
    f"{RUN} --step-timeout nan": "'--step-timeout': 'nan' is not accepted; give a duration with its unit",
    f"{RUN} --max-seconds -2": "'--max-seconds': '-2s' is not accepted; give a duration",
    f"{RUN} --retry-policy absent.yaml": "'absent.yaml' cannot be read (No such file or directory)",
    f"{RUN} --retry-policy bad.yaml": "--retry-policy: max_retry is not an argument of RetryPolicy",
    f"{RUN} --retry-policy four.yaml --max-retries 3": "--max-retries and the retry policy contradict",
    f"{RUN} --max-retries two": "Invalid value for '--max-retries'",
    f"{RUN} --max-retries -1": "Invalid value for '--max-retries'",
    f"{RUN} --max-tokens 0": "Invalid value for '--max-tokens'",
    f"{RUN} --context-size 0": "Invalid value for '--context-size'",
    f"{RUN} --context-size 4096": "--context-size cannot be set for 'openai:m', whose server decides it",
    f"{RUN} --supervise god": "'god' is not one of 'none', 'llm', 'human'",
    f"{RUN} --require maybe": "'maybe' is not one of 'checked', 'judged'",
    f"{RUN} --approve-tools ,": "'--approve-tools': ',' is not accepted; give names of tools",
    f"{RUN} --approve-tools sned": '--approve-tools names "sned"; the executor has no tools',
    f"{RUN} --once-tools ,": "'--once-tools': ',' is not accepted; give names of tools with commas",
    f"{RUN} --without-check nonsense": "--without-check 'nonsense' names no check; `orchestrator checks",
    f"{RUN} --no-db --approve-tools a": "--no-db contradicts --db, and cannot store a question",
    f"{RUN} --no-db --supervise human": "--no-db contradicts --db, and cannot store a question",
    f"{RUN} --no-db --db a": "--no-db contradicts --db",
    f"{RUN} --tools nonsense": "--tools 'nonsense' is not accepted; give MODULE:NAME",
    f"{RUN} --thread ' '": "--thread is ' '; give a text that is not blank",
    f"{RUN} --contract absent.yaml": "--contract 'absent.yaml' cannot be used (No such file or directory)",
    f"{RUN} --contract broken.yaml": "--contract 'broken.yaml' cannot be used (broken.yaml: task: is missing",
    f"{RUN} --contract other.yaml": "has no cases for this task; give a file with one (its tasks: 'Name a",
    f"{RUN} --contract other.yaml --no-checks": "--contract and --no-checks contradict each other",
    f"{RUN} --baseline absent.json": "Invalid value for '--baseline'",
    f"{RUN} --baseline stored --no-db": "--baseline stored and --no-db contradict each other",
    f"{RUN} --modle local": "No such option: --modle (Possible options: --model)",
    f"{RUN} --model": "Option '--model' requires an argument",
    "run x --model plannr=local": "--model 'plannr=local' is not accepted; give SPEC, or ROLE=SPEC",
    "run x --model planner=": "--model 'planner=' is not accepted; give SPEC, or ROLE=SPEC",
    "run x --model nonsense": "the model specification 'nonsense' names no model; give \"local\"",
    "run x --model gguf:/nowhere.gguf": "cannot be read",
    "resume t --max-retries 3": "No such option: --max-retries",
    "fork t --step 1 --no-checks": "No such option: --no-checks",
    "fork t --step 0": "Invalid value for '--step'",
    "fork t": "Missing option '--step'",
    "fork t --step 1 --thread ' '": "--thread is ' '; give a text",
    "rum": "No such command 'rum'; see `orchestrator --help`",
    "doctor --limit 3": "--limit needs --judge SPEC; add it, or leave --limit out",
    "doctor --judge openai:m --limit 0": "Invalid value for '--limit'",
    "doctor --judge nonsense": "names no model",
    "runs --since yesterday": "'yesterday' is not accepted; give a date such as 2026-01-31",
    "runs --status done": "'done' is not one of 'planning', 'executing'",
    "runs --limit 0": "Invalid value for '--limit'",
    "prune --older-than 30": "'30' is not accepted; give a duration with its unit",
    "prune": "prune needs --keep-last N or --older-than AGE; give one of them",
    "show t": "no run is stored yet; `orchestrator run TASK` stores its run in ",
    "show t --db absent": "absent",
    "resume t --approve --deny no": "--approve, --correct, --deny and --halt contradict each other",
    "resume t --correct ' '": "--correct is ' '; give a text that says what to do, or why",
    "resume t --halt ''": "--halt is ''; give a text that says what to do, or why",
    "tune absent.yaml": "absent.yaml",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with files that cannot be used."""
    for name, text in {
        "bad.yaml": "max_retry: 1",
        "four.yaml": "max_retries: 4",
        "broken.yaml": "version: 1",
        "other.yaml": "version: 1\ntask: Name a tree",
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("words", "sentence"), TABLE.items(), ids=TABLE)
def test_bad_input_is_one_sentence_and_spends_nothing(cli, served, folder, words, sentence):
    server = served()

    refused = cli(*shlex.split(words))

    assert (refused.exit_code, refused.stdout, server.asked) == (2, "", [])
    assert refused.stderr.startswith("orchestrator: ")
    assert sentence in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [("show",), ("show", "t", "--last"), ("resume",), ("fork", "--step", "1")])
def test_a_run_is_named_once(cli, db, words):
    cli("run", "x", "--model", "nonsense", "--db", str(db))

    assert (
        "THREAD is missing or given twice; give either the name of a run"
        in cli(*words, "--db", str(db)).stderr
    )


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("thread_id is ' '; give a text", "--thread is ' '; give a text"),
        ("approve_tools names 'sned'; did you mean", "--approve-tools names 'sned'; did you mean"),
        ("thread 'once_tools is' has ended", "thread 'once_tools is' has ended"),
    ],
)
def test_an_error_of_the_library_names_the_option_that_was_typed(capsys, message, shown):
    with pytest.raises(typer.Exit), report_bad_input():
        raise ConfigurationError(message)

    assert capsys.readouterr().err == f"orchestrator: {shown}\n"
