"""Keeps the figures of each judge in a file, and finds them."""

from __future__ import annotations

import logging
import os
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.judges.trust.figures import JudgeTrust
from evaluation.judges.trust.labelled_set import get_set_version

_log: Final = logging.getLogger(__name__)
_SHIPPED: Final = Path(__file__).with_name("measured")
_APPLICATION: Final = "plan-execute-monitor"


class _FiguresFile(BaseModel):
    """The content of a file. Rates and trust are computed from the counts, never read."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal[2] = 2
    set_version: str
    """The labelled set that the judge was measured with."""
    figures: JudgeTrust


def find_trust(model_name: str | None) -> JudgeTrust | None:
    """Finds the figures of a judge: measured on this machine, or shipped with the package.

    Args:
        model_name: The judge with its model, as ``MonitoringAgent.identity`` and ``RubricJudge.identity``
            state it; None for a judge that has no identity.

    Returns:
        The figures. None if the judge was not measured with the current labelled set: such a judge is not
        trusted. A file that is damaged counts as no file, with a warning in the log.
    """
    if model_name is None:
        return None
    files = (folder / _name_file(model_name) for folder in (get_trust_folder(), _SHIPPED))
    stored = (_read_file(file, model_name) for file in files)
    return next(filter(None, stored), None)


def save_trust(trust: JudgeTrust) -> Path:
    """Stores the figures of a judge for this user, in place of earlier ones, and returns the file.

    Raises:
        OSError: The file cannot be written. An earlier file is unchanged.
    """
    stored = _FiguresFile(set_version=get_set_version(), figures=trust)
    return _write_file(get_trust_folder() / _name_file(trust.name), stored)


def get_trust_folder() -> Path:
    """Returns the folder in the user's data folder that has the figures of judges. Creates nothing."""
    from platformdirs import user_data_path  # noqa: PLC0415 - only needed if a judge's word decides

    return user_data_path(_APPLICATION, appauthor=False) / "judges"


def _name_file(name: str) -> str:
    # A name has URLs and any other text of a model; its digest is a file name on every system.
    return f"{sha256(name.encode('utf-8', 'replace')).hexdigest()[:32]}.json"


def _write_file(file: Path, content: BaseModel) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(f"{content.model_dump_json(indent=2)}\n")
        Path(temporary).replace(file)  # whole also for a reader at the same time
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return file


def _read_file(file: Path, name: str) -> JudgeTrust | None:
    """Reads figures. Returns None if there are none, or of another name or set; logs a damaged file."""
    try:
        stored = _FiguresFile.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        _log.warning("the figures in %s cannot be read (%s)", file, type(error).__name__)
        return None
    is_current = (stored.figures.name, stored.set_version) == (name, get_set_version())
    return stored.figures if is_current else None
