"""One run that two processes go on with at the same moment."""

import json
import random
import time
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

from orchestrator import ConfigurationError, ResumeError
from orchestrator.persistence import open_store
from tests.faults.children import PROCESSES, Place, Places, ended, go_on, killed_at, start
from tests.faults.story import APPROVE, SHORT, THREAD, build
from tests.faults.tally import Harm, find_harm

TAKEN = "taken"
_WAIT_S = 60.0


def answered_twice(places: Places, seed: int) -> Harm:
    """Answer a question twice; who comes second, as the first one goes on or has, is refused."""
    place = places()
    with open_store(place.store) as store:
        state = build(SHORT, place.log, store.saver).run(SHORT.task, THREAD)
    answer = {**APPROVE, "question": state["question"]["id"]}
    said = _at_once(place, answer, random.Random(seed))
    refused = [one for one in said if one != TAKEN and "\n" not in one]
    return _find_harm(place, 0, len(refused) != 1)


def resumed_twice(places: Places, seed: int) -> Harm:
    """Resume a run twice that was killed; who comes second is told, or finds it waiting for a person."""
    place, chance = places(), random.Random(seed)
    child = start(place, SHORT.task)
    killed_at(child, place.log, chance.randrange(3, 10), 0)
    ended(child, place)
    before = len(place.log.lines())
    said = _at_once(place, None, chance)
    return _find_harm(place, before, TAKEN not in said)


def _at_once(place: Place, answer: Mapping[str, str] | None, chance: random.Random) -> Sequence[str]:
    """What each of two processes is told that give an answer, up to some milliseconds apart."""
    barrier, pipes = PROCESSES.Barrier(2), [PROCESSES.Pipe() for _ in range(2)]
    for _, theirs in pipes:
        args = (place, answer, barrier, chance.random() * 0.02, theirs)
        PROCESSES.Process(target=_resume, args=args, daemon=True).start()
    return [ours.recv() for ours, _ in pipes if ours.poll(_WAIT_S)]


def _resume(
    place: Place, answer: Mapping[str, str] | None, barrier: Barrier, late_s: float, told: Connection
) -> None:
    try:
        with open_store(place.store) as store:
            orchestrator = build(SHORT, place.log, store.saver)
            barrier.wait(_WAIT_S)
            time.sleep(late_s)
            orchestrator.resume(THREAD, answer)
        told.send(TAKEN)
    except (ConfigurationError, ResumeError) as refusal:
        told.send(str(refusal))
    except BaseException:
        told.send(traceback.format_exc())
        raise


def _find_harm(place: Place, before: int, wrong: bool) -> Harm:
    calls = Counter(place.log.lines()[before:])
    with open_store(place.store) as store:
        go_on(build(SHORT, place.log, store.saver), SHORT.task, place.log)
    twice = sum(times - 1 for line, times in calls.items() if json.loads(line)["what"] != "kept")
    return find_harm(SHORT.task, place, twice=twice, wrong=wrong)
