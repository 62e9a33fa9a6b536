"""A lake served to two people: each sees what the policy allows, nothing else leaks.

Every session has words of its own in all that it says. Whoever may not see them must not meet
them on any page, by any link, in any answer for programs, in any error.
"""

import logging
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from plait.errors import SourceError
from plait.lake.access import Policy, hash_key, parse_policy
from plait.lake.saved_queries import SavedQuery, load_saved_queries
from plait.lake.store import Lake
from plait.web.guard import Keys
from tests.lake.small import DAY, SmallLake
from tests.web.lake_server import Visitor, lake_served

ANN, BOB = "ann-has-a-key", "bob-has-a-key"
TEXT = f"""
fewest = 2
[people.ann]
key = "{hash_key(ANN)}"
teams = ["core"]
[people.bob]
key = "{hash_key(BOB)}"
[[see]]
who = ["team:core"]
of = ["project:shop"]
what = "sessions"
"""
POLICY = parse_policy(TEXT, "policy.toml")
SESSIONS = (
    ("a", "ann", "house", "apricot", "axle"),
    ("b", "bob", "shop", "banana", "bolt"),
    ("c", "bob", "site", "cherry", "crank"),
    ("d", "cat", "site", "damson", "dowel"),
)
"""Sessions: id, person, project, a word that is said in it, a name that it has."""
NAMES = {one[0]: f"{one[0]}{one[0]}session" for one in SESSIONS}
HIDDEN = {
    "ann": (
        "banana",
        "cherry",
        "damson",
        "crank",
        "dowel",
        "site",
        "cat",
        "ccsession",
        "ddsession",
    ),
    "bob": ("apricot", "damson", "axle", "dowel", "house", "aasession", "ddsession", ">cat<"),
}
SHOWN = {
    "ann": ("apricot", "axle", "bolt", "shop", "aasession", "bbsession"),
    "bob": ("banana", "cherry", "bolt", "crank", "bbsession", "ccsession"),
}


def rows() -> SmallLake:
    """Return the sessions, each with its words and names in every column that can have them."""
    whose: list[dict[str, Any]] = [
        {
            "session": NAMES[item],
            "build": at,
            "source": f"machine/of-{person}",
            "person": person,
            "project": project,
            "directory": f"/home/{person}/{project}",
            "git_branch": name,
            "title": f"The {word}",
            "month": "2026-09",
            "started": DAY,
            "time": DAY,
            "text": f"a **{word}** <b>",
            "sentence": word,
            "about": word,
            "data": word.encode(),
            "tool": name,
            "model": "opus",
            "path": f"/home/{person}/{name}",
            "outcome": "failed",
            "before_rewind": True,
            "action": "edited",
            "cost_usd": 2.5,
            "output": 10,
            "again": 5,
            "cause": "pause",
            "again_usd": 1.0,
            "family": NAMES["a"],
            "typed": True,
            "kind": "prompt",
            "state": "active",
            "turn": 1,
            "uuid": f"uuid-{item}",
        }
        for at, (item, person, project, word, name) in enumerate(SESSIONS, 1)
    ]
    tables = dict.fromkeys(SmallLake().tables, whose)
    return SmallLake(**tables)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Make the lake on the disk."""
    made = Lake.create(str(tmp_path_factory.mktemp("lake")), "full")
    made.commit([made.write(rows().tables)])
    return made


@pytest.fixture(scope="module")
def port(lake: Lake) -> Iterator[int]:
    """Serve it to both."""
    with lake_served(lake, lambda: POLICY) as found:
        yield found


@pytest.fixture(scope="module")
def people(port: int) -> dict[str, Visitor]:
    """Let both in, each by the door."""
    found = {"ann": Visitor(port), "bob": Visitor(port)}
    assert found["ann"].enter(ANN) == found["bob"].enter(BOB) == 200
    return found


API = (
    "me",
    "sessions",
    "usage",
    *(f"usage?by={by}" for by in ("person", "team", "model", "month")),
    "questions",
    *(f"questions/{name}" for name in load_saved_queries()),
    "questions/cost?by=session",
    "questions/cost?by=person&person=cat",
    *(f"sessions?person={one}" for one in ("ann", "bob")),
)


@pytest.mark.parametrize("name", HIDDEN)
def test_no_linked_page_shows_hidden_rows(name: str, people: dict[str, Visitor]) -> None:
    pages = people[name].walk()
    assert len(pages) > 15 and any(path.startswith("/s/") for path in pages)
    everything = "\n".join(pages.values())
    assert [word for word in HIDDEN[name] if word in everything] == []
    assert [word for word in SHOWN[name] if word not in everything] == []


@pytest.mark.parametrize("name", HIDDEN)
def test_api_reveals_nothing_hidden(name: str, port: int) -> None:
    who = Visitor(port, key=ANN if name == "ann" else BOB)
    found = "\n".join(who.page(f"/api/{path}") for path in API)
    assert [word for word in HIDDEN[name] if word in found] == []
    assert who.json("me") == {"person": name, "has_text": True}


def test_figures_cover_visible_rows(port: int) -> None:
    ann, bob = Visitor(port, key=ANN), Visitor(port, key=BOB)
    assert ann.json("sessions")["total"] == bob.json("sessions")["total"] == 2
    assert ann.json("usage")["total"]["cost_usd"] == 5.0
    cost = {
        item["heading"]: item["cost_usd"] for item in ann.json("questions/cost?by=person")["rows"]
    }
    assert cost == {"ann": 2.5, "bob": 2.5}
    assert ann.json("questions/cost?by=person&person=cat")["rows"] == []


def test_hidden_totals_are_given_only_for_several_people(port: int) -> None:
    """To Ann c of Bob and d of Cat; to Bob a of Ann and d of Cat; never one of them alone."""
    for key in (ANN, BOB):
        (rest,) = Visitor(port, key=key).json("usage")["rest"]
        assert rest == {
            "month": "2026-09",
            "people": 2,
            "sessions": 2,
            "responses": 2,
            "tokens": 20,
            "cost_usd": 5.0,
        }


def test_hidden_totals_omit_months_with_too_few_people(lake: Lake) -> None:
    few = parse_policy(TEXT.replace("fewest = 2", "fewest = 3"), "p")
    with lake_served(lake, lambda: few) as port:
        assert Visitor(port, key=ANN).json("usage")["rest"] == []
        visitor = Visitor(port)
        visitor.enter(ANN)
        assert "Other sessions" not in visitor.page("/usage") + visitor.page("/")


def place(item: str) -> str:
    person = next(person for session, person, *_ in SESSIONS if session == item)
    return f"machine/of-{person}/{NAMES[item]}"


@pytest.mark.parametrize("one", ["c", "d"])
def test_hidden_session_is_404(one: str, port: int, people: dict[str, Visitor]) -> None:
    nowhere = "machine/of-bob/eesession"
    ann = people["ann"]
    assert ann.ask(f"/s/{place(one)}")[:2] == ann.ask(f"/s/{nowhere}")[:2]
    by_key = Visitor(port, key=ANN)
    for end in ("", "/text"):
        hidden = by_key.ask(f"/api/sessions/{place(one)}{end}")
        assert hidden[:2] == by_key.ask(f"/api/sessions/{nowhere}{end}")[:2]
        assert hidden[0] == 404


def test_session_without_text_says_so(people: dict[str, Visitor], port: int) -> None:
    page = people["ann"].page(f"/s/{place('b')}")
    assert "Its text is not visible to you." in page and "bolt" in page and "banana" not in page
    assert Visitor(port, key=ANN).json(f"sessions/{place('b')}/text") == {"passages": []}
    own = people["bob"].page(f"/s/{place('b')}")
    assert "<strong>banana</strong>" in own and "&lt;b&gt;" in own


@pytest.mark.parametrize(
    ("word", "is_found"), [("apricot", True), ("banana", False), ("damson", False)]
)
def test_search_reveals_nothing_of_hidden_words(
    word: str, is_found: bool, port: int, people: dict[str, Visitor]
) -> None:
    found = Visitor(port, key=ANN).json(f"search?q={word}")
    assert found["total"] == len(found["passages"]) == int(is_found)
    page = people["ann"].page(f"/search?q={word}")
    assert ("No passage visible to you contains" not in page) == is_found


def test_search_for_a_hidden_word_equals_one_for_an_unknown_word(
    people: dict[str, Visitor],
) -> None:
    hidden, nobodys = (people["ann"].page(f"/search?q={word}") for word in ("damson", "nobody"))
    assert hidden.replace("damson", "nobody") == nobodys


WRONG_KEYS = ("", "wrong", hash_key(ANN), ANN[:-1], "ann", Keys("the secret").key)


@pytest.mark.parametrize("key", WRONG_KEYS)
def test_only_policy_keys_are_accepted(key: str, port: int) -> None:
    """The key that the server itself would have opens nothing, either."""
    visitor = Visitor(port)
    assert visitor.enter(key) == 401 and visitor.cookie == ""
    assert Visitor(port, key=key or "x").ask("/api/sessions")[0] == 401
    assert visitor.ask("/")[0] == visitor.ask("/api/me")[0] == 401


def test_server_ticket_is_refused(port: int) -> None:
    assert Visitor(port).enter(Keys("the secret").create_ticket()) == 401


def test_cookie_is_bound_to_its_person(port: int) -> None:
    visitor = Visitor(port)
    visitor.enter(ANN)
    name, _, value = visitor.cookie.partition("=")
    signature = value.rpartition(".")[2]
    bobs = urlsafe_b64encode(b"bob").decode()
    for forged in (f"{bobs}.{signature}", value[:-1], "", Keys("the secret").cookie, "."):
        assert Visitor(port, cookie=f"{name}={forged}").ask("/")[0] == 401
    assert Visitor(port, cookie=f"{name}={value}").ask("/")[0] == 200


def test_revoked_key_lets_nobody_in(lake: Lake) -> None:
    """Neither by the key nor by a cookie that was given for it; others stay."""
    now = [POLICY]
    with lake_served(lake, lambda: now[0]) as port:
        ann, bob = Visitor(port), Visitor(port)
        ann.enter(ANN)
        bob.enter(BOB)
        now[0] = parse_policy(TEXT.replace(hash_key(ANN), hash_key("another")), "p")
        assert ann.ask("/")[0] == Visitor(port, key=ANN).ask("/api/me")[0] == 401
        assert bob.ask("/")[0] == 200
        now[0] = parse_policy(TEXT.replace(f'key = "{hash_key(BOB)}"', ""), "p")
        assert bob.ask("/")[0] == 401
        now[0] = Policy()
        assert ann.ask("/")[0] == bob.ask("/")[0] == 401


def test_policy_changes_apply_at_once(lake: Lake) -> None:
    now = [POLICY]
    with lake_served(lake, lambda: now[0]) as port:
        ann = Visitor(port, key=ANN)
        assert ann.json("sessions")["total"] == 2
        now[0] = parse_policy(TEXT.replace("project:shop", "project:none"), "p")
        assert ann.json("sessions")["total"] == 1
        assert ann.ask(f"/api/sessions/{place('b')}")[0] == 404


SPYING = SavedQuery(
    asks="what an error says", sql="SELECT count(*) FROM sessions WHERE CAST(title AS INT) > 1"
)
BROKEN = SavedQuery(asks="nothing", sql="SELECT nothing FROM sessions")


def test_errors_reveal_nothing_of_the_lake(
    lake: Lake, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine quotes the value that it could not read, a store the place that it lies in."""
    known = {"spying": SPYING, "broken": BROKEN}
    with (
        caplog.at_level(logging.CRITICAL),
        lake_served(lake, lambda: POLICY, lambda: known) as port,
    ):
        ann = Visitor(port, key=ANN)
        for name in known:
            status, text, _ = ann.ask(f"/api/questions/{name}")
            assert (status, text) == (
                400,
                '{"error":"this query failed","hints":[]}',
            )

        def refuse(_: str) -> None:
            raise SourceError(f"cannot read '{lake.url}'")

        monkeypatch.setattr(lake, "dataset", refuse)
        bob = Visitor(port, key=BOB)
        assert bob.ask("/api/sessions")[:2] == (
            503,
            '{"error":"cannot read the lake at the moment","hints":[]}',
        )


ODD = (
    "/questions/nothing",
    "/api/questions/nothing",
    "/questions/cost?by=planet",
    "/api/questions/cost?limit=many",
    "/api/questions/cost?since=soon",
    "/api/questions/cost?sql=1",
    "/api/usage?by=session",
    "/?start=-1",
    "/?start=1e9",
    "/s/x/../../etc/passwd",
    "/s/%00/%0d%0a",
    "/nothing",
    "/api/nothing",
    "/sql?q=SELECT+1",
    "/api/sql",
)


@pytest.mark.parametrize("path", ODD)
def test_invalid_request_is_reported(path: str, port: int, people: dict[str, Visitor]) -> None:
    who = Visitor(port, key=ANN) if path.startswith("/api/") else people["ann"]
    status, text, headers = who.ask(path)
    assert (status in (400, 404) and "error" in text.lower()) or "Plait" in text
    assert "content-security-policy" in headers
    assert [word for word in HIDDEN["ann"] if word in text] == []


QUOTED = ("' OR true --", "%", "\x00")


@pytest.mark.parametrize("text", QUOTED)
def test_parameters_are_values_never_sql(text: str, port: int) -> None:
    from urllib.parse import quote

    ann = Visitor(port, key=ANN)
    assert ann.json(f"sessions?person={quote(text)}")["total"] == 0
    assert ann.json(f"search?q=apricot&project={quote(text)}")["total"] == 0
    assert ann.json(f"search?q={quote(text)}")["total"] == 0
    assert ann.json(f"questions/cost?project={quote(text)}")["rows"] == []


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_lake_is_read_only(method: str, port: int) -> None:
    for path in ("/api/sessions", f"/api/sessions/{place('a')}", "/api/questions/cost"):
        assert Visitor(port, key=ANN).ask(path, method)[0] == 405


def test_other_origins_and_hosts_are_refused(people: dict[str, Visitor]) -> None:
    ann = people["ann"]
    assert ann.ask("/", Origin="http://evil.example")[0] == 403
    assert ann.ask("/", Host="evil.example")[0] == 421


def test_counts_lake_is_shown_without_text(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    made = Lake.create(str(tmp_path_factory.mktemp("counts")), "counts")
    tables = {name: rows().tables[name] for name in made.tables}
    made.commit([made.write(tables)])
    with lake_served(made, lambda: POLICY) as port:
        ann = Visitor(port)
        ann.enter(ANN)
        assert "This lake stores counts only" in ann.page("/search?q=apricot")
        assert "This lake stores counts only." in ann.page(f"/s/{place('a')}")


def test_owner_without_a_policy_sees_everything(lake: Lake) -> None:
    with lake_served(lake, None) as port:
        owner = Visitor(port)
        assert owner.enter(Keys("the secret").key) == 200
        sessions = (f"/s/{place(item)}" for item, *_ in SESSIONS)
        pages = "\n".join(owner.page(path) for path in ("/", "/usage", *sessions))
        assert all(word in pages for *_, output, name in SESSIONS for word in (output, name))
        assert "Other sessions" not in pages
