"""A command of the user decides about an output: no shell, bounded time and output, and few variables."""

import asyncio
import os
import pickle
import sys
import time
from pathlib import Path

import pytest

from evaluation.checks import CheckContext
from evaluation.checks.commands import CommandCheck
from evaluation.errors import ContractError

KEY = f"sk-{'a1B2' * 12}"


def python(code, directory, **options):
    return CommandCheck([sys.executable, "-c", code], directory, **options)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition, seconds=5):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_the_output_is_the_standard_input_and_the_exit_status_decides(tmp_path):
    command = python("import sys; sys.exit('hello' not in sys.stdin.read())", tmp_path, name="greets")
    passed, failed = (command.evaluate(CheckContext(text)) for text in ("hello 🌊", "bye"))

    assert (passed.passed, failed.passed) == (True, False)
    assert failed.sentence == (
        'Write an output that the command "greets" accepts; it ended with exit status 1.'
    )


def test_the_end_of_what_it_printed_is_the_evidence(tmp_path):
    code = "import sys; print('a' * 10**6, flush=True); sys.exit('\\x1b[31mE  assert 3 == 4\\x1b[0m')"
    outcome = python(code, tmp_path).evaluate(CheckContext("x"))

    assert len(outcome.evidence) == 4000
    assert outcome.evidence.startswith("…aaa")
    assert outcome.evidence.endswith("a\nE  assert 3 == 4")


def test_no_shell_reads_the_arguments(tmp_path):
    command = CommandCheck([sys.executable, "-c", "import sys; print(sys.argv[1])", "$(id); *"], tmp_path)

    assert command.evaluate(CheckContext("x")).evidence == "$(id); *"


def test_it_runs_in_the_directory_with_few_variables(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not for the program")
    code = "import os; print(os.getcwd(), os.environ.get('OPENAI_API_KEY'), os.environ['MODE'])"
    outcome = python(code, tmp_path, environment={"MODE": "test"}).evaluate(CheckContext("x"))

    assert outcome.evidence == f"{tmp_path} None test"


def test_secrets_that_it_prints_are_redacted(tmp_path):
    code = f"import os; print('{KEY}', os.environ['DATABASE'])"
    outcome = python(code, tmp_path, environment={"DATABASE": "hunter22"}).evaluate(CheckContext("x"))

    assert outcome.evidence == "[openai_key] [DATABASE]"


def test_a_secret_at_the_cut_is_not_shown_in_part(tmp_path):
    outcome = python(f"print('{KEY}' + 'a b ' * 995)", tmp_path).evaluate(CheckContext("x"))

    assert "a1B2" not in outcome.evidence


def test_a_program_that_takes_too_long_has_not_passed_and_its_whole_group_ends(tmp_path):
    code = (
        "import subprocess, sys, time, pathlib;"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        "pathlib.Path('pid').write_text(str(child.pid)); print('started', flush=True); time.sleep(60)"
    )
    outcome = python(code, tmp_path, timeout=1.5).evaluate(CheckContext("x"))
    child = int((tmp_path / "pid").read_text())

    assert (outcome.passed, outcome.is_error) == (False, False)
    assert (outcome.seen, outcome.evidence) == ("it did not end within 1.5 s", "started")
    assert wait_for(lambda: not is_alive(child))


def test_a_program_that_leaves_another_behind_ends_it_too(tmp_path):
    code = (
        "import subprocess, sys, pathlib;"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        "pathlib.Path('pid').write_text(str(child.pid))"
    )
    begin = time.monotonic()

    assert python(code, tmp_path).evaluate(CheckContext("x")).passed
    assert time.monotonic() - begin < 20
    assert wait_for(lambda: not is_alive(int((tmp_path / "pid").read_text())))


async def test_cancelling_the_evaluation_ends_the_program(tmp_path):
    code = "import os, pathlib, time; pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(60)"
    evaluation = asyncio.create_task(python(code, tmp_path).aevaluate(CheckContext("x")))
    pid = tmp_path / "pid"
    await asyncio.to_thread(wait_for, lambda: pid.exists() and pid.read_text())
    evaluation.cancel()
    with pytest.raises(asyncio.CancelledError):
        await evaluation

    assert wait_for(lambda: not is_alive(int(pid.read_text())))


def test_a_program_that_cannot_be_started_is_an_error_and_never_a_pass(tmp_path):
    for command in (
        CommandCheck(["no-such-program-here"], tmp_path),
        CommandCheck([sys.executable, "-c", ""], tmp_path / "missing"),
        CommandCheck([sys.executable, "-c", ""], tmp_path, environment={"A=": "b"}),
    ):
        outcome = command.evaluate(CheckContext("x"))

        assert (outcome.passed, outcome.is_error) == (None, True)
        assert "has no result: it cannot be run: " in outcome.sentence


def test_the_output_can_be_a_file(tmp_path):
    (tmp_path / "answer.py").write_text("old")
    code = "import sys; print(open('answer.py').read(), repr(sys.stdin.read()))"

    assert (
        python(code, tmp_path, output_file="answer.py").evaluate(CheckContext("x = 1")).evidence == "x = 1 ''"
    )


def test_a_python_program_imports_the_new_output_and_no_bytecode_of_the_last_one(tmp_path):
    command = python("import answer; print(answer.x)", tmp_path, output_file="answer.py")

    assert [command.evaluate(CheckContext(f"x = {n}")).evidence for n in (1, 2)] == ["1", "2"]


def test_the_code_alone_can_be_given(tmp_path):
    fenced = CheckContext("Here it is:\n\n```python\nx = 1\n```\nDone.")
    command = python("import sys; print(repr(sys.stdin.read()))", tmp_path, code_only=True)

    assert command.evaluate(fenced).evidence == r"'x = 1\n'"
    assert command.evaluate(CheckContext("x = 1")).evidence == "'x = 1'"


def test_a_folder_is_not_written(tmp_path):
    (tmp_path / "answer.py").mkdir()

    assert python("", tmp_path, output_file="answer.py").evaluate(CheckContext("x")).is_error
    assert [path.name for path in tmp_path.iterdir()] == ["answer.py"]


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_link_to_another_file_is_replaced(tmp_path, link):
    (tmp_path / "other").write_text("kept")
    link(tmp_path / "other", tmp_path / "answer.py")

    assert python("", tmp_path, output_file="answer.py").evaluate(CheckContext("x")).passed
    assert (tmp_path / "other").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answer.py", "other"]


async def test_two_evaluations_do_not_mix_their_files(tmp_path):
    code = (
        "import time; a = open('answer').read(); time.sleep(0.2); assert a == open('answer').read(); print(a)"
    )
    command = python(code, tmp_path, output_file="answer")
    outcomes = await asyncio.gather(*(command.aevaluate(CheckContext(text)) for text in "ab"))

    assert [outcome.evidence for outcome in outcomes] == ["a", "b"]


def test_an_unusable_command_is_refused(subtests):
    for build, problem in [
        (lambda: CommandCheck("pytest -q", "."), "no shell splits it"),
        (lambda: CommandCheck([], "."), "give a list, the program and its arguments"),
        (lambda: CommandCheck(["a\0b"], "."), "give texts without NUL"),
        (lambda: CommandCheck(["a", 1], "."), "give texts without NUL"),
        *(
            (lambda name=name: CommandCheck(["a"], ".", output_file=name), "give the name of a file without")
            for name in ("", ".", "..", "../a", "/tmp/a", "a/b", "a\\b", "c:a", "a\0")
        ),
        (lambda: CommandCheck(["a"], ".", timeout=-1), "give a positive number of seconds"),
    ]:
        with subtests.test(build=build, problem=problem), pytest.raises(ContractError, match=problem):
            build()


def test_a_command_has_the_name_of_its_program_and_can_be_pickled(tmp_path):
    command = CommandCheck(["/usr/bin/true"], tmp_path)

    assert (command.name, command.source, command.severity) == ("true", "command", "critical")
    assert pickle.loads(pickle.dumps(command)) == command
