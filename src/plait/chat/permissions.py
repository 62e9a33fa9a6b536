"""Permission checks of tool calls: by rules, by mode, by asking the user.

                     default   acceptEdits   plan    dontAsk   bypassPermissions
    read inside      allow     allow         allow   allow     allow
    read outside     ask       ask           ask     deny      allow
    write inside     ask       allow         deny    deny      allow
    write outside    ask       ask           deny    deny      allow
    command, network ask       ask           ask     deny      allow

Read-only commands count as reads inside. Rules come before the mode, and what they deny stays
denied in every mode. If nobody can be asked, the call is denied.

Files that make programs run something (configuration of git, shells, editors and package managers)
need approval in acceptEdits mode too: permission to edit files is not permission to run things.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plait.chat.approval import Approval, Approver, Mode, Verdict
from plait.chat.hooks import HookEffect
from plait.chat.rules import (
    READ_TOOLS,
    WRITE_TOOLS,
    Rule,
    find_allow_rule,
    find_deny_rule,
    get_host,
    parse_rule,
    parse_rules,
    suggest_permissions,
    suggest_rules,
)
from plait.chat.runtime import Ruling
from plait.chat.session_hooks import SessionHooks, make_refusal
from plait.chat.tools.base import Proposal, Tool, ToolError, Workplace
from plait.chat.tools.commands import is_safe_command
from plait.write import SessionWriter
from plait.write.transcript import REJECTED

FOLDERS = frozenset(".cargo .claude .devcontainer .git .husky .idea .vscode .yarn".split())
FILES = frozenset(
    """
    .bash_aliases .bash_login .bash_logout .bash_profile .bashrc .claude.json .envrc .gitconfig
    .gitmodules .mcp.json .npmrc .pre-commit-config.yaml .profile .ripgreprc .yarnrc .yarnrc.yml
    .zlogin .zlogout .zprofile .zshenv .zshrc
    """.split()
)


BY_MODE = {"reasonType": "mode"}
BY_READ_ONLY = {"reasonType": "subcommandResults"}
USER_SOURCES = ("userSettings", "localSettings")
"""Sources of the user's own rules."""
REJECTED_START = REJECTED.partition(" STOP")[0]
REJECTED_WITH_FEEDBACK = f"{REJECTED_START} To tell you how to proceed, the user said:\n{{}}"
NOT_GRANTED = "Claude requested permissions to {}, but you haven't granted it yet."
SENSITIVE = "Claude requested permissions to edit {} which is a sensitive file."
NEEDS_APPROVAL = "This command requires approval"
IN_PLAN_MODE = "Cannot write to {} while in plan mode."
DENIED = "Permission to use {} has been denied."
DENIED_FILE = "File is in a directory that is denied by your permission settings."
UNREADABLE = (
    "File is covered by a Read deny rule in your permission settings and cannot be written."
)
DENIED_HOST = "{} denied access to domain:{}."
NOT_ASKED = (
    "Permission to use {} has been denied because Claude Code is running in don't ask mode."
    " IMPORTANT: You *may* attempt to accomplish this action using other tools that might naturally"
    " be used to accomplish this goal, e.g. using head instead of cat. But you *should not* attempt"
    " to work around this denial in malicious ways, e.g. do not use your ability to run tests to"
    " execute non-test actions. You should only try to work around this restriction in reasonable"
    " ways that do not attempt to bypass the intent behind this denial. If you believe this"
    " capability is essential to complete the user's request, STOP and explain to the user what you"
    " were trying to do and why you need this permission. Let the user decide how to proceed."
)
REMINDER_DELAY = 6.0
"""Seconds before hooks are told that the user is being waited for."""
REJECTED_OUTPUT = "User rejected tool use"
BY_USER, BY_POLICY = "user-rejected", "permission-rule"
MISUSE_KIND = "misuse"
"""Denial kind that is not logged: the client treats such calls as invalid."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about a call."""

    verdict: Verdict
    reason: str = ""
    """The reason for a denial, as the model gets it."""
    log_fields: Mapping[str, str] = field(default_factory=dict)
    """The log's `permissionDecision`."""
    denial_kind: str = ""
    """The kind of denial in the log; empty if nobody could be asked."""


@dataclass(slots=True)
class SessionPermissions:
    """Decides what a session may do, and remembers what the user allowed."""

    writer: SessionWriter
    place: Workplace
    mode: Mode = "default"
    approver: Approver | None = None
    tools: Mapping[str, Tool] = field(default_factory=dict)
    allow_rules: Sequence[Rule] = ()
    deny_rules: Sequence[Rule] = ()
    ask_rules: Sequence[Rule] = ()
    """Rules whose calls need approval in every mode."""
    hooks: SessionHooks | None = None
    save_rules: Callable[[Sequence[str]], None] | None = None
    """Saves rules that the user allows permanently."""
    _grants: set[tuple[str, str]] = field(default_factory=set)

    def set_mode(self, mode: Mode) -> None:
        """Switch to another mode and log it."""
        self.mode = mode
        if self.writer.setting.is_older:
            self.writer.setting.permission_mode = mode
        else:
            self.writer.permission_mode(mode)

    def describe(self) -> list[str]:
        """Return the mode and all rules as text."""
        kinds = (("allow", self._allow_rules), ("ask", self.ask_rules), ("deny", self.deny_rules))
        lines = [
            f"{kind:<6} {rule.text}  ({rule.source})" for kind, rules in kinds for rule in rules
        ]
        return [f"mode   {self.mode}", *lines]

    async def check(
        self, proposal: Proposal, call: str, effect: HookEffect | None = None
    ) -> Ruling:
        """Decide on a call, with the advice of hooks; this may wait for the user."""
        decision = self.decide(proposal)
        if effect and effect.verdict in ("allow", "ask"):
            decision = self._with_advice(decision, effect, proposal)
        if decision.verdict == "allow":
            return self._make_allowed(proposal, {"source": "config", **decision.log_fields})
        if decision.verdict == "ask" and (found := await self._ask(proposal, call, decision)):
            return found
        kind = decision.denial_kind or BY_USER
        fields = {"decision": "reject", "source": "config", **decision.log_fields}
        if kind == MISUSE_KIND:
            error = ToolError(decision.reason, is_misuse=True).outcome
            return Ruling(
                False, proposal, str(error.content), error.output, self._fields({}, fields)
            )
        return self._make_denied(proposal, decision.reason, {"tool_denial_kind": kind}, fields)

    def _with_advice(self, decision: Decision, effect: HookEffect, proposal: Proposal) -> Decision:
        """Return the decision that hooks advise; rules that deny or ask still win."""
        is_ruled = decision.verdict == "deny" or "ruleSource" in decision.log_fields
        if is_ruled and decision.verdict != "allow":
            return decision
        if effect.verdict == "allow":
            return Decision("allow", log_fields={"source": "hook", "reasonType": "hook"})
        if self.mode == "dontAsk":
            return _deny_unasked(proposal)
        reason = effect.reason or _describe_missing_grant(proposal)
        return Decision("ask", reason, {"reasonCode": "hook:PreToolUse"})

    async def _ask(self, proposal: Proposal, call: str, decision: Decision) -> Ruling | None:
        """Ask hooks, then the user; None if there is nobody."""
        code = {name: value for name, value in decision.log_fields.items() if name == "reasonCode"}
        if self.hooks and (found := await self._run_request_hooks(proposal, call, code)):
            return found
        if self.approver is None:
            return None
        waiting = asyncio.ensure_future(self._notify_waiting()) if self.hooks else None
        try:
            answer = await self.approver.ask(proposal, call)
            if not answer.is_allowed:
                return self._make_rejected(proposal, answer, code)
            meant = proposal
            try:
                if answer.arguments is not None:  # the user's changes are checked again
                    meant = self.tools[proposal.tool].propose(answer.arguments, self.place)
                    meant = replace(meant, is_user_modified=True)
            except ToolError as error:
                details, output = error.outcome.content, error.outcome.output
                return Ruling(False, proposal, str(details), output)
            if answer.is_permanent and (rules := suggest_rules(meant)):
                kept = [parse_rule(text, "localSettings", self.place.root) for text in rules]
                self.allow_rules = [*self.allow_rules, *kept]
                if self.save_rules:
                    self.save_rules(rules)
                return self._make_allowed(meant, {"source": "user_permanent", **code})
            if answer.is_for_session:
                if meant.effect == "write" and self._is_ordinary(meant):
                    self.set_mode("acceptEdits")
                else:
                    self._grants.add(self._grant_key(meant))
            scope = {"grantScope": "session" if answer.is_for_session else "once"}
            return self._make_allowed(meant, {"source": "user_temporary", **scope, **code})
        finally:
            if waiting:
                waiting.cancel()
                await asyncio.wait([waiting])  # this also stops a running hook

    async def _notify_waiting(self) -> None:
        """Run the notification hooks if the user takes a while to answer."""
        await asyncio.sleep(REMINDER_DELAY)
        if self.hooks:
            fields = {
                "message": "Claude needs your permission",
                "notification_type": "permission_prompt",
            }
            await self.hooks.fire("Notification", "permission_prompt", fields)

    async def _run_request_hooks(
        self, proposal: Proposal, call: str, code: Mapping[str, str]
    ) -> Ruling | None:
        """Return the decision of PermissionRequest hooks; None if they make none."""
        if self.hooks is None or not self.hooks.has("PermissionRequest"):
            return None
        effect = await self.hooks.fire_permission_request(
            call, proposal, suggest_permissions(proposal)
        )
        is_older = self.writer.setting.is_older
        if effect.verdict == "allow":
            return self._make_allowed(proposal, {"source": "hook", "reasonType": "hook", **code})
        if effect.verdict == "deny":
            text = effect.reason or DENIED.format(_describe_call(proposal))
            stops = any(hook_output.ends_turn for hook_output in effect.outputs)
            return make_refusal(
                proposal, text, "PermissionRequest", is_older=is_older, ends_turn=stops
            )
        return None

    def decide(self, proposal: Proposal) -> Decision:
        """Return the decision of rules and mode, and the message if nobody can be asked."""
        if found := find_deny_rule(self.deny_rules, proposal, self.place):
            source, is_by_step = found.rule.source, found.is_by_step
            log_fields = {
                **({"source": "user_reject"} if source in USER_SOURCES and not is_by_step else {}),
                "reasonType": "subcommandResults" if is_by_step else "rule",
                "ruleSource": source,
                "reasonCode": f"rule:{source}",
            }
            if proposal.tool in WRITE_TOOLS | READ_TOOLS and found.rule.is_about_files:
                is_hidden = found.rule.tool == "Read" and proposal.tool in WRITE_TOOLS
                reason = UNREADABLE if is_hidden else DENIED_FILE
                return Decision("deny", reason, log_fields, MISUSE_KIND)
            reason = DENIED.format(_describe_call(proposal))
            if found.rule.specifier and found.rule.specifier.startswith("domain:"):
                reason = DENIED_HOST.format(proposal.tool, get_host(proposal))
            return Decision("deny", reason, log_fields, BY_POLICY)
        if prompt := find_deny_rule(self.ask_rules, proposal, self.place, looks=False):
            if self.mode == "dontAsk":
                return _deny_unasked(proposal)
            why = {"ruleSource": prompt.rule.source, "reasonCode": f"rule:{prompt.rule.source}"}
            return Decision("ask", _describe_missing_grant(proposal), why)
        if self.mode == "bypassPermissions":
            return Decision("allow", log_fields=BY_MODE)
        if self.mode == "plan" and proposal.effect == "write":
            reason = IN_PLAN_MODE.format(_describe_subject(proposal))
            return Decision("deny", reason, {"reasonCode": "mode:plan"})
        if granted := self._find_grant(proposal):
            return granted
        if self.mode == "dontAsk":
            return _deny_unasked(proposal)
        reason, code = _describe_missing_grant(proposal), "unknown"
        if proposal.tool == "Bash":
            reason, code = NEEDS_APPROVAL, "bashMiss:no-rule-match"
        elif self._is_sensitive(proposal):
            reason, code = SENSITIVE.format(_describe_subject(proposal)), "safetyCheck"
        elif proposal.paths and not self._is_inside(proposal):
            code = "workingDir"
        return Decision("ask", reason, {"reasonCode": code})

    @property
    def _allow_rules(self) -> Sequence[Rule]:
        """The rules that allow something, including those of the running skill or command."""
        lent = (replace(rule, source="command") for rule in parse_rules(self.place.granted_rules))
        return (*self.allow_rules, *lent)

    def _find_grant(self, proposal: Proposal) -> Decision | None:
        # commands could read files that rules hide
        may_look = not any(rule.tool == "Read" and rule.specifier for rule in self.deny_rules)
        if found := find_allow_rule(self._allow_rules, proposal, self.place, may_look=may_look):
            if found.is_by_step:
                return Decision("allow", log_fields=BY_READ_ONLY)
            source = {"source": "user_permanent"} if found.rule.source in USER_SOURCES else {}
            return Decision(
                "allow",
                log_fields={**source, "reasonType": "rule", "ruleSource": found.rule.source},
            )
        if self._grant_key(proposal) in self._grants:
            return Decision("allow", log_fields={"reasonType": "rule", "ruleSource": "session"})
        match proposal.effect:
            case "none":
                return Decision("allow")
            case "read" if all(map(self.place.is_readable, proposal.paths)):
                return Decision("allow", log_fields=BY_MODE)
            case "write" if self.mode == "acceptEdits" and self._is_ordinary(proposal):
                return Decision("allow", log_fields=BY_MODE)
            case "execute" if may_look and is_safe_command(
                str(proposal.arguments.get("command", "")), self.place
            ):
                return Decision("allow", log_fields=BY_READ_ONLY)
        return None

    def _is_inside(self, proposal: Proposal) -> bool:
        return bool(proposal.paths) and all(map(self.place.contains, proposal.paths))

    def _is_sensitive(self, proposal: Proposal) -> bool:
        """Return whether a change inside the workspace may run something."""
        if proposal.effect != "write" or not self._is_inside(proposal):
            return False
        for path in proposal.paths:
            for folder in (self.place.root, *self.place.extra_directories):
                if path.is_relative_to(folder):
                    # case is ignored because some disks ignore it
                    parts = [part.casefold() for part in path.relative_to(folder).parts]
                    if not FOLDERS.isdisjoint(parts) or (parts and parts[-1] in FILES):
                        return True
        return False

    def _is_ordinary(self, proposal: Proposal) -> bool:
        """Return whether a call only changes ordinary files of the workspace."""
        return self._is_inside(proposal) and not self._is_sensitive(proposal)

    def _grant_key(self, proposal: Proposal) -> tuple[str, str]:
        """Return the key for similar calls: the same command, folder or host."""
        match proposal.effect:
            case "execute":
                return proposal.tool, str(proposal.arguments.get("command", proposal.title))
            case "network":
                return proposal.tool, get_host(proposal) or proposal.title
            case "read" | "write" if proposal.paths:
                return proposal.effect, "\n".join(str(path.parent) for path in proposal.paths)
        return proposal.tool, ""

    def _make_allowed(self, proposal: Proposal, why: Mapping[str, Any]) -> Ruling:
        return Ruling(True, proposal, fields=self._fields({}, {"decision": "accept", **why}))

    def _make_rejected(
        self, proposal: Proposal, answer: Approval, code: Mapping[str, Any]
    ) -> Ruling:
        """Return the user's rejection: with feedback the model continues, without it stops."""
        if not answer.feedback.strip():
            fields = self._fields({"tool_denial_kind": BY_USER}, {})
            return Ruling(False, proposal, REJECTED, REJECTED_OUTPUT, fields, ends_turn=True)
        entry = {"decision": "reject", "source": "user_reject", **code}
        if answer.is_verbatim:
            marks = {"tool_denial_kind": BY_POLICY, "holds_persons_words": True}
            return self._make_denied(proposal, answer.feedback, marks, entry)
        fields = {
            "tool_denial_kind": BY_USER,
            "user_feedback": answer.feedback,
            "holds_persons_words": True,
        }
        ruling = self._make_denied(
            proposal, REJECTED_WITH_FEEDBACK.format(answer.feedback), fields, entry
        )
        return replace(ruling, ends_turn=answer.ends_turn)

    def _make_denied(
        self,
        proposal: Proposal,
        reason: str,
        fields: Mapping[str, Any],
        decision: Mapping[str, Any],
    ) -> Ruling:
        return Ruling(False, proposal, reason, f"Error: {reason}", self._fields(fields, decision))

    def _fields(self, fields: Mapping[str, Any], decision: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the log fields of a decision; the older format has none."""
        if self.writer.setting.is_older:
            return {}
        return {**fields, **({"permission_decision": {**decision}} if decision else {})}


def _describe_subject(proposal: Proposal) -> str:
    return ", ".join(map(str, proposal.paths)) or proposal.title


def _describe_missing_grant(proposal: Proposal) -> str:
    verbs = {"write": "write to", "read": "read from"}
    verb = verbs.get(proposal.effect) if proposal.paths else None
    what = f"{verb} {_describe_subject(proposal)}" if verb else f"use {proposal.tool}"
    return NOT_GRANTED.format(what)


def _deny_unasked(proposal: Proposal) -> Decision:
    why = BY_MODE | {"reasonCode": "mode:dontAsk"}
    return Decision("deny", NOT_ASKED.format(proposal.tool), why, BY_POLICY)


def _describe_call(proposal: Proposal) -> str:
    command = proposal.arguments.get("command")
    is_named = proposal.tool == "Bash" and isinstance(command, str)
    return f"Bash with command {command}" if is_named else proposal.tool
