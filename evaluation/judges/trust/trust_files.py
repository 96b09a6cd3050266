"""Keeps the figures of each judge in a file, and finds them."""

from __future__ import annotations

import logging
import os
import tempfile
from collections import Counter
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Self, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from evaluation.errors import ContractError
from evaluation.judges.trust.figures import JudgeTrust, Kind, VerdictCounts
from evaluation.judges.trust.labelled_set import get_set_version, load_labelled_set
from evaluation.values import VersionOne

M = TypeVar("M", bound=BaseModel)

_log: Final = logging.getLogger(__name__)
_SHIPPED: Final = Path(__file__).with_name("measured")
_APPLICATION: Final = "plan-execute-monitor"
_MAX_BYTES: Final = 20_000
_MAX_NAME: Final = 2_000


class _StoredTrust(BaseModel):
    """The content of a file. Rates and trust are computed from the counts, never read."""

    model_config = ConfigDict(extra="forbid")

    format: VersionOne
    judge: Annotated[str, Field(min_length=1, max_length=_MAX_NAME)]
    set_version: str
    measured_at: AwareDatetime
    counts: dict[Kind, VerdictCounts]

    @classmethod
    def from_trust(cls, trust: JudgeTrust) -> Self:
        """Builds the content of a file from figures of the current set."""
        return cls(
            format=1,
            judge=trust.judge,
            set_version=get_set_version(),
            measured_at=datetime.now(UTC).replace(microsecond=0),
            counts=dict(trust.counts),
        )

    def is_current(self, judge: str) -> bool:
        """Checks that the figures are of this judge and set, and that the set has so many outputs."""
        sizes = Counter(each.kind for each in load_labelled_set())
        is_possible = sizes.keys() == self.counts.keys() and all(
            counts.total <= sizes[kind] for kind, counts in self.counts.items()
        )
        return is_possible and (self.judge, self.set_version) == (judge, get_set_version())


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
    folders = (get_trust_folder(), _SHIPPED)
    read = (_read_file(folder / name_file(model_name), model_name) for folder in folders)
    return next((trust for trust in read if trust is not None), None)


def save_trust(trust: JudgeTrust) -> Path:
    """Stores the figures of a judge for this user, in place of earlier ones, and returns the file.

    Raises:
        OSError: The file cannot be written. An earlier file is unchanged.
        ContractError: The name of the judge is empty or longer than 2,000 characters.
    """
    if not 0 < len(trust.judge) <= _MAX_NAME:
        raise ContractError(
            f"the name of the judge has {len(trust.judge)} characters; give a name of 1 to {_MAX_NAME}"
        )
    return write_model(get_trust_folder() / name_file(trust.judge), _StoredTrust.from_trust(trust))


def write_model(file: Path, content: BaseModel) -> Path:
    """Writes a file of figures, whole or not at all, and returns it; creates its folder.

    Raises:
        OSError: The file cannot be written. An earlier file is unchanged.
    """
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


def get_trust_folder() -> Path:
    """Returns the folder in the user's data folder that has the figures. Creates nothing."""
    return get_figures_folder("judges")


def get_figures_folder(kind: str) -> Path:
    """Returns the folder in the user's data folder that has figures of a kind. Creates nothing."""
    from platformdirs import user_data_path  # noqa: PLC0415 - only needed if a judge's word decides

    return user_data_path(_APPLICATION, appauthor=False) / kind


def name_file(judge: str) -> str:
    """Returns the name of the file that has the figures of a judge."""
    # A name has URLs and any other text of a model; its digest is a file name on every system.
    return f"{sha256(judge.encode('utf-8', 'replace')).hexdigest()[:32]}.json"


def read_model(file: Path, model: type[M]) -> M | None:
    """Reads a file of figures. Returns None if there is none; logs a warning if it is damaged."""
    try:
        with file.open("rb") as stream:
            return model.model_validate_json(stream.read(_MAX_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        _log.warning("the figures of a judge in %s cannot be read (%s)", file, type(error).__name__)
        return None


def _read_file(file: Path, judge: str) -> JudgeTrust | None:
    """Reads the figures of a judge. Returns None if there are none, or none of the current set."""
    stored = read_model(file, _StoredTrust)
    return (
        JudgeTrust(stored.judge, stored.counts) if stored is not None and stored.is_current(judge) else None
    )
