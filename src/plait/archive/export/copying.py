"""An open session to what is copied of it: it or a turn as Markdown, or an output, whole."""

from msgspec.structs import replace

from plait.archive.export.transcripts import Family, Names
from plait.archive.open_session import OpenSession
from plait.conversation.model import Called
from plait.conversation.results import whole_result
from plait.conversation.totals import Pricing
from plait.conversation.walk import calls_of
from plait.view.passages.stream import Manner
from plait.view.transcript.heading import Transcript
from plait.view.transcript.markdown import markdown_of, text_of, turns_of


def session_markdown(opened: OpenSession, line: str, prices: Pricing) -> str | None:
    """Returns a way through a session, as an export of it alone, not redacted, has it."""
    is_main = line == opened.conversations.main
    family = Family(opened, str, Names(), prices, is_active_only=is_main)
    name = family.targets.get(line)
    own = next((one for one in _transcripts(family) if one.name == name), None)
    return text_of(markdown_of(own, Manner(), set())) if own else None


def turn_markdown(opened: OpenSession, uuid: str) -> str | None:
    """Returns the turn that a record opens, as an export of this turn alone has it."""
    for transcript in _transcripts(Family(opened, str, Names())):
        told = transcript.conversation
        turns = tuple(one for one in told.turns if one.opener and one.opener.uuid == uuid)
        if turns:
            part = replace(transcript, conversation=replace(told, turns=turns), unnamed=())
            return text_of(turns_of(part, Manner()))
    return None


def _transcripts(family: Family) -> list[Transcript]:
    """Returns all transcripts, that of the line that goes on first, those of agents last."""
    found = list(family.transcripts())
    main = family.targets.get(family.opened.conversations.main)
    return [*sorted(found, key=lambda one: one.name != main), *family.agent_transcripts()]


def whole_output(opened: OpenSession, call: str) -> str | None:
    """Returns all that a tool answered to a call, what lies beside the log too."""
    for line in opened.conversations.by_line.values():
        for _, called in calls_of(line):
            if called.call == call and called.result is not None:
                return _whole(opened, called)
    return None


def _whole(opened: OpenSession, called: Called) -> str | None:
    return whole_result(opened.session.path.with_suffix(""), called)
