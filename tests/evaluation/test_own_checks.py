import pytest

from evaluation import (
    CheckContext,
    CheckOutcome,
    ContractError,
    EvaluationContract,
    LabelledOutput,
    aevaluate,
    build_evaluation_graph,
    check,
    evaluate,
    evaluate_many,
    measure_judge,
)

KEY = f"sk-{'a1B2' * 12}"
HELLO, BYE = ({"agent_run": {"final_output": text}} for text in ("Hello you", "Bye"))
SEVERITIES = ["critical", "warning", "info"]
ANSWER = {"score": 5, "rationale": "clear", "criteria": {"clarity": 5}}
NAMED = {"checks": [{"check": "function", "name": "has_greeting"}]}


@check
def has_greeting(context: CheckContext) -> bool:
    """Start with a greeting."""
    return context.output.startswith("Hello")


@check
async def has_greeting_later(context: CheckContext) -> bool:
    return context.output.startswith("Hello")


@check
def raises(context: CheckContext) -> bool:
    raise ValueError(f"401 for {KEY}")


def read_kinds(report):
    return [(alert["kind"], alert["metric"]) for alert in report.alerts]


def test_a_function_decides_the_verdict(subtests):
    for function in [has_greeting, has_greeting_later]:
        with subtests.test(function=function):
            passed, failed = (evaluate(case, checks=[function]) for case in (HELLO, BYE))

            assert (passed.status, failed.status) == ("passed", "failed")
            [outcome] = passed["checks"]
            assert (outcome["check"], outcome["passed"]) == (function.name, True)
            assert (outcome["seen"], outcome["source"]) == (f'the check "{function.name}" passed', "function")
            assert outcome["wanted"] == (function.description or f'pass the check "{function.name}"')
            assert read_kinds(failed) == [("response", f"checks.{function.name}")]


async def test_all_ways_to_evaluate_run_the_functions():
    functions = [has_greeting, has_greeting_later]
    graph = build_evaluation_graph(checks=functions)

    assert (await aevaluate(BYE, checks=functions)).status == "failed"
    assert (await graph.ainvoke(BYE))["evaluation_status"] == "failed"
    assert graph.invoke(HELLO)["evaluation_status"] == "passed"
    assert [each.status for each in evaluate_many([HELLO, BYE], checks=functions)] == ["passed", "failed"]


def test_a_contract_names_a_function_and_its_severity():
    slight = {**BYE, "checks": [{**NAMED["checks"][0], "severity": "warning"}]}

    assert evaluate({**BYE, **NAMED}, named_checks=[has_greeting]).status == "failed"
    assert evaluate(slight, named_checks=[has_greeting]).status == "warning"
    assert evaluate(BYE, named_checks=[has_greeting]).status == "passed"
    assert EvaluationContract(**NAMED).model_dump(exclude_unset=True) == NAMED


def test_a_function_that_is_an_option_and_named_runs_once():
    assert len(evaluate({**BYE, **NAMED}, checks=[has_greeting]).checks) == 1


def test_a_name_that_nothing_has_is_an_error_and_never_a_pass():
    report = evaluate({**HELLO, **NAMED}, named_checks=[raises])

    assert report.status == "needs_review"
    assert read_kinds(report)[0] == ("check_error", "checks.has_greeting")
    assert report.errors[0].startswith('The check "has_greeting" has no result: no check has this name; ')
    near = evaluate({**HELLO, "checks": [{"check": "function", "name": "raise"}]}, named_checks=[raises])
    assert 'did you mean "raises"?' in near.errors[0]


def test_what_is_no_list_of_checks_is_refused(subtests):
    for checks, problem in [
        ([lambda context: True], r"checks has a function; give a list of functions with @check"),
        ([None], r"checks has a NoneType; give a list of functions with @check"),
        (has_greeting, "checks has a FunctionCheck"),
        ("has_greeting", "checks has a str"),
        ([has_greeting, has_greeting], 'checks has two checks with the name "has_greeting"'),
    ]:
        with subtests.test(checks=checks), pytest.raises(ContractError, match=problem):
            evaluate(HELLO, checks=checks)


def test_a_function_that_raises_is_an_error_of_its_own_kind(subtests):
    for severity, error, text in [
        *((each, ValueError(f"401 for {KEY}"), "ValueError: 401 for [openai_key]") for each in SEVERITIES),
        ("critical", StopIteration(), ""),
        ("critical", AssertionError(), "AssertionError"),
    ]:

        async def raise_later(context, error=error):
            raise error

        def raise_now(context, error=error):
            raise error

        for function in (raise_now, raise_later):
            with subtests.test(severity=severity, error=error, function=function.__name__):
                judged = {**HELLO, "subjective_criteria": ["clarity"]}
                own = check(severity=severity, name="raises")(function)
                report = evaluate(judged, checks=[own], judge=lambda _: ANSWER)

                assert report.status == "needs_review"
                assert report.errors[0].startswith('The check "raises" has no result: it ')
                assert text in report.errors[0]
                assert read_kinds(report) == [("check_error", "checks.raises")]
                assert KEY not in report.model_dump_json()


def test_what_a_function_says_is_redacted_as_the_run_is():
    told = check(name="tells")(lambda context: CheckOutcome(False, "the text names swordfish"))
    case = {"agent_run": {"input": "password=swordfish", "final_output": "a"}}
    owned = check(name="owns")(lambda context: CheckOutcome(False, "write to anna.smith@example.org"))

    assert "swordfish" not in evaluate(case, checks=[told]).model_dump_json()
    assert "anna.smith" not in evaluate(HELLO, checks=[owned]).model_dump_json()


def test_a_function_about_tools_reads_the_recorded_calls():
    @check(kind="tool")
    def searches_once(context):
        return [call.args for call in context.tool_calls] == [{"q": "x"}]

    run = {"tool_calls": [{"name": "search", "args": {"q": "x"}, "result": "y"}]}

    assert evaluate({"agent_run": run}, checks=[searches_once]).status == "passed"
    assert evaluate(HELLO, checks=[searches_once]).status == "needs_review"


def test_a_command_is_no_data():
    command = {"check": "command", "arguments": ["rm", "-rf", "/"], "directory": "/"}

    assert evaluate({**HELLO, "checks": [command]}).status == "invalid"
    with pytest.raises(ContractError, match=r"checks\[0\].check"):
        EvaluationContract(checks=[command])


CASE = {"agent_run": {"input": "q", "final_output": "x"}, "subjective_criteria": ["clarity"]}


class Judge:
    def judge(self, request):
        return ANSWER


async def judge_slowly(request):
    return ANSWER


async def test_a_function_is_a_judge_and_is_measured_as_one(subtests):
    output = LabelledOutput(task="q", output="x", kind="right")
    for judge in [lambda request: ANSWER, judge_slowly]:
        with subtests.test(judge=judge):
            assert evaluate(CASE, judge=judge).status == "passed"
            assert (await aevaluate(CASE, judge=judge)).status == "passed"
            assert [report.status for report in evaluate_many([CASE], judge=judge)] == ["passed"]
            assert measure_judge(judge, name="own", outputs=[output]).total == 1


def test_what_is_no_judge_is_refused_at_once(subtests):
    for judge, problem in [
        (ANSWER, "judge is a dict; give an object with judge"),
        ("gpt", "judge is a str; give an object with judge"),
        (Judge, "judge is the class Judge; give an instance of it"),
    ]:
        for build in (
            lambda judge: evaluate(CASE, judge=judge),
            lambda judge: evaluate_many([CASE], judge=judge),
            build_evaluation_graph,
        ):
            with subtests.test(judge=judge, build=build), pytest.raises(ContractError, match=problem):
                build(judge)
