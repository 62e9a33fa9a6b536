"""The envelope of a record: what can be known of a line without reading its content.

Wire names exist only in this package. An envelope is decoded from every line, so it
holds what graphs, lists and counts need, and skips the long texts.
"""

from msgspec import Struct, field


class BlockHead(Struct, frozen=True, gc=False):
    """The kind and the ids of one content block."""

    tool_use_id: str | None = None
    type: str | None = None
    id: str | None = None
    name: str | None = None


class MessageHead(Struct, frozen=True, gc=False):
    """What the API message says of itself, with the heads of its blocks."""

    model: str | None = None
    id: str | None = None
    role: str | None = None
    content: str | list[BlockHead] | None = None
    stop_reason: str | None = None
    timestamp: str | int | float | None = None
    request_id: str | None = field(default=None, name="requestId")


class KindHead(Struct, frozen=True, gc=False):
    """The kind of an attachment, of progress, or of an origin."""

    type: str | None = None
    kind: str | None = None
    command_mode: str | None = field(default=None, name="commandMode")
    agent_id: str | None = field(default=None, name="agentId")
    origin: "KindHead | None" = None
    is_meta: bool | None = field(default=None, name="isMeta")


class ForkedFrom(Struct, frozen=True, gc=False, rename="camel"):
    """The session and the entry that a copied entry was taken from."""

    session_id: str | None = None
    message_uuid: str | None = None


class Envelope(Struct, frozen=True, gc=False, rename="camel"):
    """The flat facts of one record; None where the line does not say.

    The fields stand in the order in which the client writes them: a decoder that looks for
    the next key right after the last one then seldom looks twice.
    """

    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    is_sidechain: bool | None = None
    attachment: KindHead | None = None
    prompt_id: str | None = None
    agent_id: str | None = None
    message: MessageHead | None = None
    request_id: str | None = None
    type: str | None = None
    subtype: str | None = None
    content: str | list[BlockHead] | None = None
    data: KindHead | None = None
    uuid: str | None = None
    timestamp: str | int | float | None = None
    is_api_error_message: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_compact_summary: bool | None = None
    is_meta: bool | None = None
    source_tool_assistant_uuid: str | None = field(default=None, name="sourceToolAssistantUUID")
    source_tool_use_id: str | None = field(default=None, name="sourceToolUseID")
    origin: KindHead | None = None
    cwd: str | None = None
    session_id: str | None = None
    version: str | None = None
    git_branch: str | None = None
    team_name: str | None = None
    forked_from: ForkedFrom | None = None
    role: str | None = None
    leaf_uuid: str | None = None
    explicit: bool | None = None
    summary: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    last_prompt: str | None = None
