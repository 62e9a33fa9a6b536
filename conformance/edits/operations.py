"""One edit of each kind, with checks of what it leaves.

An operation is a function and a row in the table at the end: that is all a new one needs. What is
true of all of them is asked elsewhere: the plan violates no rule, client and SDK read what is left
as Plait does, and undo brings back every file.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from conformance.client import objects
from conformance.edits.ids import old_ids, with_old_ids
from conformance.edits.model import Case, Edited, Faults, Operation, Trial
from conformance.model import Json, Message, Resumed
from conformance.sandbox import make_old
from conformance.shapes import answer, last_prompt, text, time_of, user
from conformance.whole import unsigned

TITLE = " A name \u201efor it\u201c "
TAG = "judged"
ONTO = "c0ffee00-0000-4000-8000-0000000000ff"
STOCK_WORDS = ("stock one", "stock two", "stock three", "stock four")
STOCK = [
    {**line, "sessionId": ONTO, "timestamp": time_of(second)}
    for second, line in enumerate(
        [
            user("stock one", None),
            answer("stock two", "stock one", [text("stock two")], None),
            user("stock three", "stock two"),
            answer("stock four", "stock three", [text("stock four")], None),
        ]
    )
]
"""A session to graft onto."""


def clone(case: Case) -> Trial:
    """All of a session once more: the client says of both the same, but for ids."""
    return Trial(case.archive.plan.clone(case.file.stem), cloned)


def cloned(edited: Edited) -> Faults:
    """Yield in what a clone is not what it was cloned from."""
    yield from says_the_same(edited)
    before, after = edited.case.listed, edited.listed
    if (before and replace(before, session="")) != (after and replace(after, session="")):
        yield f"the SDK lists {after}, and listed {before}"


def says_the_same(edited: Edited) -> Faults:
    """Yield in what the client reads a session otherwise than before the edit, ids apart."""
    olds = old_ids(edited.file, edited.case.file.stem)
    yield from differences(edited.case.before.client, edited.after.client, olds)


def differences(before: Resumed, after: Resumed, olds: dict[str, str]) -> Faults:
    """Yield in what two readings of the client differ, ids apart."""
    if before.resumes != after.resumes:
        yield f"it {'resumes' if after.resumes else 'does not resume'} now"
    if with_old_ids(after.chain, olds) != list(before.chain):
        yield "the client takes another chain than before"
    for what in ("messages", "request"):
        said = with_old_ids(getattr(after, what), olds)
        if said != with_old_ids(getattr(before, what), {}):
            yield f"the client sends another {what} than before"


def messages_of(file: Path) -> Iterator[Json]:
    """Yield the prompts, results and answers of a session, not those of agents."""
    for entry in objects(file):
        is_said = entry.get("type") in ("user", "assistant") and isinstance(entry.get("uuid"), str)
        if is_said and not entry.get("isSidechain"):
            yield entry


def fork(case: Case) -> Trial | None:
    """What goes on from some message: the client says what it says standing there."""
    at = some_message(case)
    if at is None:
        return None
    return Trial(case.archive.plan.fork(case.file.stem, at), partial(stands_at, at))


def some_message(case: Case) -> str | None:
    """Return some prompt or answer of a session that says something, on whatever branch."""
    found = [entry["uuid"] for entry in messages_of(case.file) if content_of(entry)]
    return case.chance.choice(found) if found else None


def stands_at(at: str, edited: Edited) -> Faults:
    """Yield in what a fork is not what the client says standing at its last message."""
    olds = old_ids(edited.file, edited.case.file.stem)
    if at not in olds.values():
        yield "the message to go on from is not in it"
    leaf = with_old_ids(edited.after.client.leaf, olds)
    standings = [standing_at(edited.case, one) for one in ends_of(edited.case.file, leaf, at)]
    asked = [one for one in standings if one.leaf == leaf]
    found = [list(differences(one, edited.after.client, olds)) for one in asked]
    yield from min(found, key=len, default=[])


def ends_of(file: Path, leaf: str | None, at: str) -> list[str]:
    """Return where one may stand to end with a message: the leaf, it, or its response's end."""
    said = {entry["uuid"]: entry for entry in messages_of(file)}
    parts = [uuid for uuid, entry in said.items() if is_part(entry, said[at])]
    return [one for one in dict.fromkeys((leaf, at, *parts[-1:])) if one]


def standing_at(case: Case, leaf: str) -> Resumed:
    """Return what the client makes of a session when told to stand at a message of it.

    Of a compaction that was still to come it knows nothing: the lines from there on are left out.
    """
    known, was = case.file.read_bytes(), case.file.stat()
    line = {**last_prompt("", explicit=True), "leafUuid": leaf, "sessionId": case.file.stem}
    told = [*before_next_boundary(known.splitlines(), leaf), json.dumps(line).encode()]
    case.file.write_bytes(b"".join(one + b"\n" for one in told))
    try:
        return case.judge.client.resume(case.desk, case.file)
    finally:
        case.file.write_bytes(known)
        os.utime(case.file, ns=(was.st_atime_ns, was.st_mtime_ns))


def before_next_boundary(lines: list[bytes], leaf: str) -> list[bytes]:
    """Return the lines of a session up to the first compaction behind a message."""
    named = f'"uuid":"{leaf}"'.encode()
    last = max((number for number, line in enumerate(lines) if named in line), default=0)
    ends = (
        number
        for number, line in enumerate(lines)
        if number > last and b'"compact_boundary"' in line
    )
    return lines[: next(ends, len(lines))]


def graft(case: Case) -> Trial | None:
    """A branch on top of another session: what that said comes first, then the branch."""
    at = some_message(case)
    if at is None:
        return None
    other = case.file.with_name(f"{ONTO}.jsonl")
    other.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in STOCK))
    make_old(other)
    return Trial(case.archive.plan.graft(case.file.stem, ONTO, at), partial(grafted, at))


def grafted(at: str, edited: Edited) -> Faults:
    """Yield in what a branch does not follow; where nothing resumes from there, it need not."""
    if edited.after.client.resumes:
        yield from follows(edited)
    elif standing_at(edited.case, at).resumes:
        yield "it does not resume, though the branch does"


def follows(edited: Edited) -> Faults:
    """Yield in what a branch does not follow what the other session said."""
    said = json.dumps(edited.after.client.messages)
    places = [said.find(json.dumps(words)) for words in STOCK_WORDS]
    if -1 in places or places != sorted(places):
        yield "the session that was grafted onto is not said first"


def switch(case: Case) -> Trial | None:
    """Another branch goes on: its end is the leaf of the client."""
    tips = other_tips(case)
    if not tips:
        return None
    tip = case.chance.choice(tips)
    plan = case.archive.plan.switch(case.file.stem, tip)
    return Trial(plan, partial(goes_on_at, tip)) if plan.steps else None


def other_tips(case: Case) -> list[str]:
    """Return the ends of the branches that the client does not go on with."""
    parents = {entry.get("parentUuid") for entry in objects(case.file)}
    ends = [one["uuid"] for one in messages_of(case.file) if one["uuid"] not in parents]
    return [uuid for uuid in dict.fromkeys(ends) if uuid not in case.before.client.chain]


def goes_on_at(tip: str, edited: Edited) -> Faults:
    """Yield in what a session does not go on at the end of a branch.

    Behind it may stand notes, the rest of its response, and the results of that; and what holds
    nothing but a thought is not sent when it stands at the end.
    """
    chain = edited.after.client.chain
    said = {entry["uuid"]: entry for entry in messages_of(edited.file)}
    end = tip if tip in chain else said[tip].get("parentUuid")
    more = (
        [said[uuid] for uuid in chain[chain.index(end) + 1 :] if uuid in said]
        if end in chain
        else []
    )
    is_right = all(is_result(one) or is_part(one, said[tip]) for one in more)
    if end not in chain or not is_right:
        yield f"the client goes on at {edited.after.client.leaf}, not at {tip}"


def is_part(entry: Json, other: Json) -> bool:
    """Whether two lines are of one response."""
    names = [(one.get("message") or {}).get("id") for one in (entry, other)]
    return names[0] is not None and names[0] == names[1]


def is_result(entry: Json) -> bool:
    """Whether a line holds results of tools."""
    content = content_of(entry)
    blocks = content if isinstance(content, list) else []
    return any(isinstance(one, dict) and one.get("type") == "tool_result" for one in blocks)


def repair(case: Case) -> Trial | None:
    """A session that is mended: it resumes, all that was asked is still asked, once is enough."""
    plan = case.archive.plan.repair(case.file.stem)
    return Trial(plan, mended) if plan.steps else None


def mended(edited: Edited) -> Faults:
    """Yield what a repair should not have left so."""
    before, after = edited.case.before.client, edited.after.client
    if before.resumes and not after.resumes:
        yield "it does not resume any more"
    asked = {words for entry in messages_of(edited.case.file) for words in texts_of(entry)}
    lost = Counter(words_of(before.messages)) - Counter(words_of(after.messages))
    if lost.keys() & asked:
        yield f"what was asked is no longer sent: {sorted(lost.keys() & asked)}"
    if edited.case.archive.plan.repair(edited.plan.session).steps:
        yield "it wants to be repaired again"


def words_of(messages: list[Message]) -> Iterator[str]:
    """Yield the texts of the user's messages."""
    for role, blocks in messages:
        if role == "user":
            yield from (block["text"].strip() for block in blocks if block.get("type") == "text")


def texts_of(entry: Json) -> Iterator[str]:
    """Yield the texts that stand in an entry of the user."""
    if entry["type"] == "user":
        yield from words_of([("user", unsigned(content_of(entry)))])


def content_of(entry: Json) -> object:
    """Return what an entry says, None where it has no message."""
    message = entry.get("message")
    return message.get("content") if isinstance(message, dict) else None


def rename(case: Case) -> Trial:
    """Another title: the SDK lists it, and nothing else is different."""
    return Trial(case.archive.plan.rename(case.file.stem, TITLE), renamed)


def renamed(edited: Edited) -> Faults:
    """Yield what is wrong with a session that was named."""
    yield from says_the_same(edited)
    if edited.listed and edited.listed.title != TITLE.strip():
        yield f"the SDK lists it as {edited.listed.title!r}"


def tag(case: Case) -> Trial:
    """A tag: the SDK lists it, and nothing else is different."""
    return Trial(case.archive.plan.tag(case.file.stem, TAG), tagged)


def tagged(edited: Edited) -> Faults:
    """Yield what is wrong with a session that was tagged."""
    yield from says_the_same(edited)
    if edited.listed and edited.listed.tag != TAG:
        yield f"the SDK lists it with the tag {edited.listed.tag!r}"


def delete(case: Case) -> Trial:
    """A session that goes: neither client nor SDK finds it, and nothing of it is left there."""
    return Trial(case.archive.plan.delete(case.file.stem), deleted)


def deleted(edited: Edited) -> Faults:
    """Yield what is left of a session that should have gone."""
    if edited.listed:
        yield "the SDK lists it still"
    if list(edited.case.desk.config.rglob(f"projects/**/*{edited.plan.session}*")):
        yield "files of it are left"


OPERATIONS: dict[str, Operation] = {
    "clone": clone,
    "fork": fork,
    "graft": graft,
    "switch": switch,
    "repair": repair,
    "rename": rename,
    "tag": tag,
    "delete": delete,
}

MAY_DECLINE = frozenset({"switch"})
"""What some sessions give no way to do: it then says so, and does nothing."""
