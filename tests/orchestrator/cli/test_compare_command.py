import json

import pytest

from evaluation.cases.case_result import FORMAT
from tests.fakes.protocol_server import encode, ollama_reply

COUNTS = {"prompt_eval_count": 900, "eval_count": 100, "eval_duration": 2_000_000_000}
CAPITALS = {"France": "Paris", "Norway": "Oslo", "Peru": "Lima"}
CASES = [
    {
        "name": country.lower(),
        "task": f"What is the capital of {country}?",
        "answer": capital,
        "contract": {"required_content": [{"text": capital}]},
    }
    for country, capital in CAPITALS.items()
]


def answer(body: dict[str, object]) -> bytes:
    """A model that knows every capital, one that knows none, and one that is out of order."""
    asked = json.dumps(body["messages"])
    known = next(capital for country, capital in CAPITALS.items() if country in asked)
    if body["model"] == "broken":
        return encode({"error": "out of memory"}, 500)
    if body["model"] == "short" and "success" in json.dumps(body.get("format")):
        return ollama_reply('{"feedback": "it is', done_reason="length", **COUNTS)
    if "format" in body:  # a judge's verdict
        return ollama_reply(json.dumps({"feedback": "it is good", "success": True}), **COUNTS)
    return ollama_reply(known if body["model"] == "good" else "I do not know.", **COUNTS)


@pytest.fixture
def ollama(loopback, monkeypatch):
    server = loopback(answer=answer)
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    return server


@pytest.fixture
def tasks(tmp_path):
    file = tmp_path / "tasks.yaml"
    file.write_text(json.dumps({"version": 1, "cases": CASES}))
    return file


def compare(cli, tasks, *arguments, models="ollama:good,ollama:bad"):
    return cli("compare", "--tasks", str(tasks), "--models", models, *arguments)


def test_two_models_have_a_column_each_and_a_case_that_changed_sides_is_named(cli, ollama, tasks):
    ended = compare(cli, tasks)
    rows = {line[:15].strip(): line[15:].split("  ") for line in ended.stdout.splitlines()}
    assert ended.exit_code == 0
    assert "1.00 (0.29 to 1.00)" in rows["success"]
    assert "0.00 (0.00 to 0.71)" in " ".join(rows["success"])
    assert rows["wrong claims"][0].strip() == "0 of 3"
    assert "  france: 100% of ollama:good, 0% of ollama:bad\n" in ended.stdout
    assert "ollama:bad against ollama:good: success -1.00" in ended.stdout
    assert "not told apart" in ended.stdout


@pytest.mark.thorough
def test_every_model_gets_the_same_seeds(cli, ollama, tasks):
    compare(cli, tasks, "--repeat", "2", "--seed", "7")
    seeds = {(body["model"], body["options"]["seed"]) for body in ollama.bodies}
    # A retry has a seed that the policy derives.
    assert {("good", 7), ("good", 8), ("bad", 7), ("bad", 8)} <= seeds


@pytest.mark.soak
def test_a_model_that_does_not_answer_is_named_and_the_others_go_on(cli, ollama, tasks):
    ended = compare(cli, tasks, models="ollama:good,ollama:broken")
    assert ended.exit_code == 2
    assert "1.00 (0.29 to 1.00)" in ended.stdout
    assert "ollama:broken: 3 of 3 runs had no answer" in ended.stderr


def test_a_judge_whose_reply_was_cut_by_a_setting_is_named_before_the_figures(cli, ollama, tmp_path):
    file = tmp_path / "open.yaml"
    file.write_text(json.dumps({"version": 1, "cases": [{"task": "Tell me of France."}]}))
    ended = compare(cli, file, models="ollama:short,num_predict=5,ollama:good")
    assert "ollama:short,num_predict=5: 1 of 1 runs had no verdict" in ended.stderr
    assert "cut off at the limit of tokens of the monitor's model" in ended.stderr


@pytest.mark.thorough
def test_a_stored_comparison_says_which_model_did_not_answer(cli, ollama, tasks, tmp_path):
    for name in ("one", "two"):
        compare(cli, tasks, "--out", str(tmp_path / f"{name}.jsonl"), models="ollama:good,ollama:broken")

    ended = cli("compare", str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl"))

    assert ended.exit_code == 2
    assert "one: ollama:broken: 3 of 3 runs had no answer" in ended.stderr


def test_an_interrupted_comparison_goes_on_where_it_was(cli, ollama, tasks, tmp_path):
    out = tmp_path / "out.jsonl"
    first = compare(cli, tasks, "--out", str(out)).stdout
    lines = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:-2]))
    asked = len(ollama.bodies)
    again = compare(cli, tasks, "--out", str(out)).stdout
    assert 0 < len(ollama.bodies) - asked < asked
    assert again.splitlines()[1] == first.splitlines()[1]


def test_two_stored_evaluations_are_compared(cli, ollama, tasks, tmp_path):
    files = []
    for model in ("good", "bad"):
        files.append(str(tmp_path / f"{model}.jsonl"))
        cli("evaluate", str(tasks), "--model", f"ollama:{model}", "--out", files[-1])
    ended = cli("compare", *files, "--json")
    document = json.loads(ended.stdout)
    [difference] = document["differences"]
    # A wrong answer is an answer.
    assert (ended.exit_code, "no answer" in ended.stderr) == (0, False)
    assert [arm["arm"] for arm in document["arms"]] == ["good", "bad"]
    assert difference["value"] == -1.0
    assert set(difference["changed"]) == {"france", "norway", "peru"}


BAD_INPUT = {
    "": "give either --tasks FILE with --models, or files that --out wrote",
    "--tasks TASKS --models ollama:good": "give at least two different models",
    "--tasks TASKS --models ollama:good,ollama:good": "give at least two different",
    "--tasks TASKS --models ollama:good,nowhere:x": "nowhere",
    "--tasks missing.yaml --models ollama:good,ollama:bad": "missing.yaml",
    "--tasks TASKS --html absent/page.html": "'absent/page.html' is no file in a folder",
    "missing.jsonl TASKS": "'missing.jsonl' cannot be used (No such file or directory)",
    "TASKS TASKS": "this is no stored evaluation",
}


def test_bad_input_is_one_sentence_and_nothing_is_asked(cli, ollama, tasks, subtests):
    for arguments, sentence in BAD_INPUT.items():
        with subtests.test(arguments=arguments):
            ended = cli("compare", *arguments.replace("TASKS", str(tasks)).split())
            assert (ended.exit_code, sentence in ended.stderr, ollama.bodies) == (2, True, [])


def test_figures_of_a_hostile_file_are_left_out(cli, tmp_path):
    rates = {"m": {"tokens_per_second": "many", "context_used": 5, "context_size": 0}}
    result = {"name": "a", "status": "passed", "basis": "checked", "accepted": True}
    run = {"latency_ms": "x", "metadata": {"rates": rates, "store": ["a"]}}
    for name in ("one", "two"):
        lines = [{"format": FORMAT, "version": 1}, {**result, "agent_run": run}, {"unread": []}]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    ended = cli("compare", str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl"))
    assert ended.exit_code == 0
    assert "context used" not in ended.stdout
