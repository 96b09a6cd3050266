import json
from itertools import product
from xml.etree import ElementTree as ET

import pytest

from evaluation.cases.case_result import read_results

AGENTS = """
from asyncio import CancelledError
from itertools import count
from pathlib import Path

CALLS = count(1)
HERE = Path(__file__).parent

def echo(task):
    return task

async def later(task):
    return task

def calls(task):
    return {"final_output": "12.5", "tool_calls": [{"name": "price_of", "args": {"title": task}}]}

def broken(task):
    if "boom" in task:
        raise RuntimeError("the till is empty")
    return task

class Skipped(BaseException):
    pass

def skipped(task):
    if "boom" in task:
        raise Skipped("no till")
    return task

def cancelled(task):
    if "boom" in task:
        raise CancelledError
    return task

def noisy(task):
    print("a function")
    return task

def interrupted(task):
    raise KeyboardInterrupt

def nothing(task):
    return None

def counted(task):
    with (HERE / "executions").open("a") as file:
        file.write("x")
    return task

def flaky(task):
    return "12.5" if next(CALLS) % 2 else "99"
"""
PRICE = "task: It costs 12.5 euros., contract: {required_content: [{number: 12.5}]}"


@pytest.fixture
def cases(tmp_path, monkeypatch, request):
    """Write a file of cases beside its module of agents: `cases("- {task: x}", target="echo")`."""
    monkeypatch.chdir(tmp_path)
    module = f"agents_{request.node.name.partition('[')[0]}_{abs(hash(request.node.name))}"
    (tmp_path / f"{module}.py").write_text(AGENTS)

    def write(items, target="echo", defaults="{}", name="cases.yaml"):
        text = f"version: 1\ntarget: {module}:{target}\ndefaults: {defaults}\ncases:\n{items}\n"
        (tmp_path / name).write_text(text.replace("MODULE", module))
        return name

    return write


CALLED = "- {task: atlas, contract: {expected_trajectory: [{name: price_of, args: {title: atlas}}]}}"
FORM = "1 of 1 run: no defect found; the answer is not verified"


def test_cases_without_a_run_are_executed_by_the_target(subtests, cli, cases):
    price, verified = f"- {{name: price, {PRICE}}}", "1 of 1 run verified (1 checked)\n"
    for target, items, words in [
        ("echo", price, verified),
        ("later", price, verified),
        ("calls", CALLED, "1 of 1 run"),
        ("echo", "- {task: Answer in at most 50 words.}", FORM),
    ]:
        with subtests.test(target=target, items=items):
            asked = cli("evaluate", cases(items, target))

            assert (asked.exit_code, words in asked.stderr) == (0, True)


def test_a_case_with_a_recorded_run_is_not_executed(cli, cases, tmp_path):
    file = cases("- {task: x, agent_run: {final_output: y}, contract: {keywords: [y]}}", "counted")

    assert cli("evaluate", file).exit_code == 0
    assert not (tmp_path / "executions").exists()


def test_an_empty_contract_of_a_case_never_passes(subtests, cli, cases):
    for contract in ["{}", "{must_call: []}", "{required_content: []}", "{thresholds: {}}"]:
        with subtests.test(contract=contract):
            run = "{final_output: It costs 12.5, tool_calls: [{name: price_of, result: 12.5}]}"
            asked = cli("evaluate", cases(f"- {{task: x, agent_run: {run}, contract: {contract}}}"), "--json")

            assert json.loads(asked.stdout)["status"] == "needs_review"
            assert "the contract contains no check" in asked.stderr


def test_an_execution_that_fails_is_a_failed_case_and_the_others_go_on(subtests, cli, cases):
    both = "- {name: one, task: boom}\n- {name: two, task: fine}"
    for target, reason in [
        ("broken", "RuntimeError: the till is empty"),
        ("skipped", "Skipped: no till"),
        ("cancelled", "CancelledError"),
        ("nothing", "a run is given as a NoneType; give a text, messages, an agent_run, or a state"),
    ]:
        with subtests.test(target=target):
            asked = cli("evaluate", cases(both, target), "--json")
            one, two = map(json.loads, asked.stdout.splitlines())

            assert (asked.exit_code, one["run"], one["status"]) == (1, "one", "failed")
            assert reason in one["summary"]
            assert two["run"] == "two"


def test_what_a_target_prints_is_not_among_the_results(cli, cases):
    ended = cli("evaluate", cases("- {task: one}\n- {task: two}", "noisy"), "--json")

    assert [json.loads(line)["run"] for line in ended.stdout.splitlines()] == ["one", "two"]
    assert ended.stderr.count("a function\n") == 2


def test_an_execution_that_raises_ctrl_c_ends_the_command(cli, cases):
    assert cli("evaluate", cases("- {task: one}\n- {task: two}", "interrupted")).exit_code == 130


def test_repeated_runs_have_rates_numbers_in_every_report_and_flaky_cases_are_named(cli, cases, tmp_path):
    file = cases("- {name: price, task: x, contract: {required_content: [{number: 12.5}]}}", "flaky")
    command = ("evaluate", file, "--out", "r.jsonl")

    asked = cli(*command, "--repeat", "4", "--junit", "r.xml")
    again = cli(*command, "--repeat", "2")

    assert asked.exit_code == 1
    assert "pass^2 0.1667" in asked.stderr
    assert "1 of 1 cases are flaky: price (2 of 4)" in asked.stderr
    assert read_names(tmp_path / "r.xml") == ["price[1]", "price[2]", "price[3]", "price[4]"]
    assert "1 of 2 runs verified" in again.stderr
    [line] = again.stdout.splitlines()
    assert line.startswith("failed  price[2]  ")


def read_names(file):
    return [case.get("name") for case in ET.parse(file).iter("testcase")]


def test_several_cases_are_executed_at_once_and_reported_in_their_order(cli, cases, tmp_path):
    items = "\n".join(f"- {{name: c{number}, {PRICE}}}" for number in range(20))

    asked = cli("evaluate", cases(items), "--concurrency", "4", "--junit", "r.xml")

    assert (asked.exit_code, read_names(tmp_path / "r.xml")) == (0, [f"c{number}" for number in range(20)])


def test_the_same_command_continues_an_interrupted_evaluation(cli, cases, tmp_path):
    file = cases(f"- {{name: a, {PRICE}}}\n- {{name: b, {PRICE}}}", "counted")
    command = ("evaluate", file, "--out", "r.jsonl")
    cli(*command)
    results = tmp_path / "r.jsonl"
    results.write_bytes(results.read_bytes()[:-20])  # a crash cut the last line

    asked = cli(*command)

    assert "2 of 2 runs verified" in asked.stderr
    assert [result.name for result in read_results(results)] == ["a", "b"]
    assert (tmp_path / "executions").read_text() == "xxx"


def test_an_evaluation_that_has_not_ended_is_no_success(subtests, cli, cases, tmp_path):
    cli("evaluate", cases(f"- {{name: a, {PRICE}}}\n- {{name: b, {PRICE}}}"), "--out", "r.jsonl")
    (tmp_path / "price.yaml").write_text("required_content: [{number: 12.5}]")
    whole = (tmp_path / "r.jsonl").read_bytes()
    killed = b"".join(whole.splitlines(keepends=True)[:-2])
    (tmp_path / "same.jsonl").write_bytes(killed)
    for stored, words, sentence in [
        (killed, "evaluate r.jsonl --contract price.yaml", "r.jsonl: the evaluation has not ended"),
        (killed, "compare r.jsonl same.jsonl", "r.jsonl: the evaluation has not ended"),
        (whole[:-20], "compare r.jsonl r.jsonl", "r.jsonl:3: the line is cut off; continue the command"),
    ]:
        with subtests.test(sentence, words=words):
            (tmp_path / "r.jsonl").write_bytes(stored)
            asked = cli(*words.split())

            assert (asked.exit_code, sentence in asked.stderr) == (2, True)


def test_a_stored_evaluation_says_what_could_not_be_read(cli, cases, tmp_path):
    run = json.dumps({"agent_run": {"final_output": "12.5"}, "required_content": [{"number": 12.5}]})
    (tmp_path / "runs.jsonl").write_text(f"{run}\nbroken\n")
    (tmp_path / "price.yaml").write_text("required_content: [{number: 12.5}]")
    cli("evaluate", "runs.jsonl", "--out", "r.jsonl")

    judged = cli("evaluate", "r.jsonl", "--contract", "price.yaml")
    alone = cli("evaluate", "r.jsonl", "--out", "new.jsonl")

    assert (judged.exit_code, "not read: runs.jsonl:2: this is not JSON" in judged.stderr) == (2, True)
    assert (alone.exit_code, "--contract FILE judges their runs again" in alone.stderr) == (2, True)
    assert not (tmp_path / "new.jsonl").exists()


def test_stored_runs_are_scored_under_another_contract_without_an_execution(cli, cases, tmp_path):
    cli("evaluate", cases(f"- {{name: a, answer: 99, {PRICE}}}", "counted"), "--out", "r.jsonl")
    (tmp_path / "dollars.yaml").write_text("required_content: [{text: dollars}]")

    again = cli("evaluate", "r.jsonl", "--contract", "dollars.yaml", "--out", "again.jsonl")

    [result] = read_results(tmp_path / "again.jsonl")
    assert (again.exit_code, result.status) == (1, "failed")
    assert result.expected["required_content"] == [{"text": "dollars"}]
    assert (tmp_path / "executions").read_text() == "x"


def test_cases_and_runs_without_a_contract_of_their_name_or_task_are_invalid(cli, cases):
    other = cases(f"- {{name: b, {PRICE}}}", name="other.yaml")
    file = cases("- {name: a, task: another}")
    cli("evaluate", file, "--out", "r.jsonl")

    executed, stored = [cli("evaluate", each, "--contract", other) for each in (file, "r.jsonl")]

    assert (executed.exit_code, stored.exit_code) == (2, 2)
    assert "no case of --contract has this name or task" in executed.stdout
    assert "a: no case of --contract has this name or task" in stored.stderr


def test_a_known_answer_decides_nothing_and_is_kept(cli, cases, tmp_path):
    file = cases(f"- {{name: a, answer: 12.5, {PRICE}}}\n- {{name: b, answer: ten, {PRICE}}}")
    cli("evaluate", file, "--out", "r.jsonl")

    results = [(each.accepted, each.correct) for each in read_results(tmp_path / "r.jsonl")]
    assert results == [(True, True), (True, False)]


def test_a_baseline_fails_a_case_that_is_worse_and_names_one_that_is_better(cli, cases, tmp_path):
    good, bad = f"- {{name: a, {PRICE}}}", "- {name: a, task: x, contract: {keywords: [y]}}"
    for items, file in ((good, "good.yml"), (bad, "bad.json")):
        cli("evaluate", cases(items), "--save-baseline", file)

    worse = cli("evaluate", cases(bad), "--baseline", "good.yml")
    better = cli("evaluate", cases(good), "--baseline", "bad.json")
    known = cli("evaluate", cases(bad), "--baseline", "bad.json")
    gated = cli("evaluate", cases(bad), "--baseline", "bad.json", "--fail-on", "failed")

    assert [each.exit_code for each in (worse, better, known, gated)] == [1, 0, 0, 1]
    assert "1 case worse than in the baseline\n  a: failed, unverified, was passed, checked" in worse.stderr
    assert "1 case better than in the baseline\n  a: passed, checked, was failed, unverified" in better.stderr


RECORDED = "agent_run: {final_output: y}, contract: {keywords: [y]}"
BASELINE = "version: 1\ncases: {NAME: {status: passed, basis: checked, passed: PASSED, runs: RUNS}}"
BAD_OPTIONS = {
    "--baseline other.yaml": "the baseline is of other cases: 2 are only in one of both",
    "--target nowhere:x": "cases.yaml: 'nowhere:x' raised ModuleNotFoundError",
    "--target os.path:sep.real": "raised AttributeError",
    "--target math:pi": "cases.yaml: it is a float; give a function of the task, or an orchestrator",
    "cases.yaml": "a file of cases is executed alone; give it without other runs",
    "many.yaml": "a file of cases is executed alone; give it without other runs",
    "--target os:getcwd --model openai:x": "--target executes the cases without --model",
    "--junit -": "'-' is no file in a folder; give one for the results",
    "--baseline none.yaml": "none.yaml",
    "--junit cases.yaml": "'cases.yaml' is read by the command, or has other results, too; give another file",
    "--save-baseline cases.yaml": "'cases.yaml' is read by the command",
    "--junit r --html r": "'r' is read by the command, or has other results, too",
    "--out other.jsonl": "other.jsonl:1: this is no stored evaluation",
    "--save-baseline text.yaml": "text.yaml: cases: is missing",
    "--baseline other.yaml --save-baseline other.yaml": "'other.yaml' is read by",
}


def test_bad_input_is_one_sentence(subtests, cli, cases, tmp_path):
    (tmp_path / "text.yaml").write_text("notes: mine")
    (tmp_path / "other.jsonl").write_text("{}")
    for file, name, passed, runs in (("other", "b", 1, 1), ("many", "a", 2, 1), ("none", "a", 0, 0)):
        text = BASELINE.replace("NAME", name).replace("PASSED", str(passed)).replace("RUNS", str(runs))
        (tmp_path / f"{file}.yaml").write_text(text)
    file = cases(f"- {{name: a, {PRICE}}}")
    (tmp_path / "link.xml").hardlink_to(tmp_path / file)
    for options, message in BAD_OPTIONS.items():
        with subtests.test(options=options):
            asked = cli("evaluate", file, *options.split())

            assert (asked.exit_code, message in asked.stderr) == (2, True)


def test_options_of_executions_are_refused_if_nothing_is_executed(cli, cases):
    file = cases(f"- {{name: a, task: x, {RECORDED}}}")
    cli("evaluate", file, "--out", "r.jsonl")

    for each in (file, "r.jsonl"):
        asked = cli("evaluate", each, "--repeat", "2", "--concurrency", "3")

        assert asked.exit_code == 2
        assert asked.stderr.endswith("leave out --repeat, --concurrency\n")


def test_a_file_that_cannot_be_used_is_found_before_anything_is_executed(subtests, cli, cases, tmp_path):
    (tmp_path / "folder").mkdir()
    case = "{status: passed, basis: checked, passed: 1, runs: 1}"
    (tmp_path / "other.yaml").write_text(f"version: 1\ncases: {{another: {case}}}")
    written = product(["--html", "--junit", "--save-baseline", "--out"], ["absent/r", "folder"])
    for option, path in [*product(["--baseline"], ["absent.yaml", "other.yaml"]), *written]:
        with subtests.test(option=option, path=path):
            asked = cli("evaluate", cases("- {task: x}", "counted"), option, path)

            assert (asked.exit_code, (tmp_path / "executions").exists()) == (2, False)
            assert option == "--baseline" or f"'{path}' is " in asked.stderr


def test_a_page_that_cannot_be_written_is_told_after_the_junit_report_is_written(cli, cases, tmp_path):
    asked = cli("evaluate", cases(f"- {{name: a, {PRICE}}}"), "--html", "/dev/full", "--junit", "r.xml")

    assert asked.exit_code == 1
    assert "reading or writing failed ([Errno 28] No space left on device)" in asked.stderr
    assert read_names(tmp_path / "r.xml") == ["a"]


def test_an_unknown_metric_or_check_is_named_with_its_case_before_anything_is_executed(
    subtests, cli, cases, tmp_path
):
    for contract, sentence in [
        ("{thresholds: {latencyms: 3}}", "thresholds.latencyms: is no metric; did you mean 'latency_ms'?"),
        ("{checks: [{check: function, name: polite}]}", 'checks[0] names "polite"; no check has this name'),
        ("{checks: [{check: word_cout, max: 3}]}", "checks[0].check: no check has this name; write 'word_c"),
    ]:
        with subtests.test(contract=contract):
            asked = cli("evaluate", cases(f"- task: y\n- task: x\n  contract: {contract}", "counted"))

            assert asked.exit_code == 2
            assert asked.stderr.startswith("orchestrator: cases.yaml:")
            assert sentence in asked.stderr
            assert not (tmp_path / "executions").exists()
