import json
import shutil
from pathlib import Path

import pytest

from orchestrator.persistence import open_store
from tests.fakes.acting import Office, approve, ask
from tests.fakes.executor import FakeExecutor
from tests.fakes.interruption import interrupt_run
from tests.fakes.runs import agent, build, call
from tests.fakes.supervision import SpeakingExecutor

STORED = Path(__file__).parents[2] / "data" / "stored" / "version_2.sqlite"
ALL = ["cut off", "waiting side by side", "waiting", "finished"]
"""The runs of the file, newest first."""
HOSTILE = "\x1b[2J[bold]x[/]\u202e\nstatus success"


@pytest.fixture
def db(tmp_path):
    return Path(shutil.copy(STORED, tmp_path / "runs.sqlite"))


@pytest.fixture
def on(cli, db):
    return lambda *words: cli(words[0], "--db", str(db), *words[1:])


def threads(ended):
    return [run["thread_id"] for run in json.loads(ended.stdout)]


def test_runs_are_listed_and_filtered(on, subtests):
    heading, *lines = on("runs").stdout.splitlines()

    assert heading.split() == ["thread", "status", "steps", "stored", "task"]
    assert [line.split("  ")[0] for line in lines] == ALL
    assert lines[-1].split()[:3] == ["finished", "success", "2/2"]
    assert lines[-1].endswith("  bake bread")
    for options, found in {
        "--status waiting": ["waiting side by side", "waiting"],
        "--status failed": [],
        "--limit 1": ["cut off"],
    }.items():
        with subtests.test(options=options):
            assert threads(on("runs", "--json", *options.split())) == found


# The stored file was written when a question had the text "Do you accept the output of step 1?".
SHOWN = {
    "finished": [
        *("Task: bake bread\nStatus: success, started ", "\n  1. one\n  2. two\n", "\nResult\ntwo done\n"),
        *("step 1 of 2, attempt 1 refused", "step 1 of 2, attempt 2 accepted"),
    ],
    "waiting": [
        "Question:\n│ Do you accept the output of step 1?\n",
        "To go on, call orchestrator.resume('waiting') in Python",
    ],
    "cut off": ["Status: interrupted", "attempt 2 accepted"],
}


def test_a_run_is_shown_as_far_as_it_came(on, subtests):
    for thread, parts in SHOWN.items():
        with subtests.test(thread=thread):
            shown = on("show", thread).stdout

            assert [part for part in parts if part not in shown] == []
            assert ("Result" in shown) == (thread == "finished")


def test_a_run_is_shown_as_json(on, db):
    whole = json.loads(on("show", "--json", "finished").stdout)
    with open_store(db) as store:
        assert whole["state"] == store.history.show("finished").state

    assert (whole["thread_id"], whole["status"], whole["steps_done"]) == ("finished", "success", 2)


def test_nothing_that_a_model_wrote_commands_the_terminal_or_makes_a_line(cli, tmp_path):
    db = str(tmp_path / "runs")
    with open_store(db) as store:
        build(FakeExecutor(HOSTILE), plan=[HOSTILE], checkpointer=store.saver).run(HOSTILE, HOSTILE)
    listed, shown = cli("runs", "--db", db).stdout, cli("show", HOSTILE, "--db", db).stdout

    assert not set(listed + shown) & {"\x1b", "\u202e"}
    assert len(listed.splitlines()) == 2
    assert "  | [2J[bold]x[/]\n  | status success\n" in shown
    assert shown.startswith("Task: [2J[bold]x[/] status success\n")


def test_runs_are_deleted_by_name(on):
    deleted = on("delete", "waiting")

    assert (deleted.exit_code, deleted.stderr) == (0, "deleted waiting\n")
    assert threads(on("runs", "--json")) == ["cut off", "waiting side by side", "finished"]


UNKNOWN = "is not in {db}; `orchestrator runs` or history.runs()"
IMPOSSIBLE = {
    "show nothing": f"thread 'nothing' {UNKNOWN} lists",
    "delete nothing": f"thread 'nothing' {UNKNOWN}",
    "delete fin": f"thread 'fin' {UNKNOWN} lists",
}


def test_what_cannot_be_done_is_one_sentence_and_the_store_is_as_it_was(on, db, subtests):
    before = db.read_bytes()
    for words, sentence in IMPOSSIBLE.items():
        with subtests.test(words=words):
            ended = on(*words.split())

            assert (ended.exit_code, ended.stdout) == (2, "")
            assert sentence.format(db=db) in ended.stderr.splitlines()[-1]
            assert (db.read_bytes(), list(db.parent.glob("runs*"))) == (before, [db])


def test_a_store_that_is_missing_is_one_sentence_and_is_not_made(subtests, cli, tmp_path):
    path = tmp_path / "runs.sqlite"
    sentence = f"orchestrator: there is no {path}; give the path of the run's store\n"
    for command in ["runs", "show t", "delete t"]:
        with subtests.test(command=command):
            ended = cli(*command.split(), "--db", str(path))

            assert (ended.exit_code, ended.stderr, path.exists()) == (2, sentence, False)


def test_a_database_is_taken_and_its_password_is_not_printed(cli, postgres_url):
    with open_store(postgres_url) as store:
        build(plan=["one"], checkpointer=store.saver).run("x", "t")
    url = postgres_url.replace("postgres:@", "postgres:s3cret@")

    assert threads(cli("runs", "--json", "--db", url)) == ["t"]
    ended = cli("show", "nothing", "--db", url)
    assert (ended.exit_code, "s3cret" in ended.stderr) == (2, False)


def price_of(title: str, note: str = "") -> float:
    """Return the price of a book."""
    if not note:
        raise ValueError("no such book")
    return 12.5


@pytest.fixture
def in_python(cli, tmp_path):
    """Start the run "t" in Python, then run a command about it: `in_python("show", supervision="human")`."""
    db = tmp_path / "python.sqlite"

    def start(command, *words, executor=None, monitor=None, **options):
        with open_store(db) as store:
            own = executor or SpeakingExecutor()
            build(own, monitor, ["one"], checkpointer=store, **options).run("x", "t")
        return cli(command, *words, "--db", str(db))

    return start


def test_the_tool_calls_of_an_execution_are_shown_with_their_arguments_and_errors(in_python):
    calls = call("price_of", title="x"), call("price_of", title="x", note="n" * 500)
    lines = in_python("show", "t", executor=agent(*calls, "12.5", tools=[price_of])).stdout.splitlines()
    first = next(number for number, line in enumerate(lines) if "step 1 of 1, attempt 1" in line)

    assert lines[first + 1].startswith('  price_of {"title": "x"}, failed: ')
    assert lines[first + 2].startswith('  price_of {"title": "x", "note": "nnn')
    assert lines[first + 2].endswith("…")
    assert len(lines[first + 2]) < 150


def test_what_became_of_a_call_that_acts_is_shown(in_python):
    def send(to: str) -> str:
        """Send a mail."""
        return {"Ada": "sent", "Bob": "hm", "Eve": "Could not send: no such address"}[to]

    executor = agent(ask(*(("send", name) for name in ("Ada", "Bob", "Eve"))), "done", tools=[send])
    shown = in_python("show", "t", executor=executor, acting_tools=["send"]).stdout

    for name, outcome in [("Ada", "acted"), ("Bob", "unknown"), ("Eve", "refused")]:
        assert f'send {{"to": "{name}"}}, {outcome}' in shown


def test_a_call_that_acted_in_an_execution_under_way_is_shown(in_python):
    executor = agent(ask(("send", "Ada")), ask(("pay", "Bob")), tools=Office().tools())
    shown = in_python("show", "t", executor=executor, acting_tools=approve("pay")).stdout

    assert 'step 1 of 1, attempt 1, under way: send {"to": "Ada"}, acted' in shown


@pytest.mark.parametrize("words", [("resume", "t", "--approve"), ("fork", "t", "--step", "1")])
def test_a_run_of_python_is_continued_in_python(in_python, words):
    refused = in_python(*words, supervision="human")

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "orchestrator.resume('t')" in refused.stderr


def test_a_run_that_was_interrupted_is_shown_with_the_command_that_continues_it(on, db):
    with open_store(db) as store:
        store.keep({"model": "local", "tools": ["shop:price of"]})
        interrupt_run(lambda executor: build(executor, plan=["one"], checkpointer=store), "x", "cut")

    assert on("show", "cut").stdout.splitlines()[-1] == (
        f"To go on, type: orchestrator resume cut --db {db} --tools 'shop:price of'"
    )
