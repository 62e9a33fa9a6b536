"""Sessions that the client refuses to resume to such as it takes up."""

from plait.edit.draft import Draft, time_near, with_field
from plait.graph.client import context, refusal
from plait.graph.client.context import last_message
from plait.graph.client.load import load
from plait.write.lines import last_prompt

TIMED = "the last message has a time: without one the client does not resume"
POINTED = "a pointer leads back to the conversation: the client does not resume a sidechain"


def timeless_leaf(draft: Draft) -> None:
    """Gives the message that a session goes on from a time."""
    loaded, _ = load(draft.records, draft.size)
    record = last_message(loaded)
    if record is None or "time" not in _why_not(draft):
        return
    for line, one in list(draft.spoken):
        if one.uuid == record.uuid:
            draft.rewrite(line, with_field(one, "timestamp", time_near(draft, one)), TIMED)


def _why_not(draft: Draft) -> str:
    return refusal(draft.records, draft.size) or ""


def pointer_to_sidechain(draft: Draft) -> None:
    """Points to the end of the conversation where the last pointer led to an agent's record."""
    if "sidechain" not in _why_not(draft):
        return
    unpointed = [record for record in draft.records if record.type != "last-prompt"]
    found = context(unpointed, size=draft.size)
    session = next((one.session_id for one in unpointed if one.session_id), draft.log.path.stem)
    if found.resumes and found.leaf:
        draft.append(last_prompt(session, found.leaf), POINTED)
