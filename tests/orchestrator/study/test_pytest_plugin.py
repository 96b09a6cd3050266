"""``pytest --evalset cases.yaml``: the runs of the cases are tests."""

import subprocess
import sys
from typing import get_args
from xml.etree import ElementTree as ET

import pytest

import orchestrator.study.case_items  # noqa: F401 - pytester forgets what is imported later
from orchestrator.state.records import Requirement
from orchestrator.study.recorded_evaluation import FailOn

pytest_plugins = ["pytester"]

CLERK = """
def answer(task):
    price = 99 if "globe" in task else 12.5
    return {"final_output": f"It costs {price} euros.", "tool_calls": [{"name": "price_of", "args": {}}]}

def broken(task):
    raise RuntimeError("the till is empty")

def skipped(task):
    import pytest
    pytest.skip("the shop is closed")

def expected(task):
    import pytest
    pytest.xfail("the shop is closed")
"""
CASES = """
version: 1
target: my_clerk:answer
defaults: {contract: {required_content: [{number: 12.5}]}}
cases:
  - name: atlas
    task: What does the atlas cost?
    repeat: 2
  - name: globe
    task: What does the globe cost?
    contract: {expected_trajectory: [{name: find, args: {title: globe}}]}
"""
OPTIONS = ("-p", "no:langsmith", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")


@pytest.fixture
def run(pytester):
    pytester.makepyfile(my_clerk=CLERK, test_other="def test_other(): pass")
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    (pytester.path / "cases.yaml").write_text(CASES)
    return lambda *arguments: pytester.runpytest_inprocess(*OPTIONS, *arguments)


def test_each_run_of_a_case_is_a_test_and_a_failure_is_readable(run):
    result = run("--evalset", "cases.yaml", "-v", "--junitxml", "results.xml")

    result.assert_outcomes(passed=2, failed=1)
    shown = ["cases.yaml::atlas[[]1] PASSED*", "cases.yaml::atlas[[]2] PASSED*", "cases.yaml::globe FAILED*"]
    shown += ["*_ globe _*", "failed: State the number 12.5; the text does not state it."]
    shown += ["  The actions do not agree*", "  1. price_of()", "  answer: It costs 99 euros."]
    result.stdout.fnmatch_lines(shown)
    result.stdout.no_fnmatch_line("*Traceback*")
    tests = {each.attrib["name"]: each for each in ET.parse("results.xml").iter("testcase")}
    properties = {each.attrib["name"]: each.attrib["value"] for each in tests["atlas[2]"].iter("property")}
    assert tests.keys() == {"atlas[1]", "atlas[2]", "globe"}
    assert properties == {"status": "passed", "basis": "checked"}
    assert "It costs 99 euros." in tests["globe"].find("failure").attrib["message"]


@pytest.mark.parametrize(
    ("arguments", "counts"),
    [
        (["--evalset", "cases.yaml", "-k", "atlas"], {"passed": 2, "deselected": 1}),
        pytest.param(
            ["--evalset", "cases.yaml", "-n", "1"], {"passed": 2, "failed": 1}, marks=pytest.mark.thorough
        ),
        (["cases.yaml::globe", "--evalset", "cases.yaml"], {"failed": 1}),
        (["test_other.py", "--evalset", "cases.yaml", "-k", "atlas"], {"passed": 2, "deselected": 2}),
        (["--evalset", "cases.yaml", "--evalset", "more.yaml"], {"passed": 3, "failed": 1}),
        (["--evalset", "more.yaml", "--evalset-target", "my_clerk:broken"], {"failed": 1}),
        (["--evalset", "more.yaml", "--evalset-target", "my_clerk:skipped"], {"failed": 1}),
        (["--evalset", "more.yaml", "--evalset-target", "my_clerk:expected"], {"failed": 1}),
        (["--evalset", "more.yaml", "--evalset-require", "approved"], {"failed": 1}),
        (["--evalset", "form.yaml"], {"passed": 1}),
        (["--evalset", "form.yaml", "--evalset-require", "checked"], {"failed": 1}),
        (["--evalset", "slow.yaml"], {"passed": 1}),
        (["--evalset", "slow.yaml", "--evalset-fail-on", "warning"], {"failed": 1}),
        ([], {"passed": 1}),
    ],
)
def test_options_choose_the_tests_and_the_gate(run, pytester, arguments, counts):
    contracts = {
        "more": "{required_content: [{number: 12.5}]}",
        "form": "{checks: [{check: word_count, max: 9}]}",
        "slow": "{thresholds: {latency_ms: {max: 0, severity: warning}}}",
    }
    for name, contract in contracts.items():
        case = f"version: 1\ntask: Atlas?\nname: {name}\ncontract: {contract}\n"
        recorded = "agent_run: {final_output: It costs 12.5., latency_ms: 5}\n" if name != "more" else ""
        (pytester.path / f"{name}.yaml").write_text(case + recorded)
    if "more.yaml" in arguments and "--evalset-target" not in arguments:
        arguments = [*arguments, "--evalset-target", "my_clerk:answer"]

    run(*arguments).assert_outcomes(**counts)


def test_collection_alone_imports_no_target_and_executes_nothing(run, pytester):
    (pytester.path / "my_clerk.py").unlink()

    result = run("--evalset", "cases.yaml", "--collect-only", "-q")

    assert result.outlines[:3] == ["cases.yaml::atlas[1]", "cases.yaml::atlas[2]", "cases.yaml::globe"]
    assert result.ret == 0


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("missing.yaml", None, "*missing.yaml cannot be used (No such file or directory)"),
        ("bad.yaml", "version: 1\ncases: [", "bad.yaml: line 2: this is not YAML*"),
        (
            "twice.yaml",
            "version: 1\ncases:\n- task: a\n- task: a\n",
            "twice.yaml: cases[[]1] has the name of cases[[]0], 'a'; give each its own name",
        ),
        ("trace.json", '{"messages": []}', "trace.json: *"),
        (
            "code.json",
            '{"version": 1, "target": "os:system", "cases": [{"task": "a"}]}',
            "*names code to run*",
        ),
        (
            "lost.yaml",
            "version: 1\ntarget: lost:answer\ncases: [{task: a}]",
            "lost.yaml: 'lost:answer' raised*",
        ),
        ("model.yaml", "version: 1\ncases: [{task: a}]", "*nonsense*"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_usage_error_in_one_sentence(run, pytester, name, text, problem):
    if text is not None:
        (pytester.path / name).write_text(text)

    result = run("--evalset", name, "--evalset-model", "nonsense")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert len(list(filter(None, result.errlines))) == 1
    result.stderr.fnmatch_lines([f"ERROR: {problem}"])


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """A project with packages of our names, as a user runs its tests."""
    folder = tmp_path_factory.mktemp("foreign")
    for name in ("agents", "evaluation", "orchestrator"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("MINE = True")
    (folder / "test_mine.py").write_text("import agents\ndef test_mine(): assert agents.MINE")
    (folder / "cases.yaml").write_text(CASES)
    off = [part for name in ("cacheprovider", "xdist", "langsmith") for part in ("-p", f"no:{name}")]
    command = [sys.executable, "-m", "pytest", *off]
    return lambda *options: subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.thorough
def test_a_project_with_packages_of_our_names_is_tested_as_before(foreign):
    ended = foreign()

    assert (ended.returncode, "1 passed" in ended.stdout) == (0, True)


@pytest.mark.thorough
def test_a_package_that_hides_ours_is_one_sentence_if_a_file_of_cases_is_given(foreign):
    ended = foreign("--evalset", "cases.yaml")

    told = "ERROR: --evalset finds another package than one of plan-execute-monitor (No module named"
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert (told in ended.stderr, "Traceback" in ended.stderr) == (True, False)


def test_a_judge_decides_what_no_program_can(run, pytester):
    rubric = "{rubric: {criteria: [{name: kind, description: The answer is kind.}]}}"
    case = f"version: 1\ntask: Hello?\ncontract: {rubric}\nagent_run: {{final_output: Hello.}}\n"
    (pytester.path / "kind.yaml").write_text(case)

    result = run("--evalset", "kind.yaml", "--evalset-judge", "nonsense")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *nonsense*"])


def test_the_options_accept_what_the_evaluation_accepts(run):
    printed = run("--help").stdout.str()

    for choices in (FailOn, Requirement):
        assert "{" + ",".join(get_args(choices)) + "}" in "".join(printed.split())
