"""The redactor on texts, values and records: every copy, one placeholder."""

import json
import sys
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec
import pytest

from examples.drawing import draw
from plait.errors import ConfigError
from plait.record import Record, parse_record
from plait.redact import Place, Redactor, Rules, parse_rules, redact, restore_text
from tests.redact.letters import ALNUM, B64, HEX, drawn

RNG = Random(3)
KEY = "gh" + "p_" + drawn(RNG, ALNUM, 36)
PACKED = "AK" + "IA" + drawn(RNG, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)
"""A key by its form, and what the bytes of a picture may look like as well."""
PASSWORD = drawn(RNG, ALNUM, 18)
SESSION = "7f1c2d3e-0000-4000-8000-000000000001"


def line(**fields: Any) -> Record:
    return parse_record(json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode(), 7)


def test_package_functions() -> None:
    package: Any = sys.modules["plait.redact"]
    assert redact(f"use {KEY}") == package(f"use {KEY}") == "use ‹secret 1: github token›"


def test_same_value_has_the_same_placeholder() -> None:
    redactor = Redactor()
    other = "gh" + "o_" + drawn(RNG, ALNUM, 36)
    assert redactor.text(f"{KEY} {other} {KEY}") == (
        "‹secret 1: github token› ‹secret 2: github token› ‹secret 1: github token›"
    )
    assert redactor.text(other) == "‹secret 2: github token›"


def test_value_learned_once_is_replaced_everywhere() -> None:
    redactor = Redactor()
    redactor.learn([f"DB_PASSWORD={PASSWORD}"])
    assert redactor.text(f"it is {PASSWORD}!") == "it is ‹secret 1: secret in a setting›!"
    assert PASSWORD not in redactor.text(f"title: {PASSWORD} fails, see {PASSWORD}.log")


def test_text_without_hits_is_the_same_object() -> None:
    text = "nothing to see"
    assert Redactor().text(text) is text


def test_truncated_key_keeps_its_lines() -> None:
    text = f"the value that the service gave us is {KEY[:22]}\n  {KEY[22:]}\nend"
    assert Redactor().text(text) == (
        "the value that the service gave us is ‹secret 1.1: github token›\n  ‹secret 1.2›\nend"
    )


def test_private_key_in_a_patch_keeps_its_lines() -> None:
    body = [drawn(RNG, B64, 64), drawn(RNG, B64, 64)]
    lines = ["-----BEGIN PRIVATE" + " KEY-----", *body, "-----END PRIVATE" + " KEY-----"]
    patch = [{"oldStart": 1, "lines": [" a", *("+" + line for line in lines), " b"]}]
    redacted = Redactor().value({"structuredPatch": patch})
    assert redacted["structuredPatch"][0]["lines"] == [
        " a",
        "+‹secret 1.1: private key›",
        "+‹secret 1.2›",
        "+‹secret 1.3›",
        "+‹secret 1.4›",
        " b",
    ]


def test_key_over_two_blocks_is_found() -> None:
    blocks = [{"type": "text", "text": f"x {KEY[:25]}"}, {"type": "text", "text": f"{KEY[25:]} y"}]
    redacted = Redactor().value({"content": blocks})["content"]
    assert [block["text"] for block in redacted] == [
        "x ‹secret 1.1: github token›",
        "‹secret 1.2› y",
    ]


def copies(secret: str) -> str:
    """Draw a session that holds a secret in every place that repeats a text."""
    told = f"deploy with API_TOKEN={secret}"
    edit = {"oldString": "x", "newString": secret, "originalFile": f"t = {secret}\n"}
    patch = [{"oldStart": 1, "lines": [f"-{secret}", f"+{secret}!"]}]
    return f"""
file main cwd=/home/marlene/{secret}
enqueue "please {secret}"
dequeue
U1 {json.dumps(told)}
A1< think "I see {secret}" + Bash(command="echo {secret} | base64")
R1< {json.dumps(f"out {secret}")} {json.dumps({"toolUseResult": {"stdout": secret, "e": edit}})}
A2< Edit(file_path="/home/marlene/{secret}.py")
R2< {json.dumps({"toolUseResult": {"filePath": f"/x/{secret}", "structuredPatch": patch}})}
ai-title "About {secret}"
custom-title "{secret}"
summary "We used {secret}"
last-prompt {json.dumps(told)} leaf R2
line {json.dumps({"type": "api-request-blob", "message": {"content": [{"text": told}]}})}
line {json.dumps({"type": "unknown-kind", "env": [{"name": "API_TOKEN", "value": secret}]})}
line {json.dumps({"type": "file-history-snapshot", "snapshot": {f"/h/{secret}": {"v": 1}}})}
"""


def records_of(drawing: str) -> list[Record]:
    return [parse_record(line.data) for file in draw(drawing).files for line in file.lines]


@pytest.mark.parametrize("secret", [KEY, PASSWORD, "p@ss w0rd".replace(" ", "-"), "Summer2026!"])
def test_no_copy_survives(secret: str) -> None:
    records = records_of(copies(secret))
    redactor = Redactor()
    redactor.learn(records)
    redacted = list(redactor.records(records))
    assert len(records) > 14
    for before, after in zip(records, redacted, strict=True):
        assert secret.encode() not in after.raw, after
        assert b"marlene" not in after.raw
        assert shape(before.fields) == shape(after.fields)
        assert (before.uuid, before.parent_uuid) == (after.uuid, after.parent_uuid)
    again = Redactor()
    assert all(again.record(one) is one for one in redacted)


def shape(value: Any) -> Any:
    """Return a value without its texts."""
    if isinstance(value, dict):
        return [shape(one) for one in value.values()]
    return [shape(one) for one in value] if isinstance(value, list) else type(value)


def test_record_without_hits_keeps_its_bytes() -> None:
    odd = parse_record(b'{ "type" : "user", "n": 1.0, "message": {"content": "caf\\u00e9 \\/"} }')
    assert Redactor().record(odd) is odd


def test_ids_signatures_and_images_stay() -> None:
    fixed = {
        "uuid": SESSION,
        "sessionId": SESSION,
        "requestId": "req_" + drawn(RNG, ALNUM, 24),
        "message": {
            "id": "msg_" + drawn(RNG, ALNUM, 24),
            "model": "claude-opus-4-5-20251101",
            "content": [
                {"type": "thinking", "thinking": "", "signature": PACKED},
                {"type": "image", "source": {"media_type": "image/png", "data": PACKED}},
                {"type": "tool_use", "id": "toolu_" + drawn(RNG, ALNUM, 24), "input": {}},
            ],
        },
    }
    record = line(**fixed)
    assert Redactor().record(record) is record
    given = line(message={"content": [{"type": "tool_use", "input": {"id": KEY, "data": KEY}}]})
    assert KEY.encode() not in Redactor().record(given).raw


def test_secret_in_place_of_an_id_is_replaced() -> None:
    picture = {"type": "image", "source": {"media_type": "image/png", "data": KEY}}
    said = {"content": [picture, {"type": "thinking", "thinking": "", "signature": KEY}]}
    assert KEY.encode() not in Redactor().record(line(message=said)).raw
    odd = line(uuid=KEY, parentUuid=KEY, uuids=[SESSION, KEY], sessionId=SESSION, version=KEY)
    found = Redactor().record(odd)
    assert KEY.encode() not in found.raw
    assert found.uuid == found.parent_uuid == found.fields["uuids"][1] == found.version
    assert found.session_id == found.fields["uuids"][0] == SESSION


def test_shared_value_is_changed_at_both_places() -> None:
    shared = {"text": f"token {KEY}"}
    inner = [shared]
    value = {"one": shared, "two": {"deep": [inner, shared]}, "three": inner}
    found = Redactor().value(value)
    assert KEY not in repr(found)
    assert found["one"] == found["two"]["deep"][1] == found["three"][0]
    assert KEY in repr(value)


def test_cyclic_value_ends() -> None:
    value: dict[str, Any] = {"text": f"token {KEY}"}
    value["self"] = value
    assert KEY not in Redactor().value(value)["text"]


def test_json_in_a_text_stays_json() -> None:
    inner = json.dumps({"password": PASSWORD, "deep": json.dumps({"token": KEY, "n": [1, 2]})})
    redacted = json.loads(Redactor().text(inner))
    assert redacted["password"] == "‹secret 1: secret in a setting›"
    assert json.loads(redacted["deep"]) == {"token": "‹secret 2: github token›", "n": [1, 2]}


def test_key_gives_a_text_its_context() -> None:
    value = {"headers": {"Authorization": f"Bearer {PASSWORD}"}, "auth": {"password": PASSWORD[:9]}}
    redacted = Redactor().value(value)
    assert redacted["headers"]["Authorization"] == "Bearer ‹secret 1: authorization header›"
    assert redacted["auth"]["password"] == "‹secret 2: secret in a setting›"


@dataclass(frozen=True, slots=True)
class Turn:
    text: str
    parts: tuple[Any, ...]


class Block(msgspec.Struct, frozen=True):
    text: str
    count: int = 0


def test_values_of_any_shape_are_walked() -> None:
    quiet = Block("quiet", 2)
    turn = Turn(f"a {KEY}", (Block(f"b {KEY}", 1), quiet, ["c", {"d": None}]))
    redacted = Redactor().value(turn)
    assert redacted.text == "a ‹secret 1: github token›"
    assert redacted.parts[0] == Block("b ‹secret 1: github token›", 1)
    assert redacted.parts[1] is quiet
    assert redacted.parts[2] is turn.parts[2]
    assert Redactor().value(quiet) is quiet


def test_deeply_nested_value() -> None:
    value: Any = KEY
    for _ in range(100_000):
        value = [value]
    redacted = Redactor().value(value)
    for _ in range(100_000):
        redacted = redacted[0]
    assert redacted == "‹secret 1: github token›"


@pytest.mark.parametrize(
    "value",
    [None, 1, True, [], {}, {"type": []}, {"type": {}, "data": 1}, {"tool_use_id": {}}, {1: "x"}],
    ids=repr,
)
def test_odd_values_are_unchanged(value: Any) -> None:
    assert Redactor(Rules(files=("*.env",), fields=("x",))).value(value) is value


def test_lone_surrogates_and_broken_bytes_survive() -> None:
    assert Redactor().text(f"\ud800 {KEY} \udcff") == "\ud800 ‹secret 1: github token› \udcff"


def test_user_of_the_log_is_found_alone() -> None:
    redactor = Redactor()
    record = line(cwd="/home/marlene/shop", message={"content": "marlene owns it, marlenes do not"})
    content = redactor.record(record).fields["message"]["content"]
    assert content == "‹user 1› owns it, marlenes do not"
    slug = redactor.text("~/.claude/projects/-home-marlene-shop/x.jsonl")
    assert slug == "~/.claude/projects/-home-‹user 1›-shop/x.jsonl"


def test_everyday_name_is_found_only_in_paths() -> None:
    record = line(cwd="/home/dev/shop", message={"content": "the dev server in /home/dev/shop"})
    content = Redactor().record(record).fields["message"]["content"]
    assert content == "the dev server in /home/‹user 1›/shop"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/Users/ana/x", "/Users/‹user 1›/x"),
        ("C:\\Users\\Ana Lima\\x", "C:\\Users\\‹user 1›\\x"),
        ("/mnt/c/Users/ana/x", "/mnt/c/Users/‹user 1›/x"),
        ("file:///home/ana/x", "file:///home/‹user 1›/x"),
        ("ana@box-1:~/shop$ ls", "‹user 1›@‹host 1›:~/shop$ ls"),
        ("[ana@box-1 shop]$ ls", "[‹user 1›@‹host 1› shop]$ ls"),
        ("ssh -p 22 ana@10.0.0.5 uptime", "ssh -p 22 ‹user 1›@‹host 1› uptime"),
        ("Linux box-1 6.1.0-18-amd64 #1 SMP", "Linux ‹host 1› 6.1.0-18-amd64 #1 SMP"),
        ("http://ci-7.corp/job", "http://‹host 1›/job"),
        ("mail ana.lima@firm.io now", "mail ‹email 1› now"),
        ("avatars/ana@firm.org.png", "avatars/‹email 1›.png"),
        ('"accountUuid": "1234-abcd"', '"accountUuid": "‹account 1›"'),
        ("arn:aws:iam::210987654321:role/x", "arn:aws:iam::‹account 1›:role/x"),
    ],
)
def test_people_and_machines(text: str, expected: str) -> None:
    assert Redactor().text(text) == expected


def test_log_accounts_are_replaced() -> None:
    record = line(type="bridge-session", sessionId=SESSION, ownerAccountUuid="ab" * 18)
    redacted = Redactor().record(record)
    assert redacted.fields["ownerAccountUuid"] == "‹account 1›"
    assert redacted.session_id == SESSION


def test_groups_can_be_switched_off() -> None:
    text = f"/home/ana {KEY} ana@firm.io"
    assert Redactor(Rules(off=("paths", "emails"))).text(text) == (
        "/home/ana ‹secret 1: github token› ana@firm.io"
    )
    assert Redactor(Rules().only(["emails"])).text(text) == f"/home/ana {KEY} ‹email 1›"


def test_own_words_and_patterns() -> None:
    rules = Rules(words=("Bluebird",), expressions=(r"CUST-(\d+)", "prödukt"))
    text = Redactor(rules).text("Bluebird, Bluebirds, CUST-0042, prödukt")
    assert text == "‹word 1›, Bluebirds, CUST-‹word 2›, ‹word 3›"


def test_own_fields() -> None:
    value = {"customer": {"name": "Ana", "n": 1}, "note": "kept", "way": {"to": "x"}}
    redacted = Redactor(Rules(fields=("customer", "way.to"))).value(value)
    assert redacted == {
        "customer": {"name": "‹field 1›", "n": 1},
        "note": "kept",
        "way": {"to": "‹field 2›"},
    }


def test_own_files() -> None:
    drawing = """
file main cwd=/srv/plans
U1 "look"
A1< Read(file_path="/srv/plans/plan.secret") as one
R1< of one
  | the plan
A2< Bash(command="cat plan.secret") as two
R2< of two "the plan" {"toolUseResult": {"stdout": "the plan"}}
A3< Read(file_path="/srv/plans/open.txt") as three
R3< of three
  | the sky
"""
    redactor = Redactor(Rules(files=("*.secret",)))
    text = b"\n".join(one.raw for one in redactor.records(records_of(drawing))).decode()
    assert "the plan" not in text
    assert "the sky" in text
    assert "plan.secret" in text


def test_kept_values_are_kept() -> None:
    assert Redactor(Rules(keep=(KEY,))).text(f"use {KEY}") == f"use {KEY}"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"word": ["x"]}, "unknown key 'word'"),
        ({"words": "x"}, "must be a list"),
        ({"words": [""]}, "must be a list"),
        ({"off": ["everything"]}, "unknown group"),
        ({"expressions": ["("]}, "invalid regular expression"),
        ({"expressions": ["x*"]}, "matches the empty string"),
    ],
)
def test_wrong_rules_are_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_rules(table)


def test_report_has_kind_and_place_but_no_value() -> None:
    redactor = Redactor()
    record = line(uuid="u1", message={"content": [{"type": "text", "text": f"use {KEY}"}]})
    redactor.record(record, "a.jsonl")
    redactor.text(f"one\ntwo {KEY}", Place("b.txt"))
    (found,) = redactor.report.found.values()
    assert (found.stand_in, found.count, found.hint) == ("‹secret 1: github token›", 2, "ghp_")
    assert found.places == [
        Place("a.jsonl", 7, "u1", "message.content[0].text"),
        Place("b.txt", 2),
    ]
    assert redactor.report.kinds == {"github token": 2}
    assert KEY not in repr(redactor.report)


def test_key_restores_values() -> None:
    redactor = Redactor()
    text = f"‹not ours› DB_PASSWORD={PASSWORD} {KEY} /home/ana ‹"
    assert restore_text(redactor.text(text), redactor.key) == text


def test_hashes_in_odd_places_are_not_secrets() -> None:
    digest = drawn(RNG, HEX, 64)
    record = line(type="x", sha256=digest, files={f"{digest}.py": digest})
    assert Redactor().record(record) is record


@pytest.mark.parametrize("text", ["\u203aana@firm.io", "\bana@firm.io", "/home/\nancy", "x\nancy"])
def test_json_escapes_are_never_broken(text: str) -> None:
    record = parse_record(json.dumps({"cwd": "/home/nancy/x", "message": text}).encode())
    redacted = Redactor().record(record)
    assert redacted.fields["message"] == Redactor().text(text)
    assert redacted.fields["cwd"] == "/home/‹user 1›/x"


@pytest.mark.parametrize("text", ["Bearer+", "password=", "a://b:", "eyJ"])
def test_adversarial_text_is_unchanged(text: str) -> None:
    made = text * 40_000  # read again for every match that is none, it would take minutes
    assert Redactor().text(made) is made


def test_long_dotted_token_is_not_a_variable() -> None:
    token = ".".join(
        ["eyJhbGciOiJIUzI1NiJ9", "FwUbbYrEqmSM9wCZ7Uw9xfogoEmv" * 2, "Pf1Qh6yYTWmE4lBYOvfZ8"]
    )
    assert token not in Redactor().text(f"Authorization: Bearer {token}")
    assert "settings.auth.token" in Redactor().text("Authorization: Bearer settings.auth.token")
