"""Derives the checks that a task states, without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from evaluation.checks import Check, read_checks
from evaluation.errors import ContractError
from evaluation.task_checks.assembly import assemble
from evaluation.task_checks.conflicts import drop_conflicts
from evaluation.task_checks.reading import Reading, read_task
from evaluation.task_checks.refusals import drop_refused
from evaluation.task_checks.rules import others, style
from evaluation.task_checks.rules.amounts import bans, counts, frequencies, items, part_counts
from evaluation.task_checks.rules.finding import Finding, drop_doubles
from evaluation.task_checks.rules.layout import (
    edges,
    formats,
    forms,
    frame,
    markdown,
    places,
    repetition,
    sections,
    separations,
    tables,
)
from evaluation.task_checks.rules.leftovers import find_leftovers
from evaluation.task_checks.rules.wording import (
    choices,
    keywords,
    letters,
    names,
    section_names,
    word_lengths,
)
from evaluation.task_checks.scopes import apply_scopes
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.texts.given_texts import split_sentences

Rule: TypeAlias = Callable[[Sentence, Reading], Iterable[Finding]]
_RULES: Final[tuple[Rule, ...]] = (
    counts.find_counts,
    bans.find_forbidden,
    frequencies.find_frequencies,
    frequencies.find_numbers,
    keywords.find_keywords,
    names.find_names,
    section_names.find_section_names,
    word_lengths.find_word_lengths,
    letters.find_letters,
    letters.find_plural_letters,
    choices.find_choice,
    edges.find_edges,
    edges.find_next_line,
    places.find_places,
    frame.find_quotation,
    frame.find_postscript,
    repetition.find_repetition,
    style.find_languages,
    style.find_letter_case,
    style.find_sentence_ends,
    separations.find_separated,
    separations.find_shown_parts,
    sections.find_sections,
    sections.find_highlights,
    sections.find_title,
    forms.find_forms,
    forms.find_lists,
    formats.find_formats,
    tables.find_tables,
    formats.find_code,
    markdown.find_markdown,
    markdown.find_plain_text,
    others.find_others,
    items.find_items,
)


@dataclass(frozen=True, slots=True)
class DerivedChecks:
    """The requirements that a task states verifiably."""

    checks: tuple[Check, ...] = ()
    """Each has as ``quote`` the words that it rests on, literally as in the task."""
    unchecked: tuple[str, ...] = ()
    """Words of the task, literally, that state a requirement for which there is no check."""
    warnings: tuple[str, ...] = ()
    """One sentence for each set of checks that was dropped, because no output can fulfil it."""


def derive_checks(task: str) -> DerivedChecks:
    """Derive the checks that a task states, in the order of their words; never raises for a text."""
    reading = read_task(task)
    sentences = split_sentences(reading)
    # Rule by rule: the patterns of one rule stay in the processor's cache.
    findings = [finding for rule in _RULES for sentence in sentences for finding in rule(sentence, reading)]
    findings = part_counts.open_part_counts(drop_doubles(findings), sentences, reading.text)
    findings = items.settle_items(findings, sentences)
    leftovers = find_leftovers(sentences, findings, reading)
    scoped = list(apply_scopes(drop_refused(findings, sentences), sentences))
    assembled = sorted(
        [*assemble(scoped, reading), *apply_scopes(leftovers, sentences)], key=lambda finding: finding.start
    )
    built = [(finding, list(_build(finding, reading))) for finding in assembled]
    checks, warnings = drop_conflicts([check for _, group in built for check in group])
    # What was dropped is a requirement still: nobody may claim that it holds.
    unchecked = [
        reading.quote(finding.start, finding.end)
        for finding, group in built
        if not any(check in checks for check in group)
    ]
    if reading.is_shortened:
        warnings.append(
            f"The task has {len(task)} characters; only its start and its end were read for requirements."
        )
    return DerivedChecks(tuple(checks), tuple(dict.fromkeys(filter(None, unchecked))), tuple(warnings))


def _build(finding: Finding, reading: Reading) -> Iterator[Check]:
    quote = reading.quote(finding.start, finding.end)
    if finding.check is None or not quote or quote not in reading.task:
        return
    try:
        yield from read_checks([{**finding.check, "quote": quote}])
    except ContractError:
        return
