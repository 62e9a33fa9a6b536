"""Which turn read, wrote or edited which file."""

from textwrap import dedent

from plait.conversation.changes import Touch, files_of, iter_touches
from plait.conversation.model import Conversation
from tests.conversation.sketched import Talk, talk


def talked(text: str) -> Talk:
    return talk(dedent(text))


WORK = """
file s cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "Fix the cart"
H1< {"attachment": {"type": "file", "filename": "/home/dev/shop/notes.md"}}
T1< Read(file_path="/home/dev/shop/cart.py")
R1<
  | def total(items):
  |     return 0
T2< Edit(file_path="/home/dev/shop/cart.py", old_string="0", new_string="sum(items)")
R2<
A2< "Done."
U3< "Now a test"
T3< Write(file_path="/home/dev/shop/test_cart.py", content="assert True")
R3<
T4< Edit(file_path="/home/dev/shop/cart.py", old_string="gone", new_string="x")
R4< error "String to replace not found"
T5< Bash(command="rm /home/dev/shop/old.py")
R5<
A5< "Done."
"""


def brief(touch: Touch) -> str:
    name = touch.path.rpartition("/")[2]
    lines = f" +{touch.patch.added}-{touch.patch.removed}" if touch.patch else ""
    return f"{touch.turn} {touch.action} {name} {touch.outcome}{lines}"


def told(conversation: Conversation) -> list[str]:
    return [brief(touch) for touch in iter_touches(conversation)]


def test_each_turn_lists_what_it_did_to_which_file() -> None:
    assert told(talk(WORK).main) == [
        "1 attached notes.md ok",
        "1 read cart.py ok",
        "1 edited cart.py ok +1-1",
        "2 created test_cart.py ok +1-0",
        "2 edited cart.py failed",
    ]


def test_file_counts_exclude_failed_calls() -> None:
    files = {one.path.rpartition("/")[2]: one for one in files_of(talk(WORK).main)}
    cart, test = files["cart.py"], files["test_cart.py"]
    assert (cart.turns, cart.reads, cart.changes) == ((1, 2), 1, 1)
    assert (cart.added, cart.removed, cart.is_new) == (1, 1, False)
    assert (test.turns, test.changes, test.added, test.is_new) == ((2,), 1, 1, True)
    assert cart.touches[1].call
    assert cart.touches[1].uuid


# checklist: F29
def test_a_backup_is_listed_when_its_copy_is_new() -> None:
    backup = '{"backupFileName": "a@v1", "version": 1, "backupTime": "2026-11-02T09:00:00.000Z"}'
    snapshot = f'{{"snapshot": {{"trackedFileBackups": {{"a.py": {backup}}}}}}}'
    found = talked(f"""
    U1 "go"
    A1< "ok"
    file-history-snapshot of U1 {snapshot}
    file-history-snapshot of U1 {snapshot}
    """)
    assert told(found.main) == ["1 backed up a.py ok"]


# checklist: F43
def test_snapshot_may_name_a_record_or_none() -> None:
    found = talked("""
    U1 "go"
    A1< "ok"
    file-history-snapshot of U1 files={"a.py": 1}
    file-history-snapshot of U1 files={"b.py": 1} {"messageId": "made-up-id"}
    U2< "more"
    A2< "ok"
    """)
    assert told(found.main) == ["1 backed up a.py ok", "1 backed up b.py ok"]
    assert found.graph.findings == ()


# checklist: P31
def test_snapshot_with_file_content_is_a_backup() -> None:
    old = '{"snapshot": {"timestamp": "2026-01-03T22:40:42.028Z", "trackedFileBackups": %s}}'
    found = talked(f"""
    U1 "go"
    A1< "ok"
    file-history-snapshot of U1 update {old % '{"a.py": "x = 1"}'}
    file-history-snapshot of U1 update {old % '{"a.py": "x = 1"}'}
    file-history-snapshot of U1 update {old % '{"a.py": "x = 2", "b.py": ""}'}
    """)
    assert told(found.main) == ["1 backed up a.py ok", "1 backed up a.py ok", "1 backed up b.py ok"]
    assert {touch.time for touch in iter_touches(found.main)} == {"2026-01-03T22:40:42.028Z"}


def test_odd_values_are_no_file_actions() -> None:
    found = talked("""
    U1 "go"
    H1< {"attachment": {"type": "file", "filename": 7}}
    T1< Read(file_path=7)
    R1<
    file-history-snapshot of U1 {"snapshot": {"trackedFileBackups": {"a.py": null}}}
    A1< "ok"
    """)
    assert told(found.main) == []
