"""A user's own package named as one of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import agents
import evaluation
from evaluation.siblings import check_sibling

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


def test_a_users_own_package_evaluation_is_told_of(tmp_path):
    (tmp_path / "evaluation.py").touch()
    (tmp_path / "script.py").write_text("import orchestrator")

    run = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert "ImportError: `import evaluation` finds another package" in run.stderr


def test_any_other_file_of_the_name_is_refused(tmp_path, monkeypatch):
    (tmp_path / "evaluation.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "evaluation")

    with pytest.raises(ImportError, match=r"evaluation\.py instead of .*__init__\.py") as caught:
        check_sibling("evaluation")
    assert (caught.value.name, caught.value.path) == ("evaluation", str(tmp_path / "evaluation.py"))


def test_our_own_packages_are_accepted_also_through_a_link(tmp_path, monkeypatch):
    check_sibling("agents")
    check_sibling("evaluation")
    check_sibling("a_package_that_is_missing")
    os.symlink(Path(evaluation.__file__).parent, tmp_path / "evaluation")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "evaluation")
    check_sibling("evaluation")


def test_a_package_that_another_distribution_replaced_is_named(tmp_path, monkeypatch):
    folder = tmp_path / "evaluation"
    folder.mkdir()
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("from .agent import Agent")
    monkeypatch.setitem(check_sibling.__globals__, "__file__", str(folder / "siblings.py"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "agents")

    with pytest.raises(ImportError, match=r"agents/__init__.py was overwritten by another distribution"):
        check_sibling("agents")
