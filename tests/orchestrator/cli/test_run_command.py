"""`orchestrator run`, in front of a scripted endpoint."""

import json
import runpy
import sys
from importlib.metadata import version

import pytest

from orchestrator.state.graph_state import OrchestratorState
from tests.fakes.chat_server import plan, verdict

UNMEASURED = "accepted by the model alone, whose judgement was not measured: unverified"
TWO_STEPS = {"plans": [plan("first step", "second step")], "steps": ["one", "two"]}
REFUSING = {"verdicts": [verdict(False, "too short")]}


@pytest.fixture
def ask(cli, chat):
    """Run a task against a scripted endpoint: `ask("--json", steps=[...])`."""

    def run(*options, usage=True, **script):
        served = chat(usage=usage, **script)
        return cli("run", "the task", "--model", "openai:scripted", *options, env=served.environment)

    return run


def test_a_task_that_succeeds_exits_with_0_and_prints_the_results(ask):
    done = ask(**TWO_STEPS)

    assert done.exit_code == 0
    assert done.stdout == (
        f"Step 1: first step\none\n\nStep 2: second step\ntwo\n\nSuccess: {UNMEASURED}\n\nResult\ntwo\n"
    )


def test_without_synthesis_the_last_result_is_the_answer(ask):
    done = ask("--no-synthesis", **TWO_STEPS)

    assert (done.exit_code, done.stdout) == (
        0,
        f"Step 1: first step\none\n\nSuccess: {UNMEASURED}\n\nResult\ntwo\n",
    )


def test_progress_is_one_line_an_event_on_standard_error(ask):
    lines = [line.partition(" (")[0] for line in ask("--no-db", **TWO_STEPS).stderr.splitlines()]

    assert lines == [
        "task: the task",
        "plan of 2 steps",
        "step 1 of 2, attempt 1: first step",
        "step 1 of 2, attempt 1 executed",
        "step 1 of 2, attempt 1 accepted",
        "step 2 of 2, attempt 1: second step",
        "step 2 of 2, attempt 1 executed",
        "step 2 of 2, attempt 1 accepted",
        "final answer, attempt 1: the task",
        "final answer, attempt 1 executed",
        "final answer, attempt 1 accepted",
        f"success: {UNMEASURED}",
    ]


def test_a_task_that_fails_exits_with_1_and_prints_the_cause_and_what_was_done(ask):
    failed = ask(
        "--max-retries", "1", **TWO_STEPS, verdicts=[verdict(True, "good"), verdict(False, "too short")]
    )

    assert failed.exit_code == 1
    assert failed.stdout.startswith("Failed (no attempts left): step 2: refused 2 times")
    assert "Done so far: 1 of 2 steps" in failed.stdout
    assert "attempt 2 refused: too short" in failed.stdout


@pytest.mark.parametrize(("script", "code"), [({}, 0), (REFUSING, 1)], ids=["success", "failure"])
def test_json_in_full_is_the_whole_state_and_nothing_else(ask, script, code):
    done = ask("--json", "--full", **script)

    assert done.exit_code == code
    assert set(json.loads(done.stdout)) == {*OrchestratorState.__annotations__, "thread_id"}


def test_json_has_the_output_first_and_of_each_execution_its_result_and_verdict(ask):
    document = json.loads(ask("--json").stdout)

    assert next(iter(document.items())) == ("output", "the result")
    assert set(document["results"][0]) == {
        *("step_index", "step", "attempt", "status", "result", "verdict", "error"),
        *("basis", "basis_reason", "warnings", "tool_calls"),
    }


@pytest.mark.parametrize("options", [[], ["--no-db"]])
def test_json_has_the_name_of_a_run_that_was_stored(ask, options):
    assert (json.loads(ask("--json", *options).stdout)["thread_id"] is None) == bool(options)


@pytest.mark.parametrize("source", ["stored", "file"])
def test_a_step_is_compared_with_a_baseline(ask, tmp_path, source):
    file = tmp_path / "baseline.json"
    first = json.loads(ask("--json", "--full", **TWO_STEPS).stdout)
    file.write_text(json.dumps(first["results"][0]["report"]))
    second = ask("--json", "--full", "--baseline", "stored" if source == "stored" else str(file), **TWO_STEPS)

    reports = [state["results"][0]["report"] for state in (first, json.loads(second.stdout))]
    assert [report["drift_signals"]["status"] for report in reports] == ["not_applicable", "scored"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--baseline", "absent.json"], "--baseline 'absent.json' cannot be read"),
        (["--baseline", "list.json"], "--baseline 'list.json' holds a JSON list; give a report"),
        (["--baseline", "stored", "--no-db"], "--baseline stored and --no-db contradict each other"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_bad_input(ask, tmp_path, monkeypatch, options, sentence):
    (tmp_path / "list.json").write_text("[]")
    monkeypatch.chdir(tmp_path)
    refused = ask(*options)

    assert refused.exit_code == 2
    assert sentence in refused.stderr


def test_a_budget_that_is_used_up_is_no_warning(ask):
    said = ask("--max-calls", "2").stderr

    assert ("max_model_calls is 2" in said, "warning" in said) == (True, False)


def test_a_warning_of_the_agents_goes_to_standard_error_as_text(ask):
    said = ask(plans=["no [red]plan[/red] \x1b[31m"])

    assert "warning (agents.planning): " in said.stderr
    assert "[red]plan[/red]" in said.stderr
    assert "\x1b" not in said.stderr


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_nothing_that_a_model_writes_commands_the_terminal(ask, options):
    hostile = "[bold]x[/]\x1b[2J\x9b31m\x07"

    done = ask(*options, plans=[plan(hostile)], steps=[hostile], verdicts=[verdict(True, hostile)])

    assert not set(done.output) & {"\x1b", "\x07"}
    assert "[bold]x[/]" in done.stdout


def test_lines_are_not_broken_where_there_is_no_terminal(ask):
    long = f"{'word ' * 100}end"

    assert ask(steps=[long]).stdout == f"Success: {UNMEASURED}\n\nResult\n{long}\n"


BAD_INPUT = [
    (["run", ""], "task is ''; give a text that says what to do"),
    (
        ["run", "x", "--call-timeout", "0"],
        "--call-timeout: '0' is not accepted; give a time above 0, such as 90s",
    ),
    (
        ["run", "x", "--step-timeout", "nan"],
        "--step-timeout: 'nan' is not accepted; give a duration with its unit",
    ),
    (["run", "x", "--max-seconds", "-2"], "--max-seconds: '-2' is not accepted; give a duration"),
    (
        ["run", "x", "--retry-policy", "missing.yaml"],
        "--retry-policy: 'missing.yaml' cannot be read (No such file or directory); give a file such as",
    ),
    (
        ["run", "x", "--max-retries", "two"],
        "--max-retries: 'two' is not accepted; give a whole number of at least 0",
    ),
    (
        ["run", "x", "--max-retries", "-1"],
        "--max-retries: '-1' is not accepted; give a whole number of at least 0",
    ),
    (
        ["run", "x", "--max-tokens", "0"],
        "--max-tokens: '0' is not accepted; give a whole number of at least 1",
    ),
    (["run", "x", "--supervise", "god"], "--supervise: 'god' is not accepted; give none, llm or human"),
    (["run", "x", "--approve-tools", ","], "--approve-tools: ',' is not accepted; give names of tools"),
    (["run", "x", "--once-tools", ","], "--once-tools: ',' is not accepted; give names of tools with commas"),
    (["run", "x", "--no-db", "--approve-tools", "a"], "--no-db cannot store a question of --approve-tools"),
    (["run", "x", "--require", "maybe"], "--require: 'maybe' is not accepted; give checked or judged"),
    (["run", "x", "--model", "plannr=local"], "--model: 'plannr' is no role; did you mean 'planner'?"),
    (["run", "x", "--model", "q=local"], "'q' is no role; give planner, executor, monitor or supervisor"),
    (["run", "x", "--model", "planner="], "--model: 'planner=' names no model; give one, such as planner="),
    (["run", "x", "--context-size", "0"], "--context-size: '0' is not accepted; give a whole number"),
    (["run", "x", "--full"], "--full needs --json; add it, or leave --full out"),
    (["run"], 'the task is missing; give a TASK in quotation marks, "-" to read it from standard input'),
    (["run", "x", "--task-file", "y"], "TASK and --task-file contradict each other; give one of them"),
    (["run", "--task-file", "absent"], "--task-file 'absent' cannot be read (No such file or directory)"),
    (["run", "x", "--tools", "nonsense"], "--tools 'nonsense' is not accepted; give MODULE:NAME"),
    (["run", "x", "y"], "unexpected extra argument (y); put a text of several words in quotation marks"),
    (["resume", "t", "--max-retries", "3"], "the run keeps the --max-retries it began with; leave it out"),
    (["fork", "t", "--no-checks"], "the run keeps the --checks it began with; leave it out"),
    (["run", "x", "--nonsense"], "no such option --nonsense; did you mean --baseline?"),
    (["run", "x", "--modle", "local"], "no such option --modle; did you mean --model?"),
    (["run", "x", "--model"], "--model has no value; give one after it"),
    (["rum"], "no such command 'rum'; did you mean run or resume?"),
    (["write a haiku"], "no such command 'write a haiku'; did you mean `orchestrator run 'write a haiku'`"),
    (["xyzzy"], "no such command 'xyzzy'; give one of run, resume"),
    (["doctor", "--limit", "3"], "--limit needs --judge SPEC; add it, or leave --limit out"),
    (["doctor", "--judge", "local", "--limit", "no"], "--limit: 'no' is not accepted; give a whole number"),
    (["resume"], "THREAD is missing; give the name of a run as `orchestrator runs` lists it, or --last"),
    (["show", "t", "--last"], "THREAD and --last contradict each other; give one of them"),
    (["run", "x", "--thread", " "], "--thread is ' '; give a text that is not blank"),
    (["run", "x", "--db", "a", "--no-db"], "--db and --no-db contradict each other; give one of them"),
    (["run", "x", "--no-db", "--supervise", "human"], "--no-db cannot store a question of --supervise human"),
    (
        ["run", "x", "--model", "nonsense"],
        "the model specification 'nonsense' names no model; give \"local\"",
    ),
    (["run", "x", "--model", "openai:gpt"], "OPENAI_API_KEY is not set"),
    (["run", "x", "--model", "gguf:/nowhere.gguf"], "cannot be read"),
]


@pytest.mark.parametrize(
    ("arguments", "sentence"), BAD_INPUT, ids=[" ".join(each[0][1:]) for each in BAD_INPUT]
)
def test_bad_input_is_one_sentence_on_standard_error_and_exit_status_2(cli, arguments, sentence):
    refused = cli(*arguments)

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.startswith("orchestrator: ")
    assert sentence in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_without_a_command_the_help_is_shown(cli):
    shown = cli()

    assert shown.exit_code == 2
    assert "doctor" in shown.output


def test_the_version_is_printed(cli):
    asked = cli("--version")

    assert (asked.exit_code, asked.stdout) == (0, f"plan-execute-monitor {version('plan-execute-monitor')}\n")


@pytest.mark.usefixtures("interruptible_children")  # gives pytest its handler back
def test_the_package_is_run_as_the_command(monkeypatch, capfd):
    monkeypatch.setattr(sys, "argv", ["orchestrator", "--version"])

    with pytest.raises(SystemExit) as ended:
        runpy.run_module("orchestrator", run_name="__main__")

    assert (ended.value.code, capfd.readouterr().out.split()[0]) == (0, "plan-execute-monitor")


def test_the_real_embedded_model_gives_a_judged_state(cli, endpoint):
    asked = cli("run", "List three uses of a brick", "--json", "--full")

    state = json.loads(asked.stdout)
    assert asked.exit_code == (0 if state["status"] == "success" else 1)
    assert set(state) == {*OrchestratorState.__annotations__, "thread_id"}
    assert any(record["verdict"] is not None for record in state["results"])
