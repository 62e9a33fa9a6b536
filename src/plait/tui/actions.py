"""Edits, copies and resuming of sessions; every edit is shown as a plan first and can be undone."""

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.archive import Archive, Resume, build_plan_report
from plait.cli.edit import print_plan
from plait.edit.cuts import PRESET_NAMES
from plait.edit.plan import Plan
from plait.edit.report import EditReport, format_done, format_violations
from plait.edit.trim import find_preset, parse_custom_presets
from plait.errors import PlaitError, Refused, UserError
from plait.sessions.resume import client_command
from plait.settings import expand_user, read_claude_folder
from plait.terminal.text import SHORT_ID, safe
from plait.tui.library import Row
from plait.tui.rendering import run_command, with_output
from plait.tui.screens import ChoiceDialog, QuestionDialog, TextDialog
from plait.tui.widgets import short

if TYPE_CHECKING:
    from plait.tui.app import PlaitApp

PLAN_WIDTH = 96
PRESETS = {
    "light": "leaves 85% of the messages; removes tool results",
    "standard": "leaves 60%; also trims agent and skill results",
    "heavy": "leaves 35%; also trims long tool inputs",
    "extreme": "leaves 15%; also removes tool calls",
}


class Actions:
    """Acts on sessions for the screens; what was changed here can be undone in reverse order."""

    def __init__(self, ui: "PlaitApp") -> None:
        self.ui = ui
        self._done: list[tuple[str, Callable[[], Any]]] = []
        """What was done, and what undoes it."""

    # ------------------------------------------------------------------ continuing

    def _plan_resume(self, row: Row) -> "Resume":
        library = self.ui.library
        with library.lock:
            default = expand_user(read_claude_folder({}), {})
            return library.archive.resume(row.session.path, default=default)

    def resume(self, row: Row) -> None:
        """Leave the screen to the client of a session, and come back when it ends."""

        def run(resume: "Resume") -> None:
            try:
                words = client_command(resume)
            except PlaitError as error:
                self.ui.complain(error)
                return
            with self.ui.suspend():
                print(f"$ {shlex.join(words)}", flush=True)  # noqa: T201  the terminal is the client's
                try:
                    code = subprocess.run(  # noqa: S603  what the user resumes
                        words, cwd=resume.directory or None, check=False
                    ).returncode
                except OSError as error:
                    code = error.errno or 1
            self.ui.refresh(layout=True)
            self.ui.say(
                f"back from {words[-1] if code else shlex.join(resume.command)[:40]}"
                + (f", which exited with code {code}" if code else "")
            )
            self.ui.reload()

        self.ui.in_background("action", lambda: self._plan_resume(row), run)

    def copy(self, row: Row) -> None:
        """Copy the command that resumes a session, by the terminal's own clipboard (OSC 52)."""

        def copy(resume: "Resume") -> None:
            if resume.why_not:
                self.ui.complain(UserError(f"cannot be resumed: {resume.why_not}"))
            elif safe(resume.line) != resume.line:
                self.ui.complain(
                    UserError("the command contains characters that cannot be shown or copied")
                )
            else:
                self.ui.copy_to_clipboard(resume.line)
                self.ui.say(f"copied the command that resumes {short(row)}")

        self.ui.in_background("action", lambda: self._plan_resume(row), copy)

    # ------------------------------------------------------------------ edits

    def _edit(self, row: Row, make: "Callable[[Archive], Plan]", what: str) -> None:
        """Show the plan of an edit; apply it when it is confirmed."""
        library = self.ui.library

        def plan() -> "tuple[Plan, EditReport, list[str]]":
            with library.lock:
                made = make(library.request.priced_archive)
                report = build_plan_report(made, made.check(), None)
                _, output = with_output(
                    library.request, min(self.ui.size.width * 9 // 10 - 6, PLAN_WIDTH)
                )
                print_plan(output, report)
                return made, report, output.lines()

        def show(planned: "tuple[Plan, EditReport, list[str]]") -> None:
            made, report, lines = planned
            if report.violations:
                self.ui.complain(
                    Refused(f"refusing to {report.operation}: {format_violations(report)}")
                )
                return
            is_idle = report.is_idle or not made.steps
            dialog = TextDialog(f"{what} {short(row)}", lines, "" if is_idle else what.lower())
            self.ui.push_screen(dialog, lambda answer: self._apply(made, row) if answer else None)

        self.ui.in_background("action", plan, show)

    def _apply(self, plan: "Plan", row: Row) -> None:
        library = self.ui.library

        def apply() -> "EditReport":
            with library.lock:
                edit = plan.apply()
                archive = library.archive
                self._done.append(
                    (f"{plan.operation} of {short(row)}", lambda: archive.undo(edit.id))
                )
                return build_plan_report(plan, (), edit)

        def report_done(report: "EditReport") -> None:
            self.ui.say(f"{format_done(report)} · z undoes it")
            self.ui.reload(select=Path(report.path) if report.is_new else None)

        self.ui.in_background("action", apply, report_done)

    def fork(self, row: Row, record: str | None) -> None:
        """Plan a new session that ends with a turn, else one that goes on where this one does."""
        self._edit(row, lambda archive: archive.plan.fork(row.session.path, record), "Fork")

    def trim(self, row: Row) -> None:
        """Ask for a preset, then plan what it removes."""
        settings = self.ui.library.request.settings
        custom = parse_custom_presets(settings.trim_presets)
        names = [*PRESET_NAMES, *custom]
        if settings.trim_preset in names:
            names.sort(key=lambda name: name != settings.trim_preset)

        def plan(name: str | None) -> None:
            if name:
                preset = find_preset(name, custom)
                self._edit(row, lambda archive: archive.plan.trim(row.session.path, preset), "Trim")

        options = [(name, PRESETS.get(name, "your own preset")) for name in names]
        self.ui.push_screen(ChoiceDialog(f"Trim {short(row)}", options), plan)

    def rename(self, row: Row) -> None:
        """Ask for a title, then plan the change."""

        def plan(title: str | None) -> None:
            if title:
                self._edit(
                    row, lambda archive: archive.plan.rename(row.session.path, title), "Rename"
                )

        title = safe(row.facts.title or "")[:200]
        self.ui.push_screen(
            QuestionDialog(f"New title of {row.session.id[:SHORT_ID]}", title), plan
        )

    def delete(self, row: Row) -> None:
        """Plan to delete a session with all that belongs to it."""
        self._edit(row, lambda archive: archive.plan.delete(row.session.path), "Delete")

    def star(self, row: Row) -> None:
        """Star a session, or remove the star."""
        library = self.ui.library

        def toggle() -> str:
            with library.lock:
                stars = library.archive.stars
                session = row.session.id
                if session in stars.ids:
                    stars.file.unstar(session)
                    self._done.append(
                        (f"the star of {short(row)}", lambda: stars.file.star(session))
                    )
                    return "no longer starred"
                stars.file.star(session)
                self._done.append((f"the star of {short(row)}", lambda: stars.file.unstar(session)))
                return "starred"

        def report_done(done: str) -> None:
            self.ui.say(f"{done}: {short(row)}")
            self.ui.reload()

        self.ui.in_background("action", toggle, report_done)

    def undo(self) -> None:
        """Undo the last change that was made here."""
        if not self._done:
            self.ui.say("nothing to undo in this run; `plait undo --list` lists earlier edits")
            return
        what, revert = self._done[-1]

        def report_done(_: object) -> None:
            self._done.pop()
            self.ui.say(f"undone: {what}")
            self.ui.reload()

        self.ui.in_background("action", revert, report_done)

    # ------------------------------------------------------------------ copies

    def _run(self, row: Row, what: str, *words: str) -> None:
        """Run a command in the background and show what it prints."""
        library = self.ui.library

        def run() -> list[str]:
            with library.lock:
                return run_command(library.request, PLAN_WIDTH, *words)

        def show(lines: list[str]) -> None:
            self.ui.push_screen(TextDialog(f"{what} {short(row)}", lines))

        self.ui.in_background("action", run, show)

    def export(self, row: Row) -> None:
        """Ask for a folder, then write a redacted transcript into it."""
        path = str(row.session.path)

        def write(folder: str | None) -> None:
            if folder:
                self._run(row, "Exported", "export", path, "--output", folder)

        folder = f"plait-{row.session.id[:SHORT_ID]}"
        heading = "Folder for the redacted transcript"
        self.ui.push_screen(QuestionDialog(heading, folder), write)

    def backup(self, row: Row) -> None:
        """Show what would be backed up, then do it."""
        library, path = self.ui.library, str(row.session.path)

        def plan() -> list[str]:
            with library.lock:
                lines = run_command(library.request, PLAN_WIDTH, "keep", path, "--dry-run")
                return [line for line in lines if "--dry-run" not in line]

        def show(lines: list[str]) -> None:
            def go_on(answer: str | None) -> None:
                if answer:
                    self._run(row, "Backed up", "keep", path)

            self.ui.push_screen(TextDialog(f"Back up {short(row)}", lines, "back up"), go_on)

        self.ui.in_background("action", plan, show)
