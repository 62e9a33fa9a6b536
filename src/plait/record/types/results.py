"""The client's own view of a tool's result, by the form it has.

`toolUseResult` never reaches the model: the client keeps it for its screens. Failures are
plain strings ("Error: …"), some tools give lists; what no form fits stays a plain value.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from plait.record.codec import lenient
from plait.record.types.fields import Table

RESULTS = Table(
    """
EditResult: Text replaced in a file.
    filePath:str oldString:str newString:str originalFile:str structuredPatch:list
    userModified:bool replaceAll:bool contentNotInModelContext:bool
NotebookEditResult: A cell of a notebook that was changed.
    notebook_path:str cell_id:str cell_type:str language:str edit_mode:str old_source:str
    new_source:str original_file:str updated_file:str error:str
MultiEditResult: Several replacements in a file.
    filePath:str edits:list originalFileContents:str structuredPatch:list userModified:bool
WriteResult: A file created or written anew.
    type:str filePath:str content:str structuredPatch:list originalFile:str userModified:bool
ReadResult: What was read of a file.
    type:str file:dict
BashOutputResult: Output fetched from a shell in the background.
    shellId:str command:str status:str exitCode stdout:str stderr:str stdoutLines:number
    stderrLines:number timestamp:str
BashResult: A command that ran.
    stdout:str stderr:str interrupted:bool isImage:bool noOutputExpected:bool
    returnCodeInterpretation:str backgroundTaskId:str assistantAutoBackgrounded:bool
    persistedOutputPath:str persistedOutputSize:number
GrepResult: A search in files.
    mode:str filenames:texts numFiles:number content:str numLines:number numMatches:number
    totalLines:number appliedLimit:number appliedOffset:number
GlobResult: Files found by a pattern.
    filenames:texts numFiles:number durationMs:number truncated:bool totalMatches:number
    countIsComplete:bool
TodoWriteResult: The list of things to do, before and after.
    oldTodos:list newTodos:list verificationNudgeNeeded:bool
TeammateResult: A teammate that was started.
    status:str teammate_id:str agent_id:str name:str team_name:str prompt:str agent_type:str
    model:str color:str
WorkflowResult: A workflow that was started or has run.
    status:str taskId:str runId:str summary:str transcriptDir:str scriptPath:str isAsync:bool
AsyncAgentResult: A sub-agent sent out to work in the background.
    status:str isAsync:bool agentId:str description:str prompt:str outputFile:str
    canReadOutputFile:bool canContinueAgent:bool resolvedModel:str
AgentResult: A sub-agent that has answered.
    status:str agentId:str agentType:str prompt:str content totalDurationMs:number
    totalTokens:number totalToolUseCount:number usage toolStats worktreePath:str
    worktreeBranch:str resolvedModel:str canContinueAgent:bool harnessNoteCount:number
    harnessSectionHash harnessTailCount:number toolsUsed
TaskUpdateResult: A task that was changed.
    success:bool taskId:str updatedFields:list statusChange verificationNudgeNeeded:bool
    error:str
TaskOutputResult: Output of a background task.
    retrieval_status:str task
TaskResult: A task that was created or looked up.
    task
TaskListResult: All tasks.
    tasks:list
ToolSearchResult: Tools found by a search.
    matches:list query:str total_deferred_tools:number pending_mcp_servers
WebFetchResult: A page that was fetched.
    bytes:number code:number codeText:str result:str durationMs:number url:str
WebSearchResult: A search of the web.
    query:str results:list durationSeconds:number
PlanResult: A plan that was put to the user.
    plan:str isAgent:bool filePath:str
SkillResult: A skill that was taken up.
    success:bool commandName:str allowedTools model:str status:str
QuestionResult: Questions with the answers that the user chose.
    questions:list answers annotations
MessageResult: What a tool has to say.
    message:str success:bool routing shell_id:str
MonitorResult: A watch on something that takes time.
    taskId:str timeoutMs:number persistent:bool
WakeupResult: A time to wake up.
    scheduledFor clampedDelaySeconds:number wasClamped:bool
"""
)
# The first form whose keys are all there is taken: the more telling forms stand first.
FORMS: tuple[tuple[frozenset[str], str], ...] = tuple(
    (frozenset(keys.split()), form)
    for keys, form in (
        ("oldString newString", "EditResult"),
        ("notebook_path edit_mode", "NotebookEditResult"),
        ("edits originalFileContents", "MultiEditResult"),
        ("filePath structuredPatch type", "WriteResult"),
        ("file", "ReadResult"),
        ("shellId stdoutLines", "BashOutputResult"),
        ("stdout stderr", "BashResult"),
        ("filenames mode", "GrepResult"),
        ("filenames numFiles", "GlobResult"),
        ("newTodos", "TodoWriteResult"),
        ("teammate_id", "TeammateResult"),
        ("runId scriptPath", "WorkflowResult"),
        ("agentId isAsync", "AsyncAgentResult"),
        ("agentId status", "AgentResult"),
        ("taskId updatedFields", "TaskUpdateResult"),
        ("retrieval_status", "TaskOutputResult"),
        ("task", "TaskResult"),
        ("tasks", "TaskListResult"),
        ("matches query", "ToolSearchResult"),
        ("url codeText", "WebFetchResult"),
        ("query results", "WebSearchResult"),
        ("plan isAgent", "PlanResult"),
        ("commandName success", "SkillResult"),
        ("questions answers", "QuestionResult"),
        ("message", "MessageResult"),
        ("taskId timeoutMs", "MonitorResult"),
        ("scheduledFor", "WakeupResult"),
    )
)

ToolUseResult: TypeAlias = Struct | str | list[Any] | dict[str, Any]


def tool_use_result_of(value: object) -> ToolUseResult | None:
    """Returns the typed form of a result; strings, lists and unknown forms as they are."""
    match value:
        case str() | list():
            return value
        case Mapping():
            form = form_of(value)
            return lenient(value, form) if form else dict(value)
        case _:
            return None


def form_of(value: Mapping[str, Any]) -> type[Struct] | None:
    """Returns the first form whose keys the value has."""
    for keys, form in FORMS:
        if keys <= value.keys():
            return RESULTS[form]
    return None
