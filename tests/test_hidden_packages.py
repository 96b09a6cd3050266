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


AGENTS = "`import agents` finds {}, which is no part of plan-execute-monitor; rename"
EVALUATION = "`import evaluation` finds another package than the one of plan-execute-monitor; rename"


@pytest.mark.parametrize(
    ("name", "told"), [("agents/__init__.py", [AGENTS, AGENTS]), ("evaluation.py", [EVALUATION])]
)
def test_a_users_own_package_is_named_with_what_to_do(tmp_path, name, told):
    own = tmp_path / name
    own.parent.mkdir(exist_ok=True)
    own.touch()
    (tmp_path / "script.py").write_text(SCRIPT)

    printed = subprocess.check_output([sys.executable, "script.py"], cwd=tmp_path, text=True).splitlines()

    assert [line.partition(" your ")[0] for line in printed] == [each.format(own) for each in told]


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
