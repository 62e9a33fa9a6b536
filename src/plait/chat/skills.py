"""Custom commands and skills: loading, expanding, listing, and the tool that runs them.

    .claude/commands/review.md         /review          commands/git/fix.md      /git:fix
    .claude/skills/review/SKILL.md     /review, and for the model to use on its own

They are read from the configuration folder and from every directory from the working directory
upwards. A skill wins over a command, the user's over a project's, a nearer one over one further up.

    $ARGUMENTS   all arguments              $0 $1, $ARGUMENTS[0]   one argument, counted from 0
    $name        an argument named in the front matter's `arguments`
    !`date`      the output of a command; also a block that begins with ```!

Arguments without a placeholder are appended. Commands in the text need permission like any other
call: the front matter's `allowed-tools` counts, and a refusal stops the expansion.
"""

import os
import re
import shlex
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

from plait.chat.context import LiveContext
from plait.chat.front_matter import Document, parse_document
from plait.chat.instructions import ProjectScope
from plait.chat.model_info import resolve_alias
from plait.chat.rules import parse_rule
from plait.chat.runtime import Runtime
from plait.chat.tools.base import (
    BuiltInTool,
    Effect,
    Expansion,
    Field,
    Outcome,
    Proposal,
    ToolError,
    Workplace,
)
from plait.chat.tools.secrets import hide_secrets
from plait.errors import UserError
from plait.graph.client.messages import SKILLS, wrap_reminder
from plait.line import read_regular
from plait.write import SessionWriter
from plait.write.lines import Content

MAX_DESCRIPTION = 100
"""Characters of a description taken from the text itself."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A custom command (one file) or a skill (a folder)."""

    name: str
    document: Document
    path: Path
    is_skill: bool = False

    @property
    def title(self) -> str:
        """The name in its front matter; empty if there is none."""
        title = self.document.get_text("name")
        return title if self.is_skill and title != self.name else ""

    @property
    def description(self) -> str:
        """Its description: from the front matter, or the beginning of its text."""
        if text := " ".join(self.document.get_text("description").split()):
            return text
        lines = (line.strip().lstrip("#").strip() for line in self.document.body.splitlines())
        first = next(filter(None, lines), "")
        return first if len(first) <= MAX_DESCRIPTION else f"{first[: MAX_DESCRIPTION - 3]}..."

    @property
    def argument_hint(self) -> str:
        """Its argument hint."""
        return self.document.get_text("argument-hint")

    @property
    def listing_line(self) -> str:
        """Its line in the list for the model."""
        title = f" ({self.title})" if self.title else ""
        when = self.document.get_text("when_to_use")
        return f"- {self.name}{title}: {self.description}{f' - {when}' if when else ''}"

    @property
    def allowed(self) -> tuple[str, ...]:
        """Rules that need no approval while it runs."""
        return self.document.get_list("allowed-tools")

    @property
    def model(self) -> str | None:
        """The model it switches to; None to keep the current one."""
        named = self.document.get_text("model")
        return named if named and named != "inherit" else None

    @property
    def is_for_model(self) -> bool:
        """Whether the model may use it."""
        return not self.document.is_true("disable-model-invocation")

    @property
    def is_for_person(self) -> bool:
        """Whether the user may use it."""
        return self.document.get_text("user-invocable").casefold() not in ("false", "no", "off")

    @property
    def is_text_only(self) -> bool:
        """Whether it is only text: it grants no permissions and runs nothing."""
        loosening = {"allowed-tools", "model", "hooks", "context", "agent"}
        return not loosening & self.document.head.keys()


class SkillError(Exception):
    """A command or skill that could not be expanded, and why."""

    def __init__(self, name: str, arguments: str, text: str) -> None:
        super().__init__(text)
        self.name, self.arguments, self.text = name, arguments, text


COMMANDS_FOLDER, SKILLS_FOLDER, SKILL_FILE = "commands", "skills", "SKILL.md"
CLAUDE_FOLDER = ".claude"
MAX_SKILL_BYTES = 1_000_000
MAX_SKILLS = 2_000
"""The most commands and skills of one folder."""


def load_skills(scope: ProjectScope) -> dict[str, Skill]:
    """Return skills, then commands, each by name."""
    places = [scope.configuration] if scope.configuration else []
    places += [folder / CLAUDE_FOLDER for folder in (scope.root, *scope.root.parents)]
    skill_files: list[tuple[str, Path]] = []
    command_files: list[tuple[str, Path]] = []
    for place in places:
        folder = place / SKILLS_FOLDER
        with suppress(OSError):
            names = sorted(path.name for path in folder.iterdir())
            skill_files += [(name, folder / name / SKILL_FILE) for name in names[:MAX_SKILLS]]
        folder, paths = place / COMMANDS_FOLDER, list[Path]()
        for at, folders, names in os.walk(folder):
            folders.sort()
            paths += [Path(at, name) for name in sorted(names)]
        for path in paths[:MAX_SKILLS]:
            if path.name.endswith(".md"):
                name = ":".join(path.relative_to(folder).with_suffix("").parts)
                command_files.append((name, path))
    found: dict[str, Skill] = {}
    for files in (skill_files, command_files):
        own: dict[str, Skill] = {}
        for name, path in files:
            with suppress(OSError):
                if name not in found | own and path.stat().st_size <= MAX_SKILL_BYTES:
                    text = read_regular(path).decode(errors="replace")
                    document = parse_document(str(hide_secrets(text, scope.secrets)))
                    own[name] = Skill(name, document, path, path.name == SKILL_FILE)
        found |= dict(sorted(own.items()))
    return found


def select_valid_rules(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the valid rules in some texts; invalid ones allow nothing."""
    found = []
    for text in texts:
        try:
            parse_rule(text)
        except UserError:
            continue
        found.append(text)
    return tuple(found)


RunCommand: TypeAlias = Callable[[str, str], Awaitable[str]]
"""Runs a command in a text; returns its output."""
COMMAND = re.compile(r"```!\s*\n(?P<block>.*?)\n?```|(?<!\S)!`(?P<line>[^`]+)`", re.DOTALL)
PLACEHOLDERS = (
    r"\\\$(?=[A-Za-z0-9])|\$ARGUMENTS\[(?P<at>\d+)\]|\$ARGUMENTS|(?<!\$)\$(?P<number>\d+)"
)
BASE_DIRECTORY = "Base directory for this skill: {}\n\n"
REMAINING_ARGUMENTS = "\n\nARGUMENTS: {}"


async def expand_skill(skill: Skill, arguments: str, session: str, run: RunCommand) -> str:
    """Return the text of a command with its arguments and the output of its commands."""
    folder = str(skill.path.parent)
    text = fill_arguments(skill.document.body, arguments, skill.document.get_list("arguments"))
    if skill.is_skill:
        text = BASE_DIRECTORY.format(folder) + text
    known = {"CLAUDE_SKILL_DIR": folder, "CLAUDE_SESSION_ID": session}
    text = re.sub(r"\$\{(\w+)\}", lambda found: known.get(found[1], found[0]), text)
    pieces, end = [], 0
    for found in COMMAND.finditer(text):
        command = found["block"] if found["block"] is not None else found["line"]
        pieces += [text[end : found.start()], await run(command.strip(), found[0])]
        end = found.end()
    return "".join([*pieces, text[end:]])


def fill_arguments(body: str, arguments: str, names: tuple[str, ...] = ()) -> str:
    """Return a text with its placeholders filled with arguments."""
    words = split_arguments(arguments)
    named = dict(zip(names, words, strict=False))
    own = "".join(rf"|\$(?P<n{at}>{re.escape(name)})\b" for at, name in enumerate(names))
    places = re.compile(PLACEHOLDERS + own)
    is_placed = False

    def put(found: re.Match[str]) -> str:
        nonlocal is_placed
        if found[0].startswith("\\"):
            return found[0][1:]
        is_placed = True
        place = found["at"] or found["number"]
        if place is not None:
            number = int(place[:6])
            return words[number] if number < len(words) else found[0]
        if found[0] == "$ARGUMENTS":
            return arguments
        return named.get(found[0][1:], found[0])

    text = places.sub(put, body)
    return text if is_placed or not arguments else text + REMAINING_ARGUMENTS.format(arguments)


def split_arguments(arguments: str) -> list[str]:
    """Return the words of the first line of arguments, split like a shell."""
    line = arguments.partition("\n")[0]
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


INVOCATION = re.compile(r"/([A-Za-z0-9][\w:.-]*)(?:\s+(.*))?", re.DOTALL)
NOT_USER_INVOCABLE = (
    "This skill can only be invoked by Claude, not directly by users. Ask Claude to use the"
    ' "{}" skill for you.'
)
COMMAND_REFUSED = 'Shell command permission check failed for pattern "{}": {}'
COMMAND_FAILED = 'Shell command failed for pattern "{}": [stderr]\n{}'


CACHE_SECONDS = 2.0
"""Seconds for which loaded skills are reused: completion asks at every key."""


class SessionSkills:
    """The commands and skills of a session, reloaded with every prompt."""

    def __init__(self, scope: ProjectScope) -> None:
        self._scope = scope
        self._skills: dict[str, Skill] = {}
        self._loaded_at = -CACHE_SECONDS

    def reload(self) -> None:
        """Reload them if they may have changed."""
        self._skills, self._loaded_at = load_skills(self._scope), monotonic()

    @property
    def skills(self) -> Mapping[str, Skill]:
        """Commands and skills by name."""
        if monotonic() - self._loaded_at >= CACHE_SECONDS:
            self.reload()
        return self._skills

    def find(self, name: str) -> Skill | None:
        """Return one by its name or by its title."""
        if name in self.skills:
            return self.skills[name]
        return next((skill for skill in self.skills.values() if skill.title == name), None)

    async def expand(self, content: Content, runtime: Runtime) -> Expansion | None:
        """Return the expansion of a prompt; None if it names no command.

        Raise SkillError if it cannot be expanded.
        """
        called = INVOCATION.fullmatch(content) if isinstance(content, str) else None
        if called is None:
            return None
        name, arguments = called[1], (called[2] or "").strip()
        self.reload()
        skill = self.find(name)
        if skill is None:
            return None
        if not skill.is_for_person:
            raise SkillError(name, arguments, NOT_USER_INVOCABLE.format(name))
        return await self.expand_skill(skill, arguments, runtime)

    async def expand_skill(self, skill: Skill, arguments: str, runtime: Runtime) -> Expansion:
        """Return the expansion of a skill; its commands run once they are allowed."""

        async def run(command: str, written: str) -> str:
            tool, place = runtime.tools.get("Bash"), runtime.place
            if tool is None:
                text = COMMAND_REFUSED.format(written, "the Bash tool is not available")
                raise SkillError(skill.name, arguments, text)
            try:
                proposal = tool.propose({"command": command}, place)
                before = place.granted_rules
                place.granted_rules = (*before, *select_valid_rules(skill.allowed))
                try:
                    ruling = await runtime.permissions.check(proposal, "")
                finally:
                    place.granted_rules = before
                if not ruling.is_allowed:
                    text = COMMAND_REFUSED.format(written, ruling.message)
                    raise SkillError(skill.name, arguments, text)
                outcome = await tool.run(ruling.proposal, place, lambda data: None)
            except ToolError as error:
                outcome = error.outcome
            words = outcome.text
            if outcome.is_error:
                text = re.sub(r"\AExit code \d+\n?", "", words)
                raise SkillError(skill.name, arguments, COMMAND_FAILED.format(written, text))
            return words

        content = await expand_skill(skill, arguments, runtime.writer.session, run)
        return Expansion(skill.name, arguments, content, skill.allowed, skill.model)


def log_command_prompt(expansion: Expansion, runtime: Runtime) -> str:
    """Log a command in place of a prompt, with its expansion; return its message."""
    uuid = runtime.writer.custom_command(expansion.name, expansion.arguments, expansion.content)
    _grant(expansion, runtime)
    return uuid


def log_skill_result(expansion: Expansion, call: str, runtime: Runtime) -> None:
    """Log the text of a skill that the model used."""
    runtime.writer.expansion(expansion.content, call=call, **runtime.writer.companion)
    if runtime.attachments:
        runtime.attachments.write_for_skill(expansion.content)
    log_permissions(expansion, runtime.writer, is_of_turn=True)
    _grant(expansion, runtime)


def log_permissions(expansion: Expansion, writer: SessionWriter, *, is_of_turn: bool) -> None:
    """Log the permissions of a command; the older format has no line for them."""
    if writer.setting.is_older:
        return
    model = {"model": expansion.model} if expansion.model else {}
    fields = {"type": "command_permissions", "allowedTools": [*expansion.allowed], **model}
    writer.attachment(fields, is_of_turn=is_of_turn)


def log_failure(error: SkillError, runtime: Runtime) -> str:
    """Log a command that could not be expanded; return the message for the user."""
    if runtime.writer.is_unseen and not runtime.writer.setting.is_older:
        runtime.writer.queue("enqueue", f"/{error.name} {error.arguments}".strip())
        runtime.writer.queue("dequeue")
    runtime.writer.command(error.name, error.arguments, error.text, is_failed=True)
    return error.text


@contextmanager
def use_model(model: str | None, runtime: Runtime) -> Iterator[None]:
    """Switch to the model that a command names."""
    requests = runtime.requests
    if model is None:
        yield
        return
    before, requests.model = requests.model, resolve_alias(model)
    try:
        yield
    finally:
        requests.model = before


def _grant(expansion: Expansion, runtime: Runtime) -> None:
    runtime.place.granted_rules = (
        *runtime.place.granted_rules,
        *select_valid_rules(expansion.allowed),
    )
    place = expansion.name.partition(":")
    plugin = {"attributionPlugin": place[0]} if place[1] else {}
    runtime.writer.attribution = {"attributionSkill": expansion.name, **plugin}


USER_ONLY = (
    "Skill {0} cannot be used with Skill tool due to disable-model-invocation. Ask the user to run"
    " /{0} themselves — it cannot be invoked via the Skill tool. Do not replicate this skill's"
    " workflow by other means — it is reserved for explicit user invocation."
)


@dataclass(frozen=True)
class SkillTool(BuiltInTool):
    """The tool that runs a skill."""

    skills: SessionSkills
    name = "Skill"
    description = (
        "Loads a skill: the user's instructions for a certain kind of task. The available skills are"
        " listed in the conversation. If one fits the request, call this first; the result contains"
        " its instructions."
    )
    fields = (
        Field("skill", "string", "Name of a listed skill", is_required=True),
        Field("args", "string", "Arguments for the skill, if any"),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        name = str(proposal.arguments["skill"]).removeprefix("/")
        skill = self.skills.find(name)
        if skill is None:
            text = f"Unknown skill: {name}."
            like = get_close_matches(name, self.skills.skills, 1, 0.5)
            raise ToolError((f"{text} Did you mean {like[0]}?" if like else text), is_misuse=True)
        if not skill.is_for_model:
            raise ToolError(USER_ONLY.format(skill.name), is_misuse=True)
        effect: Effect = "none" if skill.is_text_only else "execute"
        arguments = {**proposal.arguments, "skill": name}
        return replace(proposal, arguments=arguments, effect=effect, title=name)

    async def run_in_session(self, proposal: Proposal, call: str, runtime: Runtime) -> Outcome:
        """Expand the skill; its text is sent after the result."""
        skill = self.skills.find(str(proposal.arguments["skill"]))
        if skill is None:
            raise ToolError("The skill no longer exists.")
        try:
            arguments = str(proposal.arguments.get("args", ""))
            expansion = await self.skills.expand_skill(skill, arguments, runtime)
        except SkillError as error:
            raise ToolError(error.text) from None
        output: dict[str, Any] = {"success": True, "commandName": skill.name}
        if skill.allowed:
            output["allowedTools"] = [*skill.allowed]
        return Outcome(f"Launching skill: {skill.name}", output, expansion=expansion)


LISTING_TYPE = "skill_listing"


def list_model_skills(skills: Mapping[str, Skill]) -> list[Skill]:
    """Return the skills that the model may use."""
    return [skill for skill in skills.values() if skill.is_for_model]


def render_listing(skills: Sequence[Skill]) -> str:
    """Return a list of skills as text for the model."""
    return wrap_reminder(SKILLS.format(content="\n".join(skill.listing_line for skill in skills)))


class SkillListing:
    """Sends a session the list of skills."""

    def __init__(self, writer: SessionWriter, context: LiveContext, skills: SessionSkills) -> None:
        self._writer = writer
        self._context = context
        self._skills = skills
        self._written: tuple[str | None, list[str]] = (None, [])
        """The message after which they were listed, and the list."""

    def write(self) -> None:
        """Write the list with a prompt, unless the model knows it."""
        skills = list_model_skills(self._skills.skills)
        seen = (self._context.records[0].uuid, [_compute_digest(skill) for skill in skills])
        if self._writer.setting.is_older or not skills or seen == self._written:
            return
        self._written = seen
        known: dict[str, str] = {}
        for attachment in self._context.iter_attachments(LISTING_TYPE):
            names, digests = attachment.get("names") or (), attachment.get("digests") or ()
            known |= dict(zip(names, digests, strict=False))
        fresh = [skill for skill in skills if known.get(skill.name) != _compute_digest(skill)]
        if fresh:
            self._writer.attachment(
                {
                    "type": LISTING_TYPE,
                    "content": "\n".join(skill.listing_line for skill in fresh),
                    "skillCount": len(fresh),
                    "isInitial": (not known),
                    "names": [skill.name for skill in fresh],
                    "digests": [_compute_digest(skill) for skill in fresh],
                },
                render_listing(fresh),
                role="system",
            )


def _compute_digest(skill: Skill) -> str:
    return sha256(skill.listing_line.encode()).hexdigest()[:16]
