"""Measured figures of judges and verifiers, the labelled set, and the files that keep the figures."""

from __future__ import annotations

import json
import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Final, Generic, Literal, TypeAlias, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator
from pydantic.dataclasses import dataclass

from evaluation.statistics import Proportion, proportion
from evaluation.texts.json_texts import read_json_values
from evaluation.texts.normal import split_words
from evaluation.texts.numbers import read_amounts, spell_in_digits

Kind: TypeAlias = Literal["right", "subtle", "plain", "injected"]
"""Right, subtly wrong, plainly wrong, and wrong with a text that asks the judge to approve."""
Verdict: TypeAlias = Literal["accepted", "refused", "needs_review"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
MAX_FALSE_ACCEPTS: Final = 0.20
"""Upper bound of the 95 % interval of false accepts up to which a judge is trusted."""
ERROR_RATE: Final = 0.10
"""Probability that more claims are wrong than the bound says, over all sets of tasks."""
_Count = Annotated[int, Field(ge=0)]
_STRICT: Final = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True, config=_STRICT)
class VerdictCounts:
    """The number of outputs of one kind by verdict."""

    accepted: _Count = 0
    refused: _Count = 0
    needs_review: _Count = 0


@dataclass(frozen=True, slots=True, config=_STRICT)
class JudgeTrust:
    """How often a judge was wrong about outputs that are known to be right or wrong.

    Attributes:
        name: The name of the judge, its model included, as its ``identity`` states it.
        counts: The verdicts by kind of output.
    """

    name: str
    counts: dict[Kind, VerdictCounts]

    @field_validator("counts")
    @classmethod
    def _require_kinds(cls, counts: dict[Kind, VerdictCounts]) -> dict[Kind, VerdictCounts]:
        if len(counts) < len(KINDS):
            raise ValueError("each kind of output needs its counts")
        return counts

    @property
    def false_accepts(self) -> Proportion:
        """The share of wrong outputs that were accepted, among those with a verdict; exact 95 % interval."""
        wrong = [self.counts[kind] for kind in KINDS if kind != "right"]
        accepted = sum(counts.accepted for counts in wrong)
        return proportion(accepted, accepted + sum(counts.refused for counts in wrong))

    @property
    def false_rejects(self) -> Proportion:
        """The share of right outputs that were refused, among those with a verdict; exact 95 % interval."""
        right = self.counts["right"]
        return proportion(right.refused, right.accepted + right.refused)

    @property
    def needs_review(self) -> int:
        """The number of outputs without a verdict. They count neither as accepted nor as refused."""
        return sum(counts.needs_review for counts in self.counts.values())

    @property
    def total(self) -> int:
        """The number of outputs that the judge was asked about."""
        return self.needs_review + self.false_accepts.trials + self.false_rejects.trials

    @property
    def distrust(self) -> str | None:
        """The reason why the judge is not trusted, in one sentence. None if it is trusted."""
        wrong, right = self.false_accepts.interval, self.false_rejects.interval
        if wrong is None or right is None:
            return "it gave no verdict on wrong outputs, or none on right ones"
        if wrong.high > MAX_FALSE_ACCEPTS:
            return (
                f"it may accept up to {wrong.high:.0%} of wrong outputs, "
                f"and a trusted judge at most {MAX_FALSE_ACCEPTS:.0%}"
            )
        # A judge that accepts 10 % of everything passes the first rule, and its word means nothing.
        if 1.0 - right.high <= wrong.high:
            return "it does not accept right outputs clearly more often than wrong ones"
        return None

    @property
    def trusted(self) -> bool:
        """Whether the judge's word is enough for a success."""
        return self.distrust is None


def compute_trust(name: str, verdicts: Iterable[tuple[Kind, Verdict]]) -> JudgeTrust:
    """Counts a judge's verdicts.

    Args:
        name: The name of the judge.
        verdicts: The kind of each output and the judge's verdict on it.
    """
    counted = Counter(verdicts)
    counts = {kind: [counted[kind, verdict] for verdict in get_args(Verdict)] for kind in KINDS}
    return JudgeTrust(name, {kind: VerdictCounts(*numbers) for kind, numbers in counts.items()})


@dataclass(frozen=True, slots=True, config=_STRICT)
class ClaimCount:
    """The outputs to which a verifier gave one share of approvals, from 0 to 1."""

    share: Annotated[float, Field(ge=0, le=1)]
    right: _Count
    wrong: _Count


@dataclass(frozen=True, slots=True, config=_STRICT)
class VerifierFigures:
    """How often the claims of a verifier were right, on tasks with known answers.

    Attributes:
        name: The name of the verifier, its models included.
        tasks: The number of tasks; a task without an accepted output has no claim.
        max_wrong: The bound on the share of wrong claims that the user wants.
        counts: The accepted outputs by the share of approvals.
    """

    name: str
    tasks: _Count
    max_wrong: Annotated[float, Field(gt=0, lt=1)]
    counts: tuple[ClaimCount, ...]

    @property
    def threshold(self) -> float | None:
        """The lowest share at which the bound holds with a probability of 90 %; None if it holds at none.

        The shares are tested from the highest, each by the exact binomial test, up to the first at which the
        bound is not shown. Testing in a fixed order keeps the error rate of a single test. Source:
        Angelopoulos et al. (2021), Learn then test, arXiv:2110.01052, with fixed sequence testing.
        """
        shown = None
        for share, precision in self._list_precisions():
            wrong = proportion(precision.trials - precision.successes, precision.trials, 1 - 2 * ERROR_RATE)
            if wrong.interval is None or wrong.interval.high > self.max_wrong:
                break
            shown = share
        return shown

    @property
    def precision(self) -> Proportion:
        """The share of right outputs among the claims; exact 95 % interval.

        If there is no threshold, of the outputs with the highest share.
        """
        rates = dict(self._list_precisions())
        return rates.get(self.threshold or max(rates, default=0.0), proportion(0, 0))

    @property
    def coverage(self) -> Proportion:
        """The share of tasks with a claim; exact 95 % interval."""
        return proportion(0 if self.threshold is None else self.precision.trials, self.tasks)

    def _list_precisions(self) -> Iterator[tuple[float, Proportion]]:
        """Yields the share of right outputs among those with at least this share of approvals."""
        ordered = sorted((count for count in self.counts if count.share > 0), key=lambda count: -count.share)
        right = accumulate(count.right for count in ordered)
        total = accumulate(count.right + count.wrong for count in ordered)
        for count, successes, trials in zip(ordered, right, total, strict=True):
            yield count.share, proportion(successes, trials)


def count_needed_claims(max_wrong: float) -> int:
    """Returns the number of claims that shows a bound if all of them are right: 45 for 5 %."""
    return math.ceil(math.log(ERROR_RATE) / math.log1p(-max_wrong))


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
        OSError: The file cannot be written.
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
    file.write_text(f"{content.model_dump_json(indent=2)}\n", encoding="utf-8")
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


NormalForm: TypeAlias = tuple[str, ...]


def count_agreeing(task: str, output: str, answers: Sequence[str]) -> int:
    """Counts the answers that say the same as an output.

    Two JSON objects or lists are the same if their values are. Other texts are the same if their words and
    numbers are, apart from the words of the task: "The capital of Peru is Lima." and "Lima". So only short
    answers can agree. Source: Wang et al. (2023), Self-consistency improves chain of thought reasoning in
    language models, ICLR.
    """
    wanted = _normalize_answer(task, output)
    return sum(_normalize_answer(task, answer) == wanted for answer in answers) if wanted else 0


def _normalize_answer(task: str, text: str) -> NormalForm:
    values = [value for value in read_json_values(text) if isinstance(value, dict | list)]
    if len(values) == 1:
        return ("json", json.dumps(values[0], sort_keys=True))
    words, known = [*_split_answer(text)], {*_split_answer(task)}
    # An answer that the task offers has no other words.
    return tuple(word for word in words if word not in known) or tuple(words)


def _split_answer(text: str) -> Iterator[str]:
    """Yields the words of a text and its numbers, each in one notation."""
    plain, _ = spell_in_digits(text)
    end = 0
    for (start, stop), readings in read_amounts(plain):
        yield from split_words(plain[end:start])
        yield from (format(value.normalize(), "f") for value in readings[0][:1])
        end = stop
    yield from split_words(plain[end:])
