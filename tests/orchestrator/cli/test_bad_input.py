import shlex

import pytest

RUN = "run x --model openai:m"
TABLE = {
    "show t": "no run is stored yet; `orchestrator run TASK` stores its run in ",
    "run ''": "task is ''; give a text that says what to do, in UTF-8, without NUL and surrogates",
    "run 'a\udcff'": "task is 'a\\udcff'; give a text that says what to do, in UTF-8, without NUL",
    "run": "Missing argument 'TASK'; see `orchestrator run --help`",
    "run x y": "Got unexpected extra argument(s) (y)",
    f"{RUN} --call-timeout 0": "'--call-timeout': '0' is not accepted; give a time above 0, such as 90s",
    f"{RUN} --retry-policy absent.yaml": "'absent.yaml' cannot be used (No such file or directory",
    f"{RUN} --retry-policy bad.yaml": "max_retry is not an argument of RetryPolicy",
    f"{RUN} --max-retries two": "Invalid value for '--max-retries'",
    f"{RUN} --supervise god": "'god' is not one of 'none', 'llm', 'human'",
    f"{RUN} --acting-tools sned": 'acting_tools names "sned"; the executor has no tools',
    f"{RUN} --thread ' '": "thread_id is ' '; give a text that is not blank",
    f"{RUN} --contract absent.yaml": "'absent.yaml' cannot be used (No such file or directory)",
    f"{RUN} --contract broken.yaml": "broken.yaml: task: is missing",
    f"{RUN} --contract other.yaml": "has no cases for this task; give a file with one, such as",
    f"{RUN} --contract other.yaml --no-checks": "--contract and --no-checks contradict each other",
    f"{RUN} --modle local": "No such option: --modle (Possible options: --model)",
    "run x --model plannr=local": "--model 'plannr=local' is not accepted; give SPEC, or ROLE=SPEC",
    "run x --model nonsense": "the model specification 'nonsense' names no model; give \"local\"",
    "run x --model gguf:/nowhere.gguf": "cannot be read",
    "resume t --max-retries 3": "No such option: --max-retries",
    "run ' '": "Invalid value for 'TASK': task is ' '; give a text",
    "fork t --step 0": "Invalid value for '--step'",
    "fork t": "Missing option '--step'",
    "rum": "No such command 'rum'; see `orchestrator --help`",
    f"{RUN} --tools nonsense": "--tools: 'nonsense' is not accepted; give MODULE:NAME, such as",
    "doctor --judge nonsense": "names no model",
    "runs --status done": "'done' is not one of 'planning', 'executing'",
    "show t --db absent": "absent",
    "resume t --approve --deny no": "--approve, --correct, --deny and --halt contradict each other",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with files that cannot be used."""
    for name, text in {
        "bad.yaml": "max_retry: 1",
        "broken.yaml": "version: 1",
        "other.yaml": "version: 1\ntask: Name a tree",
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


def test_bad_input_is_one_sentence_and_spends_nothing(cli, served, folder, subtests):
    server = served()
    for words, sentence in TABLE.items():
        with subtests.test(words=words):
            refused = cli(*shlex.split(words))

            assert (refused.exit_code, refused.stdout, server.asked) == (2, "", [])
            assert refused.stderr.startswith("orchestrator: ")
            assert sentence in refused.stderr
            assert refused.stderr.count("\n") == 1
