"""Replies in PostgreSQL are stored once, also if the connection is lost while one is stored."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agents.testing import ScriptedChatModel
from orchestrator.cli.session.queue_session import install_queue
from orchestrator.errors import StoreLostError
from orchestrator.persistence import Store, open_store
from orchestrator.tuning.recorded_replies import RecordedReplies, StoredReplies
from tests.fakes.cut_connection import cut_after


@pytest.fixture
def cut_store(postgres_url) -> Iterator[Store]:
    """A store whose connection is lost whenever it has stored a reply."""
    install_queue(postgres_url)
    with (
        TemporaryDirectory() as folder,  # the path of a socket is short
        cut_after(b"INSERT INTO orchestrator_replies", postgres_url, Path(folder)) as url,
        open_store(url) as store,
    ):
        yield store


def ask(model: ScriptedChatModel, store: Store) -> str:
    """Ask as a run of a search does, which begins again after an error."""
    replies = RecordedReplies(StoredReplies(store.saver, "study"), "run")
    return model.model_copy(update={"cache": replies}).invoke("Say a number.").text


def test_a_run_that_begins_again_gets_the_reply_whose_connection_was_lost(cut_store):
    numbers = count()
    model = ScriptedChatModel(lambda _: str(next(numbers)))
    with pytest.raises(StoreLostError):
        ask(model, cut_store)

    assert (ask(model, cut_store), len(model.prompts)) == ("0", 1)


def test_a_write_that_is_tried_again_keeps_the_first_reply(cut_store):
    replies = StoredReplies(cut_store.saver, "study")
    for reply in ("first", "second"):
        with pytest.raises(StoreLostError):
            replies.add("key", reply)

    assert (replies.find("key"), replies.count()) == ("first", 1)
