"""A user's own package named as one of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import agents
import evaluation
from evaluation.siblings import check_sibling
from orchestrator.runtime import siblings as siblings_of_orchestrator

SCRIPT = """
import importlib
for name in ("orchestrator", "evaluation"):
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(error)
"""


def test_a_users_own_package_agents_is_named_with_ours_and_what_to_do(tmp_path):
    own = tmp_path / "agents" / "__init__.py"
    own.parent.mkdir()
    own.touch()
    (tmp_path / "script.py").write_text(SCRIPT)

    printed = subprocess.check_output([sys.executable, "script.py"], cwd=tmp_path, text=True)

    assert printed.splitlines() == 2 * [
        (
            f"`import agents` finds {own} instead of {agents.__file__}, which plan-execute-monitor needs; "
            "rename your own package, or move it into another one"
        )
    ]


@pytest.mark.parametrize("check", [check_sibling, siblings_of_orchestrator.check_sibling])
def test_any_other_file_of_the_name_is_refused(check, tmp_path, monkeypatch):
    (tmp_path / "evaluation.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "evaluation")

    with pytest.raises(ImportError, match=r"evaluation\.py instead of .*__init__\.py") as caught:
        check("evaluation")
    assert (caught.value.name, caught.value.path) == ("evaluation", str(tmp_path / "evaluation.py"))


@pytest.mark.parametrize("check", [check_sibling, siblings_of_orchestrator.check_sibling])
def test_our_own_packages_are_accepted_also_through_a_link(check, tmp_path, monkeypatch):
    check("agents")
    check("evaluation")
    check("a_package_that_is_missing")
    os.symlink(Path(evaluation.__file__).parent, tmp_path / "evaluation")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "evaluation")
    check("evaluation")


@pytest.mark.parametrize("check", [check_sibling, siblings_of_orchestrator.check_sibling])
def test_a_package_that_another_distribution_replaced_is_named(check, tmp_path, monkeypatch):
    folder = tmp_path / "evaluation" if check is check_sibling else tmp_path / "orchestrator" / "runtime"
    folder.mkdir(parents=True)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("from .agent import Agent")
    (folder / "siblings.py").write_text(Path(check.__code__.co_filename).read_text())
    monkeypatch.setitem(check.__globals__, "__file__", str(folder / "siblings.py"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "agents")

    with pytest.raises(ImportError, match=r"agents/__init__.py was overwritten by another distribution"):
        check("agents")


def test_a_double_in_place_of_a_package_is_accepted(monkeypatch):
    monkeypatch.setitem(sys.modules, "agents", type(sys)("agents"))
    check_sibling("agents")


def test_the_copies_are_alike():
    texts = [Path(each.__code__.co_filename).read_text() for each in (
        check_sibling, siblings_of_orchestrator.check_sibling,
    )]  # fmt: skip
    assert texts[0].replace("``orchestrator``", "``evaluation``") == texts[1]
