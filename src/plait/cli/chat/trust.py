"""A directory to the settings of Claude Code that count there, once its files are trusted.

A person is asked once for each project whose files would have something run or allow it. A
program is not asked: as with the client, hooks of a project are run for it, and what the shared
file allows is left out.
"""

import sys
from pathlib import Path

import click

from plait.agent.hooks.configured import hook_book
from plait.agent.rules import rule_book
from plait.agent.settings import ClientSettings, settings_of
from plait.agent.trust import Trust
from plait.cli.chat.choice import Choice
from plait.cli.options import Request
from plait.cli.text import counted, safe_line

MOST_SHOWN = 20


def settings_in(request: Request, choice: Choice, directory: Path) -> ClientSettings:
    """Returns the settings that count in a directory; notes what is left out."""
    root = request.settings.roots[0]
    trust = Trust(root, request.settings.data / "chat" / "trusted.json")
    is_trusted = trust.holds(directory)
    found = settings_of(root, directory, is_trusted=is_trusted, is_obeyed=True)
    if not is_trusted and not choice.is_printed and found.ventures:
        is_trusted = _is_trusted_now(request, trust, directory, found)
        found = settings_of(root, directory, is_trusted=is_trusted, is_obeyed=is_trusted)
    others = (*rule_book(found).notices, *hook_book(found).notices, *_left_out(found))
    for notice in (*found.notices, *others):
        request.output.note(f"warning: {notice}")
    return found


def _is_trusted_now(request: Request, trust: Trust, directory: Path, found: ClientSettings) -> bool:
    if not (sys.stdin is not None and sys.stdin.isatty()):
        return False
    request.output.note(f"settings of the project in {directory} say:", is_whole=True)
    for line in found.ventures[:MOST_SHOWN]:
        request.output.note(f"  {safe_line(line)}", is_whole=True)
    if len(found.ventures) > MOST_SHOWN:
        request.output.note(f"  and {len(found.ventures) - MOST_SHOWN} more")
    is_meant = click.confirm("trust this project?", default=False, err=True)
    if is_meant:
        trust.give(directory)
    return is_meant


def _left_out(found: ClientSettings) -> list[str]:
    """Returns what is told of what a project that is not trusted would allow."""
    if found.is_trusted:
        return []
    kinds = ("allow", "additionalDirectories")
    shared = [one for one in found.files if one.source == "projectSettings"]
    left = sum(len(one.value("permissions", kind) or ()) for one in shared for kind in kinds)
    if found.is_obeyed and left:
        what = counted(left, "rule")
        return [
            f"{what} of .claude/settings.json left out: `plait chat` there asks whether to trust"
        ]
    if not found.is_obeyed and found.ventures:
        return [
            "the project is not trusted: its hooks, environment and what it allows are left out"
        ]
    return []
