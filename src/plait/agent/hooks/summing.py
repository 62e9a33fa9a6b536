"""What hooks say when room is made to whether it is, with which focus, and what is printed."""

from plait.agent.hooks.model import Effect

BLOCKED = "Compaction blocked by PreCompact hook: {}"


def why_blocked(effect: Effect) -> str | None:
    """Returns why no room is made, None where hooks let it happen."""
    for one in effect.said:
        if one.blocking:
            reason = f"[{one.ran.hook.command}]: {one.blocking.reason}"
            return BLOCKED.format(reason)
    return None


def focus_with(focus: str, effect: Effect) -> str:
    """Returns what a summary is to keep, with what hooks add to it."""
    words = [one.ran.stdout.strip() for one in effect.said if one.kind == "words"]
    return "\n\n".join(filter(None, (focus, *words)))


def printed(event: str, effect: Effect) -> list[str]:
    """Returns what is printed of hooks, one line for each."""
    lines = []
    for one in effect.said:
        words = one.ran.stdout.strip() if one.kind == "words" else ""
        is_fine = one.kind not in ("failed", "late") and not one.blocking
        trouble = one.ran.stderr.strip()
        told = "completed successfully" if is_fine else "failed"
        more = words if is_fine else trouble
        lines.append(f"{event} [{one.ran.hook.command}] {told}{f': {more}' if more else ''}")
    return lines
