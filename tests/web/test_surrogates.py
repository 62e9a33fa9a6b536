"""Lone surrogates in every text of a log: no page and no answer of the API fails."""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plait.web.api.routes import TABLE
from tests.web.bare import Bare, bare, status

KEPT = frozenset(
    "type role timestamp uuid parentUuid sessionId subtype id tool_use_id stop_reason leafUuid "
    "messageId media_type data signature agentId logicalParentUuid requestId operation kind".split()
)
"""Fields without which there is no session."""
PAGES = (
    "/ /sessions /usage /usage?range=all /usage?range=all&of=tokens /usage.csv /usage.csv?rows=session"
    " /insights?range=all /waste?range=all /files /edits /search?q=the /side /palette?q=a".split()
)
PER_SHAPE = 2
"""Links followed of each shape, such as `/s/ID/files/changes?file=N`."""


def _add_surrogates(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _add_surrogates(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_add_surrogates(item, name) for item in value]
    return f"{value}\ud800" if isinstance(value, str) and name not in KEPT else value


@pytest.fixture(scope="module")
def odd_server(gallery: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    """Serve the gallery with a lone surrogate in titles, paths, tools, models and texts."""
    root = tmp_path_factory.mktemp("surrogates")
    for log in gallery.rglob("*.jsonl"):
        copy = root / log.relative_to(gallery)
        copy.parent.mkdir(parents=True, exist_ok=True)
        lines = []
        for line in log.read_bytes().splitlines():
            try:
                lines.append(json.dumps(_add_surrogates(json.loads(line))))
            except ValueError:
                continue
        copy.write_text("\n".join(lines) + "\n")
    with bare(root, tmp_path_factory.mktemp("index")) as server:
        yield server


def test_pages_and_links_of_names_with_lone_surrogates(odd_server: Bare) -> None:
    """Before, `/usage` answered 500: `urlencode` cannot encode a lone surrogate."""
    waiting, shapes, statuses = list(PAGES), Counter[str](), {}
    while waiting:
        address = waiting.pop()
        answer = odd_server.get(address)
        statuses[address] = status(answer)
        if b"text/html" not in answer.partition(b"\r\n\r\n")[0]:
            continue
        for quoted in re.findall(r'(?:href|src)="(/[^"#]*)', answer.decode("utf-8", "replace")):
            link = html.unescape(quoted)
            shape = re.sub(r"=[^&]*", "=", re.sub(r"[0-9a-f-]{36}[^/?]*|\d+", "N", link))
            shapes[shape] += link not in statuses
            if link not in statuses and link not in waiting and shapes[shape] <= PER_SHAPE:
                waiting.append(link)
    assert len(statuses) > 100
    assert {address: code for address, code in statuses.items() if code not in (200, 404)} == {}


def test_api_answers_for_names_with_lone_surrogates(odd_server: Bare) -> None:
    listed = odd_server.get("/api/v1/sessions").partition(b"\r\n\r\n")[2]
    names = [session["name"] for session in json.loads(listed)["sessions"]]
    failed = []
    for entry in TABLE:
        query = "?q=the" if entry.path == "/search" else ""
        for name in names[:5] if entry.is_about_session else [""]:
            address = f"/api/v1{entry.path}{query}".replace("{name}", name)
            if status(odd_server.get(address)) != 200:
                failed.append(address)
    assert failed == []
