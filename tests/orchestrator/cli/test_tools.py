import getpass
import importlib.util
import re
import sys

import pytest

from orchestrator.cli.run_options import import_tools
from orchestrator.errors import ConfigurationError
from tests.fakes.chat_server import call, verdict

PAY = call("pay", to="Ada")
MODULE = '''
import pathlib

def price(item: str) -> str:
    """Return the price of an item."""
    return "5"

def silent(item):
    return item

TOOLS = [price]
NUMBER = 5
PAID = []

def pay(to: str) -> str:
    """Pay."""
    PAID.append(to)
    raise TimeoutError("late")

pathlib.Path("imported").touch()
'''


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, with the module `shop_tools` and one that raises."""
    (tmp_path / "shop_tools.py").write_text(MODULE)
    (tmp_path / "broken_tools.py").write_text("1 / 0")
    (tmp_path / "leaving_tools.py").write_text("import sys; sys.exit(0)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in ("shop_tools", "broken_tools"):
        sys.modules.pop(name, None)


def test_a_function_or_a_list_is_imported_from_the_current_folder(subtests):
    for name in ["shop_tools:price", "shop_tools:TOOLS"]:
        with subtests.test(name=name):
            assert [tool.name for tool in import_tools([name])] == ["price"]


def test_what_is_no_tool_is_refused_in_one_sentence(subtests):
    for name, sentence in [
        ("shop_tools", "give MODULE:NAME, such as my_tools:TOOLS"),
        ("../shop_tools:price", "give MODULE:NAME"),
        ("absent_tools:price", "ModuleNotFoundError: No module named 'absent_tools'"),
        ("broken_tools:price", "raised ZeroDivisionError: division by zero; give MODULE:NAME, and run the"),
        ("leaving_tools:price", "--tools: 'leaving_tools:price' raised SystemExit: 0"),
        ("shop_tools:prices", "has no attribute 'prices'"),
        ("shop_tools:NUMBER", "--tools: tools contains a int; give LangChain tools or functions"),
        ("shop_tools:silent", "which cannot be a tool"),
        (
            "shop_tools:price shop_tools:TOOLS",
            '--tools: tools has "price" 2 times; give each tool another name',
        ),
    ]:
        with subtests.test(name=name), pytest.raises(ConfigurationError, match=re.escape(sentence)):
            import_tools(name.split())


def test_a_file_of_the_current_folder_replaces_no_module_of_python(folder):
    (folder / "colorsys.py").write_text("1 / 0")

    import_tools(["shop_tools:price"])

    assert importlib.util.find_spec("colorsys").origin != str(folder / "colorsys.py")


def test_stored_names_of_tools_are_never_imported(cli, chat, tmp_path):
    env = chat(verdicts=["no verdict"]).environment
    where = ("--db", str(tmp_path / "runs"), "--thread", "t")
    run = ("run", "x", "--model", "openai:m", "--supervise", "human", "--tools", "shop_tools:price")
    cli(*run, *where, env=env)
    sys.modules.pop("shop_tools")
    (tmp_path / "imported").unlink()

    refused = cli("resume", "t", "--approve", *where[:2], env=env)

    told = "was started with --tools 'shop_tools:price'; give it again, because it runs code"
    assert (refused.exit_code, told in refused.stderr) == (2, True)
    assert not (tmp_path / "imported").exists()


def test_a_person_states_the_result_of_a_tool_call(cli, chat, tmp_path):
    steps, verdicts = [PAY, "hm", PAY, "done"], [verdict(False, "shorter"), verdict(True, "good")]
    env = chat(steps=steps, verdicts=verdicts).environment
    where, tools = ("--db", str(tmp_path / "runs")), ("--tools", "shop_tools:pay")
    run = ("run", "x", "--model", "openai:m", "--acting-tools", "pay", "--thread", "t")
    asked = cli(*run, *tools, *where, env=env)
    blank = cli("resume", "t", "--correct", " ", *tools, *where, env=env)
    answered = cli("resume", "t", "--correct", "receipt 7", *tools, *where, env=env)
    shown = cli("show", "t", *where)

    assert "--approve | --correct TEXT | --deny REASON | --halt REASON" in asked.stderr
    assert (asked.exit_code, blank.exit_code, answered.exit_code) == (3, 2, 0)
    assert f"stated, {getpass.getuser()} says correct: receipt 7" in " ".join(shown.stdout.split())
    assert sys.modules["shop_tools"].PAID == ["Ada"]
