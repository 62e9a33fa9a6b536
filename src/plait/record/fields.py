"""The fields that the client writes, by kind of line and of content.

What Plait reads is an attribute of a record. The rest is known by name, so that a new field can be
distinguished from an unused one. Names are those of the log, with their type after a colon where it
matters.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct, defstruct

TYPES: dict[str, Any] = {
    "": Any,
    "str": str,
    "bool": bool,
    "number": int | float,
    "list": list[Any],
    "texts": list[str],
    "dict": dict[str, Any],
}
HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")


class FieldTable(Mapping[str, type[Struct]]):
    """Structs of fields by kind, each built on first use."""

    def __init__(self, text: str) -> None:
        rows = re.findall(r"^(\S+): ?(.*)\n((?: .*\n)*)", text, re.MULTILINE)
        self._rows = {kind: (words, tuple(fields.split())) for kind, words, fields in rows}

    def __getitem__(self, kind: str) -> type[Struct]:
        return _struct(kind, *self._rows[kind])

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def names(self, kind: str) -> frozenset[str]:
        """Return the field names of a kind as in the log; empty if it is unknown."""
        _, fields = self._rows.get(kind, ("", ()))
        return frozenset(field.partition(":")[0] for field in fields)


@cache
def _struct(kind: str, words: str, fields: tuple[str, ...]) -> type[Struct]:
    known = [field.partition(":") for field in fields]
    names = {_attribute(name): name for name, _, _ in known}
    typed = [(_attribute(name), TYPES[wanted] | None, None) for name, _, wanted in known]
    about = {"__doc__": words}
    return defstruct(kind, typed, frozen=True, rename=names, namespace=about)


def _attribute(name: str) -> str:
    return HUMP.sub(lambda hump: f"_{hump[0]}", name).lower()


EXTRA_FIELDS = FieldTable(
    """
user:
    agentSlug classifierMetaLines interruptedByShutdown interruptedMessageId mcpCallNotReadOnly
    mcpMeta permissionDecision planContent queueSkipAttachments queueTranscriptOnly
    refusedMessageId sandboxed summarizeMetadata summarizedTurnPromptUuids thinkingMetadata
    toolDenialBeforeRun toolEndsTurn turnAttributionKey turnCompanion turnOrigin turnPosition
assistant:
    advisorModel apiBlockIndex apiError apiErrorStatus apiErrorType attributionAgent
    attributionMcpServer attributionMcpTool attributionPlugin attributionSkill
    contextWindowSize errorDetails failedResponseHadNoToolCall isAbortedMidStream madeBy
    neutralizedByFork perTurnEffort promptCacheRequested refusedMessageId refusingModel
    requestRef requestSessionId requestedModel serverClassifierRequest supersedesUuids
    thinkingDisplay thinkingDurationMs toolInputStreamMs usageMetadata
system:
    apiRefusalCategory apiRefusalExplanation cause commandOutcome commandRun contextUsage
    direction failedHookErrorIndexes fallbackModel hasOutput hookAdditionalContext hookCount hookErrors hookInfos
    maxRetries microcompactMetadata originalModel pendingBackgroundAgentCount
    pendingWorkflowCount preventedContinuation reasoning_effort refusedUserMessageUuid
    retractedMessageUuids systemPayload upgradeNudge workspace
attachment:
    rendered renderedRole renderedBesideToolResult
queue-operation:
    commandUuid deliveryId reason
"""
)
"""Fields of chain entries that are no attributes."""

STATE_FIELDS = FieldTable(
    """
custom-title: A title that the user gave.
    customTitle
ai-title: A title that the model gave.
    aiTitle
agent-name: The name of the session's agent.
    agentName
agent-setting: The kind of agent that the session runs as.
    agentSetting
agent-color: The colour of the session's agent.
    agentColor
tag: A tag that the user gave.
    tag
mode: Claude Code's mode.
    mode
permission-mode: What Claude Code may do without asking.
    permissionMode
bridge-session: The remote control that drives the session; holds account ids.
    bridgeSessionId lastSequenceNum ownerAccountUuid ownerOrganizationUuid
frame-link: An artifact that the session published.
    path frameUrl title
relocated: The session continued in another directory.
    relocatedCwd
cost-state: What the session has cost so far, as counted by Claude Code.
    totalCostUSD totalAPIDuration totalAPIDurationWithoutRetries totalToolDuration
    totalLinesAdded totalLinesRemoved totalDuration startTime modelUsage hasUnknownModelCost
tools-used: The tools that have been used.
    tools
atis-latch: A switch of Claude Code.
    atis
content-replacement: Tool results stored elsewhere.
    replacements
attribution-snapshot: Which parts of the code the model wrote.
    messageId surface fileStates promptCount promptCountAtLastCommit
api-request: A request to the API, in the log of requests.
api-request-shape: The form of requests, in the log of requests.
api-request-blob: A message of a request, in the log of requests.
history-suppression: Why prompts were kept out of the history.
    cause ts
marble-origami-commit: Messages that were collapsed into a summary.
    collapseId summaryUuid firstArchivedUuid lastArchivedUuid
marble-origami-snapshot: What is collapsed at this point.
task-summary: The result of a task.
    summary
speculation-accept: A suggestion that the user accepted.
goal-state: The goal of the session.
artifact-comment-monitor: A watch on comments of an artifact.
artifact-autoreact-ledger: Reactions to an artifact.
source-note: A line of another agent's log that is no message.
    kind record
started: An agent of a workflow that began, in the run's journal.
    key
result: What an agent of a workflow answered, in the run's journal.
    key result
completion: The end of a turn, in another agent's log.
    finalText usage id
message: A message, in another agent's log.
    text id
error: An error, in another agent's log.
    source
tool: Tool activity, in another agent's log.
    workspace agent
tool_call: A tool call, in another agent's log.
    id messageId toolId toolName parameters
tool_result: A tool result, in another agent's log.
    id messageId toolId toolName isError output toolCallResult value
tool_use: A tool call, in another agent's log.
    name input output
"""
)
"""Lines outside the chain without attributes."""

PROGRESS_FIELDS = FieldTable(
    """
agent_progress: A message of a running sub-agent.
    message normalizedMessages prompt agentId
bash_progress: Output of a running command.
    output fullOutput elapsedTimeSeconds totalLines totalBytes taskId timeoutMs
hook_progress: A hook is running.
    hookEvent hookName command
mcp_progress: A tool of an MCP server is running.
    status serverName toolName
query_update: A web search query.
    query
search_results_received: The number of web search results.
    resultCount query
waiting_for_task: Waiting for a background task.
    taskDescription taskType
"""
)
"""Fields of a `progress` record; up to 2.1.81 these were links of the chain."""

ATTACHMENT_FIELDS = FieldTable(
    """
agent_listing_delta: Sub-agent types that were added or removed.
    addedTypes addedLines removedTypes isInitial showConcurrencyNote builtInTypes
    builtInPluginTypes
at_mention_reference: Files that the user mentioned, and why they were not read.
    mentions unread fileSize totalLines ranges displayPath saysHowMuchOfAPdfToRead
    arePdfsToReadPlainly
async_hook_response: The response of a hook that ran in the background.
    processId hookName hookEvent response stdout stderr exitCode
auto_mode: A reminder that Claude Code works without asking.
    reminderType autoModeConsentFlow finishExposedWork bashFirst bashFirstSteer steerOnly
    bypass
auto_mode_exit: The end of working without asking.
batching_reminder_sent: A reminder to make calls together.
    text model
budget_usd: The budget spent and remaining.
    used total remaining
command_permissions: Tools that a slash command may use.
    allowedTools
compact_file_reference: A file that was named again after a compaction.
    filename displayPath
companion_intro: The little companion of the prompt line.
    name species
date: The date at the start.
    date
date_change: The day has changed.
    newDate
deferred_tools_delta: Tools that can be loaded when needed, and those that no longer can.
    addedNames addedLines removedNames readdedNames pendingMcpServers wireHiddenNames
    needsAuthMcpServers failedMcpServers surfacedNames
deferred_tools_record: The tools that can be loaded when needed.
    tools entries
diagnostics: Problems that the editor's language servers see.
    files isNew
directory: The listing of a folder that the user mentioned.
    path content displayPath
dynamic_skill: Skills found in a folder.
    skillDir skillNames displayPath
edited_text_file: A file that changed outside the conversation.
    filename snippet
environment: The machine, the folder and the state of the repository.
    snapshot changes
file: A file that the user mentioned.
    filename content displayPath savedCopyFraming
goal_status: Whether the goal of the session has been met.
    met sentinel condition reason iterations durationMs tokens failed
hook_additional_context: Context that a hook added.
    content hookName toolUseID hookEvent
hook_blocking_error: A hook that blocked the action.
    hookName toolUseID hookEvent blockingError
hook_cancelled: A hook that was interrupted.
    hookName toolUseID hookEvent command durationMs
hook_non_blocking_error: A hook that failed without stopping anything.
    hookName toolUseID hookEvent stderr stdout exitCode command durationMs
hook_success: A hook that succeeded.
    hookName toolUseID hookEvent content stdout stderr exitCode command durationMs
hook_system_message: A message that a hook shows to the user.
    content hookName toolUseID hookEvent
instructions: The instruction files in force.
    files
invoked_skills: Skills in use.
    skills
max_turns_reached: The turn limit was reached.
    maxTurns turnCount exitCommitted
mcp_instructions_delta: Instructions of MCP servers that were added or removed.
    addedNames addedBlocks removedNames
model: The current model, and what is said about it.
    identity text
nested_memory: Instructions of a sub-folder that were loaded.
    path content displayPath
opened_file_in_ide: The file that is open in the editor.
    filename
plan_file_reference: The plan that is being carried out.
    planFilePath planContent
plan_mode: A reminder that only planning is allowed.
    reminderType isSubAgent planFilePath planExists
plan_mode_exit: The end of planning.
    planFilePath planExists
plan_mode_reentry: Planning again.
    planFilePath
prompt_snapshot: The system prompt and the tools of a request.
    systemPrompt reminderFold echoWireToolInputs contextRendering tools cliPrefix systemTurns
    toolChangeHeader inlineTools keptReminders
queued_command: A prompt queued while Claude worked, or a queued notice.
    prompt commandMode source_uuid delivery_id humanTurn imagePasteIds origin timestamp
read_truncation_notice: A file was read only in part.
    banner toolUseID
remote_session_change: What a remote session changed.
    url commit pr sendUserFileHint managedCommit managedPr
selected_lines_in_ide: Lines that are selected in the editor.
    ideName lineStart lineEnd filename content displayPath
session_context: Context of the session.
    context
silent_turn_reminder: A reminder to say something.
    text
skill_listing: Skills that can be used.
    content skillCount isInitial names digests
task_reminder: The task list, as a reminder.
    content itemCount
task_status: The status of a background task.
    taskId taskType description status deltaSummary outputFilePath canContinueAgent
todo_reminder: The to-do list, as a reminder.
    content itemCount
total_tokens_reminder: How many tokens are left.
    text
ultra_effort_enter: The highest effort begins.
    reminderType
ultra_effort_exit: The highest effort ends.
unknown_command_fallback: A slash command that does not exist.
    commandName availableCommandNames availableCommandCount suggestion
"""
)
"""Fields of an `attachment` record: what the client sent the model besides prompts."""
