import base64
import gzip
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from orchestrator.cli.commands.evaluation_commands import draw_summary
from tests.orchestrator.cli.test_evaluate_cases import PRICE

SOURCED, UNSOURCED = "It costs 12.5 euros.", "It costs 99 euros."


def conversation(answer):
    call = {"id": "1", "type": "function", "function": {"name": "price_of", "arguments": "{}"}}
    return {
        "messages": [
            {"role": "user", "content": "What does it cost?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "12.5"},
            {"role": "assistant", "content": answer},
        ]
    }


@pytest.fixture
def runs(tmp_path):
    def write(*answers):
        file = tmp_path / "runs.jsonl"
        file.write_text("".join(f"{json.dumps(conversation(answer))}\n" for answer in answers))
        return str(file)

    return write


def test_without_a_contract_a_fact_that_a_result_gives_otherwise_is_found(cli, runs):
    asked = cli("evaluate", runs(SOURCED, UNSOURCED))

    assert asked.exit_code == 1
    assert asked.stdout.startswith('failed  runs.jsonl:2  The answer says "It costs 99 euros.";')
    assert "0 of 2 runs verified" in asked.stderr
    assert "1 of 2 runs: no defect found; the answer is not verified" in asked.stderr
    assert "look at first:\n  defect contradicted_fact, 1 run: The answer says" in asked.stderr


def test_a_judge_that_is_not_asked_is_told_with_the_reason(cli, runs, tmp_path):
    contract = tmp_path / "contract.yaml"
    contract.write_text("required_content: [{number: 12.5}]")

    asked = cli("evaluate", runs(SOURCED), "--contract", str(contract), "--judge", "ollama:none")

    told = "the judge was not asked: the deterministic checks are conclusive; a rubric in --contract"
    assert told in asked.stderr


def test_a_contract_holds_for_every_run_and_decides_the_exit_status(subtests, cli, runs, tmp_path):
    for contract, options, status in [
        ("required_content: [{number: 12.5}]", [], 0),
        ("contract:\n  required_content: [{number: 12.5}]", ["--require", "checked"], 0),
        ("required_content: [{number: 12}]", [], 1),
        ("checks: [{check: word_count, max: 5}]", [], 0),
        ("checks: [{check: word_count, max: 5}]", ["--require", "checked"], 1),
        ("checks: [{check: word_count, max: 2, severity: warning}]", [], 0),
        ("checks: [{check: word_count, max: 2, severity: warning}]", ["--fail-on", "warning"], 1),
        ("expected_trajectory: []", [], 1),
        # What demands nothing is refused.
        ("owner: ann", [], 2),
        ("complete: true", [], 2),
        ("checks: []", [], 2),
    ]:
        with subtests.test(contract=contract, options=options):
            file = tmp_path / "contract.yaml"
            file.write_text(contract)

            assert cli("evaluate", runs(SOURCED), "--contract", str(file), *options).exit_code == status


def test_results_are_written_for_other_programs(cli, runs, tmp_path):
    file = tmp_path / "results.xml"

    cli("evaluate", runs(SOURCED, UNSOURCED), "--junit", str(file))

    suite = ET.parse(file).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert "no defect found; the answer is not verified" in file.read_text()


def test_a_report_to_look_at_has_every_run_without_its_credentials(cli, runs, tmp_path):
    secret = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
    cli("evaluate", runs(SOURCED, f"{SOURCED} api_key={secret}"), "--html", str(tmp_path / "report.html"))

    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    [packed] = re.findall(r'id="data">([^<]+)<', page)
    text = gzip.decompress(base64.b64decode(packed)).decode()
    data = json.loads(text)
    assert data["title"] == "runs.jsonl"
    assert [case["attempts"][0]["agent_run"]["messages"][0]["role"] for case in data["cases"]] == ["user"] * 2
    assert secret not in text


def test_json_is_a_line_for_each_run(cli, runs):
    lines = cli("evaluate", runs(SOURCED, UNSOURCED), "--json").stdout.splitlines()

    names = ("run", "status", "accepted", "verified")
    assert [tuple(each[name] for name in names) for each in map(json.loads, lines)] == [
        ("runs.jsonl:1", "passed", True, False),
        ("runs.jsonl:2", "failed", False, False),
    ]


def test_a_stored_run_is_evaluated_as_show_prints_it(cli, served, db, tmp_path):
    served(steps=["It costs 12.5 euros."])
    cli("run", "What does it cost?", "--model", "openai:m", "--db", str(db), "--thread", "one")

    (tmp_path / "run.json").write_text(cli("show", "one", "--json", "--db", str(db)).stdout)

    asked = cli("evaluate", str(tmp_path / "run.json"))

    assert (asked.exit_code, "1 of 1 run: no defect found" in asked.stderr) == (0, True)


def test_a_line_that_cannot_be_read_is_named_and_the_others_are_evaluated(cli, runs, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text(f"{json.dumps(conversation(SOURCED))}\nbroken\n{json.dumps(conversation(SOURCED))}\n")

    asked = cli("evaluate", str(file))

    assert asked.exit_code == 2
    assert "2 of 2 runs: no defect found" in asked.stderr
    assert "not read: runs.jsonl:2: this is not JSON" in asked.stderr


BAD_INPUT = {
    "": "give the files of recorded runs, or a file of cases",
    "absent.json": "'absent.json' cannot be used (No such file or directory); give another file",
    "loop.json": "'loop.json' cannot be used (Too many levels of symbolic links)",
    "runs.jsonl --repeat 5": "nothing is executed, because these runs are recorded; leave out --repeat",
    "runs.jsonl --contract absent.yaml": "'absent.yaml' cannot be used (No such file",
    "runs.jsonl --contract wrong.yaml": "required_contents: no field has this name; write",
    "runs.jsonl --junit absent/x.xml": "'absent/x.xml' is no file in a folder",
    "runs.jsonl --fail-on sometimes": "'sometimes'",
}


def test_bad_input_is_one_sentence(subtests, cli, runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs(SOURCED)
    (tmp_path / "wrong.yaml").write_text("required_contents: []")
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    for arguments, message in BAD_INPUT.items():
        with subtests.test(arguments=arguments):
            asked = cli("evaluate", *arguments.split())

            assert (asked.exit_code, message in asked.stderr) == (2, True)


FAILED_CALL = {"name": "cancel_order", "args": {}, "error": "closed"}
LOOKUP = {"name": "price_of", "args": {}, "result": "12.5"}
ANY_RUN = [
    ([LOOKUP], "It costs 99 euros.", 1, "price_of gave 12.5, from which 99 does not"),
    ([FAILED_CALL], "I have cancelled it.", 1, 'cancel_order answered "closed"'),
    ([FAILED_CALL], "Done.", 1, "defect failed_told_done, 1 run"),
    ([FAILED_CALL], "It is cold.", 1, "suspicion failure_untold, 1 run"),
    ([LOOKUP] * 4, "12.5", 0, "price_of was called 4 times in a row"),
    ([{**LOOKUP, "error": "x"}, LOOKUP], "12.5", 0, "1 of 1 run: no defect found"),
    ([LOOKUP], "The key is AKIAIOSFODNN7EXAMPLE.", 1, "credentials: aws_access_key"),
]


def test_any_run_is_verified_without_a_contract(subtests, cli, tmp_path):
    for calls, output, status, words in ANY_RUN:
        with subtests.test(calls=calls, output=output, status=status):
            run = {"input": "Cancel it.", "tool_calls": calls, "final_output": output}
            (tmp_path / "run.json").write_text(json.dumps({"agent_run": run}))

            asked = cli("evaluate", str(tmp_path / "run.json"))

            assert (asked.exit_code, words in asked.stderr) == (status, True)


def test_a_contract_of_a_case_holds_for_the_runs_of_its_name_or_task(cli, runs, tmp_path):
    def case(number, **names):
        return {"task": "?", **names, "contract": {"required_content": [{"number": number}]}}

    def evaluate_with(*cases):
        file = tmp_path / "cases.json"
        file.write_text(json.dumps({"version": 1, "cases": cases}))
        return cli("evaluate", runs(SOURCED, UNSOURCED), "--contract", str(file))

    named = evaluate_with(case(12.5, name="runs.jsonl:1"), case(12.5, name="runs.jsonl:2"))
    same_task = evaluate_with(case(12.5, task="What does  it cost?"))
    unknown = evaluate_with(case(12.5, name="runs.jsonl:1"))
    unused = evaluate_with(case(12.5, task="What does it cost?"), *(case(1, name=name) for name in "xy"))
    derived = evaluate_with({"name": "x", "task": "What does it cost?"})

    assert [each.exit_code for each in (named, same_task, unknown, unused, derived)] == [1, 1, 2, 2, 2]
    assert "not read: x, y: no run has the name or the task of this case of --contract" in unused.stderr
    assert "1 of 2 runs verified" in named.stderr
    assert "not read: runs.jsonl:2: no case of --contract has this name or task" in unknown.stderr
    assert "the case 'x' has no contract of its own" in derived.stderr


def test_runs_that_out_stored_are_judged_again_under_a_contract(cli, runs, tmp_path):
    contract = {"required_content": [{"number": 12.5}]}
    file = tmp_path / "cases.json"
    cases = [{"task": "What does it cost?", "contract": contract}]
    file.write_text(json.dumps({"version": 1, "cases": cases}))
    out = str(tmp_path / "out.jsonl")
    command = ("evaluate", runs(SOURCED), "--contract", str(file), "--out")
    again = ("evaluate", out, "--contract", str(file), "--out", str(tmp_path / "again.jsonl"))

    asked = [cli(*command, out), cli(*command, out), cli(*again)]

    assert [each.exit_code for each in asked] == [0, 2, 0]
    assert "--out has results, and recorded runs begin anew; give a new file" in asked[1].stderr


DEMANDS = {
    "required_content": [],
    "audit": {},
    "fake_judge_response": {"score": 5},
    "trajectory": {"ignored_tools": ["price_of"]},
    "checks": [],
}


def test_a_contract_of_the_user_replaces_what_a_run_has_recorded(subtests, cli, tmp_path):
    for field, demand in DEMANDS.items():
        with subtests.test(field=field):
            run = {"agent_run": {"input": "x", "final_output": UNSOURCED}, field: demand}
            (tmp_path / "run.json").write_text(json.dumps(run))
            (tmp_path / "contract.yaml").write_text("required_content: [{number: 12.5}]")

            asked = cli("evaluate", str(tmp_path / "run.json"), "--contract", str(tmp_path / "contract.yaml"))

            assert (asked.exit_code, "1 of 1 run not: 1 failed" in asked.stderr) == (1, True)
            is_named = f"run.json: {field} of the run, which --contract replaces" in asked.stderr
            assert is_named == bool(demand)


def test_demands_of_nothing_do_not_turn_the_checks_of_any_run_off(subtests, cli, tmp_path):
    demands = [{name: DEMANDS[name]} for name in ("required_content", "audit", "checks")]
    for fields in [*demands, {"owner": "ann"}, {"complete": False}]:
        with subtests.test(fields=fields):
            run = {"input": "x", "final_output": UNSOURCED, "tool_calls": [LOOKUP]}
            (tmp_path / "run.json").write_text(json.dumps({"agent_run": run, **fields}))

            assert cli("evaluate", str(tmp_path / "run.json")).exit_code == 1


EMPTY = [
    *(("list.json", text) for text in ("[]", "null", '{"messages": []}', '{"version": 1, "cases": []}')),
    *(("lines.jsonl", text) for text in ("", "# nothing\n# to see\n")),
    ("cases.yaml", "version: 1\ncases: []"),
]


def test_a_file_without_a_run_is_no_success_and_writes_nothing(subtests, cli, tmp_path):
    for name, text in EMPTY:
        with subtests.test(name=name, text=text):
            (tmp_path / name).write_text(text)

            asked = cli("evaluate", str(tmp_path / name), "--junit", str(tmp_path / "r.xml"))

            assert (asked.exit_code, "verified" in asked.stderr) == (2, False)
            assert not (tmp_path / "r.xml").exists()


def test_losses_of_many_runs_are_one_line():
    losses = [f"runs.jsonl:{number}: an image is not read" for number in range(1, 10)]

    shown = draw_summary([], [], losses).plain

    assert "ignored: runs.jsonl:1, runs.jsonl:2, runs.jsonl:3, 6 more: an image is not read" in shown


def test_a_folder_is_all_runs_in_it_and_names_the_other_files(cli, runs, tmp_path):
    job = tmp_path / "job.yaml"
    job.mkdir()
    Path(runs(SOURCED, UNSOURCED)).rename(job / "runs.jsonl")
    (job / "config.json").write_text("{}")

    alone, folder = cli("evaluate", str(job / "runs.jsonl")), cli("evaluate", str(job))

    assert folder.exit_code == alone.exit_code
    assert "ignored: config.json: a file without recorded runs" in folder.stderr


def test_without_a_target_a_model_executes_a_case_under_its_contract(cli, served, tmp_path):
    served(steps=["It costs 12.5 euros."])
    (tmp_path / "cases.yaml").write_text(f"version: 1\ncases:\n- {{name: a, {PRICE}}}\n")

    asked = cli("evaluate", str(tmp_path / "cases.yaml"), "--model", "openai:m")

    assert (asked.exit_code, "1 of 1 run verified (1 checked)" in asked.stderr) == (0, True)


def test_a_model_that_does_not_answer_fails_its_case(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    (tmp_path / "cases.yaml").write_text(f"version: 1\ncases:\n- {{name: a, {PRICE}}}\n")

    asked = cli("evaluate", str(tmp_path / "cases.yaml"), "--model", "openai:m")

    assert (asked.exit_code, asked.stdout.startswith("failed  a  ")) == (1, True)


def test_a_file_that_may_be_a_recorded_run_names_no_code(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cases = {"version": 1, "cases": [{"task": "x"}], "target": "os:getcwd"}
    (tmp_path / "runs.json").write_text(json.dumps(cases))

    asked = cli("evaluate", "runs.json", "--target", "builtins:str")

    assert asked.exit_code == 2
    assert "runs.json names code to run, which only a file of cases in YAML may" in asked.stderr
