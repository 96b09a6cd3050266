"""A user's own package named as one of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import evaluation
from evaluation import check_sibling

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

    assert len(printed.splitlines()) == 2
    for line in printed.splitlines():
        assert line.startswith(
            f"`import agents` finds {own}, which is no part of plan-execute-monitor; rename"
        )


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

    with pytest.raises(ImportError, match=r"evaluation\.py, which is no part") as caught:
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
