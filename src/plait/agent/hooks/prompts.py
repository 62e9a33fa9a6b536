"""What hooks say to a prompt to what the log keeps of it, and to what the person is told."""

from plait.agent.hooks.model import Effect
from plait.write import SessionWriter

BLOCKED = "UserPromptSubmit operation blocked by hook:\n{}\n\nOriginal prompt: {}"
STOPPED = "Operation stopped by hook: {}"
HELD_BACK = 9
"""How often in a row hooks may keep a turn from ending."""
HELD = (
    "A hook blocked the turn from ending {} consecutive times — overriding and ending turn. For"
    " Stop/SubagentStop hooks, check stop_hook_active in the input and return success while it's"
    " true. Set CLAUDE_CODE_STOP_HOOK_BLOCK_CAP to raise this limit."
)


def log_blocked(writer: SessionWriter, effect: Effect, words: str) -> str:
    """Logs that a prompt is not asked; returns what the person is told."""
    blocking = effect.blocking[0]
    told = BLOCKED.format(blocking.told, words)
    _log_ending(writer, told, "blocked_by_hook", blocking.reason, is_kept=False)
    return told


def log_stopped(writer: SessionWriter, reason: str) -> str:
    """Logs that a prompt is not answered; returns what the person is told."""
    told = STOPPED.format(reason)
    writer.note(told, is_companion=False)
    _log_ending(writer, told, "stopped_by_hook", reason, is_kept=True)
    return told


def _log_ending(writer: SessionWriter, told: str, kind: str, reason: str, *, is_kept: bool) -> None:
    ending = {"ending": {"kind": kind, "reason": reason}, "promptKept": is_kept}
    newer = {"prevent_continuation": True, "prompt_submit_ending": ending}
    fields = {} if writer.setting.is_older else newer
    writer.system("informational", content=told, level="warning", **fields)


def log_held(writer: SessionWriter, times: int) -> str:
    """Logs that a turn ends although hooks would have it go on; returns what the person is told."""
    told = HELD.format(times)
    writer.system("informational", content=told, level="warning")
    return told
