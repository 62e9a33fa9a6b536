"""Fields of a line to the order in which each version of the client writes them.

2.1.325  parentUuid isSidechain promptId agentId │ of the kind │ userType entrypoint cwd …
2.1.29   parentUuid isSidechain userType cwd … agentId slug    │ of the kind
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

Version: TypeAlias = Literal["2.1.325", "2.1.29"]
VERSIONS: tuple[Version, ...] = get_args(Version)
NEWEST: Version = "2.1.325"

LINKS = "parentUuid logicalParentUuid isSidechain"
AROUND: dict[Version, tuple[list[str], list[str]]] = {
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
"""What stands before and behind the fields of a kind."""

STAMPED = "timestamp uuid"
OF_A_KIND = {
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
    "system": f"type subtype content isMeta {STAMPED} level compactMetadata microcompactMetadata",
    "system/compact_boundary": "type subtype content level compactMetadata uuid timestamp",
    "system/local_command": f"""
        type subtype content level {STAMPED} isMeta contextUsage commandRun commandOutcome
    """,
    "system/turn_duration": f"""
        type subtype durationMs messageCount pendingBackgroundAgentCount pendingWorkflowCount
        {STAMPED} isMeta
    """,
    "system/stop_hook_summary": f"""
        type subtype hookCount hookInfos hookErrors hookAdditionalContext preventedContinuation
        stopReason hasOutput level {STAMPED} toolUseID
    """,
    "system/api_error": f"""
        type subtype level cause error retryInMs retryAttempt maxRetries source {STAMPED}
    """,
    "system/away_summary": f"type subtype content {STAMPED} isMeta",
    "system/bridge_status": f"type subtype content url isMeta {STAMPED}",
    "system/model_refusal_no_fallback": """
        type subtype content level originalModel requestId apiRefusalCategory apiRefusalExplanation
        refusedUserMessageUuid isMeta uuid timestamp
    """,
}


def ordered(kind: str, fields: Mapping[str, Any], version: Version) -> dict[str, Any]:
    """Returns the fields in the client's order, those it does not know behind those of the kind."""
    first, last = AROUND[version]
    body = OF_A_KIND.get(kind) or OF_A_KIND[kind.partition("/")[0]]
    known = [*first, *body.split()]
    others = [name for name in fields if name not in known and name not in last]
    return {name: fields[name] for name in (*known, *others, *last) if name in fields}
