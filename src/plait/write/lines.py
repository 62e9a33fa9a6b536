"""The form of new lines: versions, the order of fields, ids, and lines about a whole session."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random, SystemRandom
from typing import Any, Literal, NamedTuple, TypeAlias, get_args
from uuid import UUID

from plait.record.codec import encode, wire_name

ADJECTIVES = """
    able agile airy amber ample apt azure balmy blithe bold brave breezy bright brisk calm candid
    cheery chilly civil clear clever coastal cobalt cosy crimson crisp curious dapper deft dewy
    eager early earnest easy elegant even fair fancy fine fleet fond frank fresh frosty gentle
    glad golden grand green hardy hazel honest humble ivory jolly keen kind lively loyal lucid
    lucky lunar mellow merry mild misty modest neat nimble noble olive patient placid plain polite
    proud quaint quick quiet rosy royal rustic sage scarlet serene sharp silent silver sleek smart
    smooth snug solar solid spry stellar sturdy sunny swift tame tidy tranquil true vivid warm
    wise witty young zesty
""".split()
PARTICIPLES = """
    adding asking baking beaming blending blooming bouncing bubbling building carving charting
    chasing chiming climbing coasting coding counting crafting dancing dashing diving dozing
    drafting drawing dreaming drifting drumming exploring finding fishing floating flowing flying
    folding gathering gazing gliding glowing growing guiding hiking hopping humming inking jesting
    jogging joining juggling jumping kindling laughing leaping learning listening mapping marching
    mending mixing musing nesting noting orbiting painting pacing planting playing pondering
    puzzling racing rambling reading resting rhyming riding ringing roaming rolling rowing sailing
    scouting seeking shining singing sketching skating sliding soaring solving sorting sparking
    spinning splashing stitching strolling surfing swaying swimming swinging tending thinking
    tracing turning wading waltzing wandering watching waving weaving whistling winding wondering
    writing yawning
""".split()
SURNAMES = """
    abel agnesi ampere avicenna babbage banach bell bernoulli bohr bolzano boole born bose boyle
    brahe brouwer cantor carson cauchy cavendish cerf chandra church conway copernicus coulomb
    curie dalton darwin descartes dijkstra dirac earhart easley edison einstein eratosthenes erdos
    euclid euler fano faraday fermat fermi feynman fibonacci fourier franklin frege galilei galois
    gauss germain goedel goodall hamilton hawking heisenberg herschel hertz hilbert hodgkin hopper
    huygens hypatia jacobi johnson joule kepler khayyam kleene knuth kovalevskaya lagrange lamarr
    laplace leavitt leibniz linnaeus lovelace maxwell mccarthy mendel meitner moebius napier nash
    newton nightingale noether ohm pascal pasteur pauli payne peano planck poincare ptolemy
    ramanujan ride riemann sagan shannon somerville tesla turing volta weyl wiles wirth yalow
""".split()


# The order in which each version of the client writes the fields of a line:
#
#     2.1.325  parentUuid isSidechain promptId agentId │ of the kind │ userType entrypoint cwd …
#     2.1.29   parentUuid isSidechain userType cwd … agentId slug    │ of the kind


Version: TypeAlias = Literal["2.1.325", "2.1.29"]
VERSIONS: tuple[Version, ...] = get_args(Version)
NEWEST: Version = "2.1.325"

LINKS = "parentUuid logicalParentUuid isSidechain"
COMMON_FIELDS: dict[Version, tuple[list[str], list[str]]] = {
    "2.1.325": (
        f"{LINKS} promptId agentId".split(),
        """
        session_id userType entrypoint cwd sessionId version gitBranch slug forkedFrom sessionKind
        teamName
        """.split(),
    ),
    "2.1.29": (
        f"{LINKS} userType cwd sessionId version gitBranch agentId slug".split(),
        [],
    ),
}
"""What comes before and after the fields of a kind."""

ID_FIELDS = "timestamp uuid"
FIELDS_BY_KIND = {
    "user": """
        type message isVisibleInTranscriptOnly isCompactSummary isMeta turnCompanion uuid timestamp
        thinkingMetadata todos permissionMode origin promptSource turnOrigin turnPosition
        queueSkipAttachments toolUseResult sandboxed mcpMeta mcpCallNotReadOnly toolDenialKind
        userFeedback holdsPersonsWords
        sourceToolAssistantUUID sourceToolUseID permissionDecision interruptedMessageId
        refusedMessageId
    """,
    "assistant": """
        message thinkingDurationMs thinkingDisplay toolInputStreamMs serverClassifierRequest
        apiBlockIndex requestId requestRef requestedModel promptCacheRequested attributionAgent
        attributionSkill attributionPlugin attributionMcpServer attributionMcpTool type uuid
        timestamp isAbortedMidStream effort perTurnEffort madeBy
    """,
    "api error": """
        type uuid timestamp message requestId apiError apiErrorIsTransient error errorDetails
        isApiErrorMessage healsDistinctCarrier streamCutCause apiErrorStatus apiErrorType
        refusedMessageId refusingModel perTurnEffort failedResponseHadNoToolCall resendCannotCure
        madeBy
    """,
    "attachment": "attachment type uuid timestamp rendered renderedRole renderedBesideToolResult",
    "progress": "type data toolUseID parentToolUseID uuid timestamp",
    "system": f"type subtype content isMeta {ID_FIELDS} level compactMetadata microcompactMetadata",
    "system/compact_boundary": "type subtype content level compactMetadata uuid timestamp",
    "system/local_command": f"""
        type subtype content level {ID_FIELDS} isMeta contextUsage commandRun commandOutcome
    """,
    "system/turn_duration": f"""
        type subtype durationMs messageCount pendingBackgroundAgentCount pendingWorkflowCount
        {ID_FIELDS} isMeta
    """,
    "system/stop_hook_summary": f"""
        type subtype hookCount hookInfos hookErrors hookAdditionalContext preventedContinuation
        stopReason hasOutput level {ID_FIELDS} toolUseID
    """,
    "system/api_error": f"""
        type subtype level cause error retryInMs retryAttempt maxRetries source {ID_FIELDS}
    """,
    "system/away_summary": f"type subtype content {ID_FIELDS} isMeta",
    "system/bridge_status": f"type subtype content url isMeta {ID_FIELDS}",
    "system/model_refusal_no_fallback": """
        type subtype content level originalModel requestId apiRefusalCategory apiRefusalExplanation
        refusedUserMessageUuid isMeta uuid timestamp
    """,
}


def order_fields(kind: str, fields: Mapping[str, Any], version: Version) -> dict[str, Any]:
    """Return the fields in the client's order, unknown ones after those of the kind."""
    first, last = COMMON_FIELDS[version]
    body = FIELDS_BY_KIND.get(kind) or FIELDS_BY_KIND[kind.partition("/")[0]]
    known = [*first, *body.split()]
    others = [name for name in fields if name not in known and name not in last]
    return {name: fields[name] for name in (*known, *others, *last) if name in fields}


Block: TypeAlias = Mapping[str, Any]
Content: TypeAlias = str | list[Block]
Fields: TypeAlias = dict[str, Any]


def wire_fields(fields: Mapping[str, Any]) -> Fields:
    """Return fields by their names in the log."""
    return {wire_name(name): value for name, value in fields.items()}


@dataclass(slots=True)
class MessageContext:
    """What every message notes: working directory, version, session."""

    session: str
    cwd: str
    git_branch: str
    slug: str | None = None
    version: Version = NEWEST
    entrypoint: str = "cli"
    permission_mode: str | None = "default"
    model: str = "claude-opus-4-5-20251101"
    agent: str | None = None
    first: str | None = None
    """The session that was left with `/clear`, the first of several."""

    @property
    def is_older(self) -> bool:
        """Whether lines have the form of the older version."""
        return self.version != NEWEST

    @property
    def fields(self) -> Fields:
        """The fields for it."""
        named = {
            "isSidechain": self.agent is not None,
            "agentId": self.agent,
            "userType": "external",
            "entrypoint": None if self.is_older else self.entrypoint,
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": self.git_branch,
            "slug": self.slug,
        }
        return {name: value for name, value in named.items() if value is not None}


class Position(NamedTuple):
    """How much of a conversation leads to a message, including it."""

    messages: int
    prompts: int


@dataclass(slots=True)
class TranscriptState:
    """The state from which a transcript continues."""

    tip: str | None = None
    """The message that the next one follows."""
    positions: dict[str | None, Position] = field(default_factory=lambda: {None: Position(0, 0)})
    """Those of the messages that can be continued."""
    calls: dict[str, str] = field(default_factory=dict)
    """Calls without a result, with the messages that contain them."""
    response: str | None = None
    """The id of the last response."""
    prompt: str | None = None
    """The message of the last prompt."""
    words: str | None = None
    """The beginning of its text."""

    @property
    def position(self) -> Position:
        """How much leads to the tip."""
        return self.positions[self.tip]


@dataclass(frozen=True, slots=True)
class ResumedSession:
    """What is known of a resumed session."""

    state: TranscriptState
    cwd: str | None
    git_branch: str | None
    slug: str | None
    permission_mode: str | None
    model: str | None
    backups: Fields
    cost: Mapping[str, Any]
    """Its total cost according to the log; empty if there is none."""
    cut_off: tuple[str, ...]
    """The calls at its end without a result."""
    needs_answer: bool
    """Whether the client adds an answer before it continues."""
    is_led_elsewhere: bool
    """Whether a pointer in the log leads to a message that is not on the chain."""


BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the system time."""
    return datetime.now(UTC)


class IdSource:
    """Generates unique ids in the forms of the client and the API."""

    def __init__(
        self,
        random: Random | None = None,
        clock: Clock = utc_now,
        uuid: Callable[[], str] | None = None,
    ) -> None:
        self._random = random or SystemRandom()
        self._clock = clock
        self.uuid = uuid or self._random_uuid
        """Returns a random UUID, version 4."""

    def _random_uuid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def moment(self) -> datetime:
        """Return the current time."""
        return self._clock()

    def time(self) -> str:
        """Return the current time in the form of the log."""
        return format_time(self.moment())

    def message(self) -> str:
        """Return a response id."""
        return f"msg_01{self._letters(22)}"

    def request(self) -> str:
        """Return a request id."""
        return f"req_011C{self._letters(20)}"

    def call(self) -> str:
        """Return a call id."""
        return f"toolu_01{self._letters(22)}"

    def agent(self, digits: int) -> str:
        """Return an agent id: `a` and hexadecimal digits."""
        return f"a{self._random.getrandbits(4 * digits):0{digits}x}"

    def name(self) -> str:
        """Return a readable name for a session, such as `quiet-mapping-noether`."""
        return "-".join(self._random.choice(words) for words in (ADJECTIVES, PARTICIPLES, SURNAMES))

    def _letters(self, count: int) -> str:
        return "".join(self._random.choice(BASE58) for _ in range(count))


def format_time(moment: datetime) -> str:
    """Return a time in ISO 8601, UTC, to the millisecond."""
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{utc.isoformat(timespec='milliseconds')}Z"


MAX_POINTER_TEXT = 200
"""Characters of a prompt in a pointer."""


def get_prompt_text(content: Content) -> str:
    """Return the text of a prompt as it was typed."""
    if isinstance(content, str):
        return content
    return " ".join(block["text"] for block in content if block.get("type") == "text")


def shorten_prompt(content: Content) -> str:
    """Return the text of a prompt shortened for lists."""
    words = " ".join(get_prompt_text(content).split())
    return words if len(words) <= MAX_POINTER_TEXT else f"{words[:MAX_POINTER_TEXT]}…"


QueueOperation: TypeAlias = Literal["enqueue", "dequeue", "remove", "popAll"]


def make_title_line(session: str, title: str) -> bytes:
    """Return the line with a title given by the user."""
    return make_state_line(session, "custom-title", {"customTitle": title})


def make_tag_line(session: str, word: str) -> bytes:
    """Return the line that tags a session; an empty tag removes it."""
    return make_state_line(session, "tag", {"tag": word})


def make_state_line(session: str, kind: str, fields: Mapping[str, Any]) -> bytes:
    """Return any other line about the session: `mode`, `agent-name` …"""
    return encode({"type": kind, **fields, "sessionId": session})


def make_last_prompt_line(
    session: str, leaf: str | None, words: str | None = None, *, is_explicit: bool = False
) -> bytes:
    """Return the line that says where a session resumes.

    If the leaf is not the end of the conversation, only an explicit pointer counts.
    """
    fields: dict[str, object] = {}
    if words is not None:
        fields["lastPrompt"] = words
    fields["leafUuid"] = leaf
    if is_explicit:
        fields["explicit"] = True
    return make_state_line(session, "last-prompt", fields)


def make_summary_line(text: str, leaf: str) -> bytes:
    """Return the line that summarises a conversation up to a leaf, as older versions wrote it."""
    return encode({"type": "summary", "summary": text, "leafUuid": leaf})


def make_queue_line(
    session: str,
    time: str,
    operation: QueueOperation,
    content: str | None,
    others: Mapping[str, Any] = {},
) -> bytes:
    """Return the line about a prompt that was queued or dequeued."""
    fields = {
        "type": "queue-operation",
        "operation": operation,
        "timestamp": time,
        "sessionId": session,
    }
    return encode(fields | ({} if content is None else {"content": content}) | {**others})


def make_snapshot_line(
    prompt: str, backups: Mapping[str, Any], time: str, update_of: str | None = None
) -> bytes:
    """Return the line about the state of files when a prompt was sent.

    One written later, when another file is about to change, names the message too.
    """
    fields = {"messageId": prompt, "trackedFileBackups": {**backups}, "timestamp": time}
    return encode(
        {
            "type": "file-history-snapshot",
            "messageId": update_of or prompt,
            "snapshot": fields,
            "isSnapshotUpdate": update_of is not None,
        }
    )


def make_file_delta_line(
    message: str, prompt: str, path: str, backup: Mapping[str, Any], time: str
) -> bytes:
    """Return the line about the state of one more file when a prompt was sent."""
    return encode(
        {
            "type": "file-history-delta",
            "messageId": message,
            "snapshotMessageId": prompt,
            "trackingPath": path,
            "backup": {**backup},
            "timestamp": time,
        }
    )
