"""Reads the labelled set, and keeps the figures of each judge and of each verifier in a file."""

from __future__ import annotations

import logging
import os
import tempfile
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from evaluation.judges.trust.figures import JudgeTrust, Kind, VerifierFigures

Half: TypeAlias = Literal["tuning", "held_out"]
_FILE: Final = Path(__file__).with_name("labelled_set.json")


class LabelledOutput(BaseModel):
    """An output with its task and its label: only the kind ``right`` is right.

    Of your own outputs, give ``task``, ``output`` and ``kind``.

    Attributes:
        id: The name of the pair.
        half: ``tuning`` if judges may be improved with it, ``held_out`` if they are only measured with it.
        kind: The label.
        fault: The fault, as one word; "none" for a right output.
        language: ISO 639-1 code of the task.
        task: What was asked for.
        output: The output to judge.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str = ""
    half: Half = "held_out"
    kind: Kind
    fault: str = ""
    language: Literal["en", "de"] = "en"
    task: str
    output: str


_ADAPTER: Final = TypeAdapter(tuple[LabelledOutput, ...])


@lru_cache(maxsize=1)
def load_labelled_set() -> tuple[LabelledOutput, ...]:
    """Reads the set. The kinds are mixed evenly, so that its beginning is a fair sample."""
    return _ADAPTER.validate_json(_FILE.read_bytes())


@lru_cache(maxsize=1)
def get_set_version() -> str:
    """Returns a digest of the set's content: figures of another content are not comparable."""
    return sha256(_ADAPTER.dump_json(load_labelled_set())).hexdigest()[:12]


F = TypeVar("F", JudgeTrust, VerifierFigures)

_log: Final = logging.getLogger(__name__)
_SHIPPED: Final = Path(__file__).with_name("measured")
_APPLICATION: Final = "plan-execute-monitor"


class _FiguresFile(BaseModel, Generic[F]):
    """The content of a file. Rates, trust and thresholds are computed from the counts, never read."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal[2] = 2
    set_version: str
    """The labelled set that a judge was measured with; empty for a verifier, whose tasks are the user's."""
    figures: F


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
    stored = (_read_file(file, _FiguresFile[JudgeTrust], model_name, get_set_version()) for file in files)
    return next(filter(None, stored), None)


def find_figures(verifier: str) -> VerifierFigures | None:
    """Finds the figures of a verifier on this machine; None if there are none, or the file is damaged."""
    file = _get_folder("verifiers") / _name_file(verifier)
    return _read_file(file, _FiguresFile[VerifierFigures], verifier, "")


def save_trust(trust: JudgeTrust) -> Path:
    """Stores the figures of a judge for this user, in place of earlier ones, and returns the file.

    Raises:
        OSError: The file cannot be written. An earlier file is unchanged.
    """
    stored = _FiguresFile[JudgeTrust](set_version=get_set_version(), figures=trust)
    return _write_file(get_trust_folder() / _name_file(trust.name), stored)


def save_figures(figures: VerifierFigures) -> Path:
    """Stores the figures of a verifier; returns and raises as ``save_trust`` does."""
    stored = _FiguresFile[VerifierFigures](set_version="", figures=figures)
    return _write_file(_get_folder("verifiers") / _name_file(figures.name), stored)


def get_trust_folder() -> Path:
    """Returns the folder in the user's data folder that has the figures of judges. Creates nothing."""
    return _get_folder("judges")


def _get_folder(kind: str) -> Path:
    from platformdirs import user_data_path  # noqa: PLC0415 - only needed if a judge's word decides

    return user_data_path(_APPLICATION, appauthor=False) / kind


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


def _read_file(file: Path, model: type[_FiguresFile[F]], name: str, set_version: str) -> F | None:
    """Reads figures. Returns None if there are none, or of another name or set; logs a damaged file."""
    try:
        stored = model.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        _log.warning("the figures in %s cannot be read (%s)", file, type(error).__name__)
        return None
    return stored.figures if (stored.figures.name, stored.set_version) == (name, set_version) else None
