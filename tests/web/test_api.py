"""The API: every address answers as documented and explains wrong requests."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from plait.archive import Archive
from plait.indexing import update_index
from plait.sessions.resume import build_resumption
from plait.web.api.routes import BASE, TABLE, WRITES, Entry, document
from plait.web.events import Event
from tests.web.bare import Bare, bare, status


@pytest.fixture(scope="module")
def examples(gallery: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    """Serve the gallery."""
    index = tmp_path_factory.mktemp("gallery-index")
    update_index(Archive([gallery]), index)
    with bare(gallery, index) as element:
        yield element


def fetch_json(server: Bare, path: str) -> Any:
    """Return the value of an answer to a program."""
    key = f"Authorization: Bearer {server.keys.key}"
    answer = server.say(f"GET {BASE}{path} HTTP/1.1", server.host, key)
    assert status(answer) == 200, answer[-300:]
    return json.loads(answer.partition(b"\r\n\r\n")[2])


def all_names(server: Bare) -> list[str]:
    """Return the names of all sessions."""
    return [element["name"] for element in fetch_json(server, "/sessions?limit=500")["sessions"]]


def ids(entry: Entry) -> str:
    """Return what a test of an address is called."""
    return entry.name


@pytest.mark.parametrize(
    "entry", [element for element in TABLE if "{name}" in element.path], ids=ids
)
def test_every_session_address_answers_as_documented(examples: Bare, entry: Entry) -> None:
    for name in all_names(examples):
        path = f"{BASE}{entry.path.replace('{name}', name)}"
        answer = examples.get(path)
        assert status(answer) == 200, answer[-300:]
        msgspec.json.decode(answer.partition(b"\r\n\r\n")[2], type=entry.answer)


@pytest.mark.parametrize(
    "entry", [element for element in TABLE if "{name}" not in element.path], ids=ids
)
def test_archive_addresses_answer_as_documented(examples: Bare, entry: Entry) -> None:
    query = "?q=the&facets=true" if entry.path == "/search" else ""
    body = examples.get(f"{BASE}{entry.path}{query}").partition(b"\r\n\r\n")[2]
    msgspec.json.decode(body, type=entry.answer)


def test_hostile_logs_are_served(server: Bare) -> None:
    for name in all_names(server):
        for entry in TABLE:
            if "{name}" in entry.path:
                path = entry.path.replace("{name}", name)
                assert status(server.get(f"{BASE}{path}")) == 200


def test_sessions_can_be_filtered_and_paged(examples: Bare, gallery: Path) -> None:
    every = fetch_json(examples, "/sessions?limit=500")
    assert every["total"] == len(every["sessions"]) == len(Archive([gallery]).sessions)
    first, second = (
        fetch_json(examples, "/sessions?limit=2"),
        fetch_json(examples, "/sessions?limit=2&offset=2"),
    )
    assert first["sessions"] + second["sessions"] == every["sessions"][:4]
    project = every["sessions"][0]["project"]
    chosen = fetch_json(examples, f"/sessions?project={project}")
    assert {element["project"] for element in chosen["sessions"]} == {project}
    by_title = fetch_json(examples, "/sessions?sort=title")["sessions"]
    titles = [(element["title"] or "").lower() for element in by_title]
    assert titles == sorted(titles)
    assert fetch_json(examples, "/sessions?since=2999-01-01")["total"] == 0


def test_turns_are_paged_and_limited_by_depth(examples: Bare, gallery: Path) -> None:
    name = session_in(gallery / "rewind")
    full = fetch_json(examples, f"/sessions/{name}/conversation?limit=200")
    assert full["total"] == len(full["turns"])
    second = fetch_json(examples, f"/sessions/{name}/conversation?limit=1&offset=1")
    assert second["turns"] == full["turns"][1:2]
    prompts = fetch_json(examples, f"/sessions/{name}/conversation?depth=prompts")
    kinds = {item["item"] for turn in prompts["turns"] for item in turn["items"]}
    assert "called" not in kinds
    assert "told" in kinds


def session_in(folder: Path) -> str:
    """Return the session of an example."""
    return Archive([folder]).sessions[0].id


def test_context_is_what_the_client_sends(examples: Bare, gallery: Path) -> None:
    name = session_in(gallery / "compaction")
    session = next(element for element in Archive([gallery]).sessions if element.id == name)
    sent = build_resumption(session).context.request
    answer = fetch_json(examples, f"/sessions/{name}/context?limit=200")
    assert [(element["role"], element["content"]) for element in answer["messages"]] == [
        (role, blocks) for role, blocks in sent
    ]
    assert len(answer["context"]["messages"]) == len(sent)


def test_raw_lines_match_the_file(examples: Bare) -> None:
    for name in all_names(examples):
        answer = fetch_json(examples, f"/sessions/{name}/raw?limit=500")
        path = Path(answer["file"]["path"])
        lines = path.read_bytes().split(b"\n")
        for element in answer["lines"]:
            data = lines[element["number"] - 1]
            assert element["text"] == data.decode("utf-8", "replace")
            assert element["length"] == len(data)


def test_usage_matches_the_command(examples: Bare, gallery: Path) -> None:
    total = Archive([gallery]).usage("model").totals.total
    answer = fetch_json(examples, "/usage?by=model")
    assert answer["totals"]["total_tokens"] == total.tokens.total
    assert answer["totals"]["responses"] == total.responses
    assert sum(row["total_tokens"] for row in answer["rows"]) == total.tokens.total


def test_session_usage_adds_up(examples: Bare) -> None:
    for name in all_names(examples):
        taken = fetch_json(examples, f"/sessions/{name}/usage?limit=500")
        for part in ("by_who", "by_model"):
            assert (
                sum(element["responses"] for element in taken[part]) == taken["total"]["responses"]
            )
            costs = sum(element["cost"] for element in taken[part])
            assert costs == pytest.approx(taken["total"]["cost"])


def test_hit_names_its_session(examples: Bare) -> None:
    found = fetch_json(examples, "/search?q=the&limit=5")
    assert found["hits"]
    assert {element["name"] for element in found["hits"]} <= set(all_names(examples))


@pytest.mark.parametrize(
    ("path", "wanted", "words"),
    [
        ("/sessions?limit=0", 400, "'limit': expected `int` >= 1"),
        ("/sessions?limit=x", 400, "'limit': expected `int`, got `str`"),
        ("/sessions?limits=1", 400, "object contains unknown field `limits`"),
        ("/sessions?sort=luck", 400, "'sort': invalid enum value 'luck'"),
        ("/sessions?since=then", 400, "'since': expected `str` matching regex"),
        ("/search", 400, "the search is empty"),
        ("/search?outcome=fine", 400, "no outcome named 'fine'"),
        ("/search?q=%20", 400, "the search is empty"),
        ("/search?q=(&way=regex", 400, ""),
        ("/sessions/nobody", 404, "no session named 'nobody'"),
        ("/nothing", 404, "page not found"),
    ],
)
def test_invalid_parameters_are_reported(
    examples: Bare, path: str, wanted: int, words: str
) -> None:
    answer = examples.get(f"{BASE}{path}")
    assert status(answer) == wanted
    report = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert report["error"].startswith(words)
    assert isinstance(report["hints"], list)


def test_openapi_document_is_complete(examples: Bare) -> None:
    result = fetch_json(examples, "/openapi.json")
    assert result == json.loads(json.dumps(document()))
    assert result["openapi"] == "3.1.0"
    reading = {f"{BASE}{element.path}" for element in TABLE} | {f"{BASE}/events"}
    writing = {f"{BASE}{element.path}" for element in WRITES}
    ways = {path: list(element) for path, element in result["paths"].items()}
    assert ways == {
        element: ["post" if element in writing else "get"] for element in reading | writing
    }
    names = [
        element["operationId"] for route in result["paths"].values() for element in route.values()
    ]
    assert len(names) == len(set(names))
    refs = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(result)))
    assert refs <= set(result["components"]["schemas"])


def test_openapi_document_matches_the_routes() -> None:
    for entry in TABLE:
        result = document()["paths"][f"{BASE}{entry.path}"]["get"]["parameters"]
        queries = {element["name"] for element in result if element["in"] == "query"}
        assert queries == set(entry.question.__struct_fields__)


def test_events_arrive_as_they_happen(examples: Bare) -> None:
    with examples.connect() as client:
        key = f"Authorization: Bearer {examples.keys.key}"
        lines = [f"GET {BASE}/events?session=a HTTP/1.1", examples.host, key, "", ""]
        client.sendall("\r\n".join(lines).encode())
        output = b""
        while b"retry" not in output:
            output += client.recv(4096)
        examples.hub.publish([Event("session", "b", 1), Event("session", "a", 2), Event("index")])
        while b"event: index" not in output:
            output += client.recv(4096)
    assert b'"session":"a","size":2' in output
    assert b'"session":"b"' not in output
