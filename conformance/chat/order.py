"""Order log lines by what happened, where the client writes them slightly late."""

from collections.abc import Iterable
from typing import TypeAlias

from conformance.model import Json

Line: TypeAlias = tuple[str, Json]
"""A kind, and the line."""
MESSAGES = ("user", "assistant", "system")
SNAPSHOT = "file-history-snapshot"


def in_order(lines: Iterable[Line]) -> list[Line]:
    """Return lines with the queue, snapshots of files and results where they belong."""
    return whole_responses(with_prompts(in_time(lines)))


def in_time(lines: Iterable[Line]) -> list[Line]:
    """Return lines with what happened to the queue behind the messages that were there before.

    The client writes the queue at once and messages a moment later: the times tell their order.
    """
    ordered: list[Line] = []
    late: list[Line] = []
    for kind, one in lines:
        if one["type"] == "queue-operation":
            late.append((kind, one))
            continue
        is_timed = one["type"] in MESSAGES
        later = [x for x in late if is_timed and x[1]["timestamp"] > one["timestamp"]]
        ordered += late[: len(late) - len(later)]
        late = later
        ordered.append((kind, one))
    return ordered + late


def with_prompts(lines: Iterable[Line]) -> list[Line]:
    """Return lines with each snapshot of files right before the prompt it is of.

    The client copies files beside what happens, and writes the snapshot once they are copied:
    before the prompt, within its turn, or where a command takes its time, before what it does.
    """
    told = list(lines)
    own = [line for line in told if _is_of_a_prompt(*line)]
    snapshots = {one["messageId"]: (kind, one) for kind, one in own}
    placed = {one["uuid"] for _, one in told if "uuid" in one} & snapshots.keys()
    ordered: list[Line] = []
    for kind, one in told:
        if _is_of_a_prompt(kind, one) and one["messageId"] in placed:
            continue
        if one.get("uuid") in placed:
            ordered.append(snapshots[one["uuid"]])
        ordered.append((kind, one))
    return ordered


def _is_of_a_prompt(kind: str, entry: Json) -> bool:
    return kind == SNAPSHOT and not entry["isSnapshotUpdate"]


def whole_responses(lines: Iterable[Line]) -> list[Line]:
    """Return lines with the results of a response behind its last block.

    The client does a call while the rest of the response is on its way: at times the result is
    there before the next block, which then hangs on it, and at times it is not.
    """
    told = list(lines)
    last = {_response(one): place for place, (_, one) in enumerate(told) if _response(one)}
    ordered: list[Line] = []
    early: list[Line] = []
    open_at = -1
    """Where the response ends whose blocks are coming."""
    for place, (kind, one) in enumerate(told):
        if kind.startswith("result ") and place < open_at:
            early.append((kind, one))
            continue
        if name := _response(one):
            open_at = last[name]
            above = {early_one["uuid"]: early_one["parentUuid"] for _, early_one in early}
            one = {**one, "parentUuid": above.get(one["parentUuid"], one["parentUuid"])}
        ordered.append((kind, one))
        if place >= open_at:
            ordered += early
            early = []
    return ordered


def _response(entry: Json) -> str | None:
    """Return the response that a line is a block of."""
    is_block = entry["type"] == "assistant" and "id" in entry.get("message", {})
    return entry["message"]["id"] if is_block else None
