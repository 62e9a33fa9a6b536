"""What a call would do to whether it is done: by rules, by the mode, by asking.

                 default   acceptEdits   plan    dontAsk   bypassPermissions
read inside      allow     allow         allow   allow     allow
read outside     ask       ask           ask     deny      allow
write inside     ask       allow         deny    deny      allow
write outside    ask       ask           deny    deny      allow
command, network ask       ask           ask     deny      allow

Commands that only look are as reads inside. Files that have something run are asked about in
acceptEdits too. Rules go before the mode; what they forbid stays
forbidden in every mode. Where nobody can be asked, the answer is no.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plait.agent.harmless import is_harmless
from plait.agent.hooks import SessionHooks
from plait.agent.hooks.advice import refused
from plait.agent.keeping import permanent_rules, suggestions
from plait.agent.parts import Advice, Ruling
from plait.agent.permission import Answer, Asker, Decision, Mode
from plait.agent.rules import (
    CHANGING,
    LOOKING,
    Match,
    Rule,
    forbidding,
    host_of,
    permitting,
    rule_of,
    rules_of,
)
from plait.agent.sensitive import is_sensitive
from plait.agent.tools.model import Proposal, Tool, ToolError, Workplace
from plait.write import SessionWriter
from plait.write.transcript import REJECTED

BY_MODE = {"reasonType": "mode"}
BY_LOOK = {"reasonType": "subcommandResults"}
OWN = ("userSettings", "localSettings")
"""Where a person's own rules stand."""
NOT_DONE = REJECTED.partition(" STOP")[0]
INSTEAD = f"{NOT_DONE} To tell you how to proceed, the user said:\n{{}}"
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
PATIENCE = 6.0
"""Seconds that a person may take before hooks are told that they are waited for."""
REJECTED_OUTPUT = "User rejected tool use"
BY_USER, BY_POLICY = "user-rejected", "permission-rule"
MISUSE = "misuse"
"""Not told in the log: the call was wrong in itself, as the client sees it."""


@dataclass(slots=True)
class SessionPermissions:
    """Says what may be done in a session, and remembers what a person allowed."""

    writer: SessionWriter
    place: Workplace
    mode: Mode = "default"
    asker: Asker | None = None
    tools: Mapping[str, Tool] = field(default_factory=dict)
    allowed: Sequence[Rule] = ()
    forbidden: Sequence[Rule] = ()
    asked: Sequence[Rule] = ()
    """What is asked about in every mode, whatever else allows it."""
    hooks: SessionHooks | None = None
    keep_rules: Callable[[Sequence[str]], None] | None = None
    """Writes rules that a person allows for good."""
    _granted: set[tuple[str, str]] = field(default_factory=set)

    def switch(self, mode: Mode) -> None:
        """Goes on in another mode; the log says so."""
        self.mode = mode
        if self.writer.setting.is_older:
            self.writer.setting.permission_mode = mode
        else:
            self.writer.permission_mode(mode)

    def lines(self) -> list[str]:
        """Returns the mode and all rules, for a person."""
        kinds = (("allow", self._permissive), ("ask", self.asked), ("deny", self.forbidden))
        told = [
            f"{kind:<6} {rule.text}  ({rule.source})" for kind, rules in kinds for rule in rules
        ]
        return [f"mode   {self.mode}", *told]

    async def rule(self, proposal: Proposal, call: str, advice: Advice | None = None) -> Ruling:
        """Decides on a call; it may take as long as a person takes."""
        decision = self._with_advice(self.decide(proposal), advice, proposal)
        if decision.verdict == "allow":
            return self._allowed(proposal, {"source": "config", **decision.why})
        if decision.verdict == "ask" and (found := await self._asked(proposal, call, decision)):
            return found
        kind = decision.kind or BY_USER
        told = {"decision": "reject", "source": "config", **decision.why}
        if kind == MISUSE:
            error = ToolError(decision.reason, is_misuse=True).outcome
            return Ruling(False, proposal, str(error.content), error.output, self._fields({}, told))
        return self._denied(proposal, decision.reason, {"tool_denial_kind": kind}, told)

    def _with_advice(
        self, decision: Decision, advice: Advice | None, proposal: Proposal
    ) -> Decision:
        """Returns a decision as hooks would have it: no rule that forbids or asks gives way."""
        is_ruled = decision.verdict == "deny" or "ruleSource" in decision.why
        if advice is None or (is_ruled and decision.verdict != "allow"):
            return decision
        if advice.verdict == "allow":
            return Decision("allow", why={"source": "hook", "reasonType": "hook"})
        if self.mode == "dontAsk":
            return _not_asked(proposal)
        reason = advice.reason or _not_granted(proposal)
        return Decision("ask", reason, {"reasonCode": "hook:PreToolUse"})

    async def _asked(self, proposal: Proposal, call: str, decision: Decision) -> Ruling | None:
        """Asks hooks, then a person; None where there is nobody."""
        code = {name: value for name, value in decision.why.items() if name == "reasonCode"}
        if self.hooks and (found := await self._requested(proposal, call, code)):
            return found
        if self.asker is None:
            return None
        waiting = asyncio.ensure_future(self._remind()) if self.hooks else None
        try:
            return self._answered(proposal, await self.asker.ask(proposal, call), code)
        finally:
            if waiting:
                waiting.cancel()
                await asyncio.wait([waiting])  # a hook that runs is ended with it

    async def _remind(self) -> None:
        """Has hooks told that somebody is waited for, once that takes a while."""
        await asyncio.sleep(PATIENCE)
        if self.hooks:
            await self.hooks.notified("Claude needs your permission", "permission_prompt")

    async def _requested(
        self, proposal: Proposal, call: str, code: Mapping[str, str]
    ) -> Ruling | None:
        """Returns what hooks say in a person's place, None where they say nothing."""
        if self.hooks is None or not self.hooks.has("PermissionRequest"):
            return None
        effect = await self.hooks.requested(call, proposal, suggestions(proposal))
        is_older = self.writer.setting.is_older
        if effect.verdict == "allow":
            return self._allowed(proposal, {"source": "hook", "reasonType": "hook", **code})
        if effect.verdict == "deny":
            told = effect.reason or DENIED.format(_named(proposal))
            stops = any(one.interrupts for one in effect.said)
            return refused(proposal, told, "PermissionRequest", is_older=is_older, stops=stops)
        return None

    def decide(self, proposal: Proposal) -> Decision:
        """Returns what rules and mode say of a call, and what is told where nobody is asked."""
        if found := forbidding(self.forbidden, proposal, self.place):
            return _forbidden(found, proposal)
        if asked := forbidding(self.asked, proposal, self.place, looks=False):
            return self._questioned(asked.rule, proposal)
        if self.mode == "bypassPermissions":
            return Decision("allow", why=BY_MODE)
        if self.mode == "plan" and proposal.effect == "write":
            reason = IN_PLAN_MODE.format(_subject(proposal))
            return Decision("deny", reason, {"reasonCode": "mode:plan"})
        if granted := self._granted_by(proposal):
            return granted
        if self.mode == "dontAsk":
            return _not_asked(proposal)
        return Decision("ask", self._not_granted(proposal), {"reasonCode": self._code(proposal)})

    def _questioned(self, rule: Rule, proposal: Proposal) -> Decision:
        """Returns that somebody is to be asked, because a rule says so."""
        if self.mode == "dontAsk":
            return _not_asked(proposal)
        why = {"ruleSource": rule.source, "reasonCode": f"rule:{rule.source}"}
        return Decision("ask", _not_granted(proposal), why)

    @property
    def _permissive(self) -> Sequence[Rule]:
        """The rules that allow something, with those of the command that is followed."""
        lent = (replace(rule, source="command") for rule in rules_of(self.place.lent))
        return (*self.allowed, *lent)

    def _granted_by(self, proposal: Proposal) -> Decision | None:
        may_look = not self._hides
        if found := permitting(self._permissive, proposal, self.place, may_look=may_look):
            return _permitted(found)
        if self._grant(proposal) in self._granted:
            return Decision("allow", why={"reasonType": "rule", "ruleSource": "session"})
        match proposal.effect:
            case "none":
                return Decision("allow")
            case "read" if all(map(self.place.may_read, proposal.paths)):
                return Decision("allow", why=BY_MODE)
            case "write" if self.mode == "acceptEdits" and self._is_ordinary(proposal):
                return Decision("allow", why=BY_MODE)
            case "execute" if self._only_looks(proposal):
                return Decision("allow", why=BY_LOOK)
        return None

    def _only_looks(self, proposal: Proposal) -> bool:
        """Tells whether a command only looks, where nothing is there that may not be looked at."""
        command = str(proposal.arguments.get("command", ""))
        return not self._hides and is_harmless(command, self.place)

    @property
    def _hides(self) -> bool:
        """Whether there are files that may not be read."""
        return any(rule.tool == "Read" and rule.words for rule in self.forbidden)

    def _is_inside(self, proposal: Proposal) -> bool:
        return bool(proposal.paths) and all(map(self.place.holds, proposal.paths))

    def _is_sensitive(self, proposal: Proposal) -> bool:
        """Tells whether a change within the workspace may have something run."""
        if proposal.effect != "write" or not self._is_inside(proposal):
            return False
        folders = (self.place.root, *self.place.others)
        return any(
            is_sensitive(path.relative_to(folder))
            for path in proposal.paths
            for folder in folders
            if path.is_relative_to(folder)
        )

    def _is_ordinary(self, proposal: Proposal) -> bool:
        """Tells whether a call changes files of the workspace that have nothing run."""
        return self._is_inside(proposal) and not self._is_sensitive(proposal)

    def _not_granted(self, proposal: Proposal) -> str:
        """Returns what is told of a call that nobody can be asked about."""
        if self._is_sensitive(proposal):
            return SENSITIVE.format(_subject(proposal))
        return NEEDS_APPROVAL if proposal.tool == "Bash" else _not_granted(proposal)

    def _code(self, proposal: Proposal) -> str:
        if proposal.tool == "Bash":
            return "bashMiss:no-rule-match"
        if self._is_sensitive(proposal):
            return "safetyCheck"
        is_outside = proposal.paths and not self._is_inside(proposal)
        return "workingDir" if is_outside else "unknown"

    def _answered(self, proposal: Proposal, answer: Answer, code: Mapping[str, Any]) -> Ruling:
        if not answer.is_allowed:
            return self._refused(proposal, answer, code)
        try:
            meant = self._changed(proposal, answer)
        except ToolError as error:
            told, output = error.outcome.content, error.outcome.output
            return Ruling(False, proposal, str(told), output)
        if answer.is_permanent and (rules := permanent_rules(meant)):
            self._keep(rules)
            return self._allowed(meant, {"source": "user_permanent", **code})
        if answer.is_for_session:
            self._remember(meant)
        scope = {"grantScope": "session" if answer.is_for_session else "once"}
        return self._allowed(meant, {"source": "user_temporary", **scope, **code})

    def _changed(self, proposal: Proposal, answer: Answer) -> Proposal:
        """Returns a proposal as the person wants it, checked like any other."""
        if answer.arguments is None:
            return proposal
        meant = self.tools[proposal.tool].propose(answer.arguments, self.place)
        return replace(meant, is_changed=True)

    def _keep(self, rules: Sequence[str]) -> None:
        """Allows from now on what rules name, in this session and in those to come."""
        kept = [rule_of(text, "localSettings", self.place.root) for text in rules]
        self.allowed = [*self.allowed, *kept]
        if self.keep_rules:
            self.keep_rules(rules)

    def _remember(self, proposal: Proposal) -> None:
        """Allows the like for the rest of the session; of changes, all ordinary ones here."""
        if proposal.effect == "write" and self._is_ordinary(proposal):
            self.switch("acceptEdits")
        else:
            self._granted.add(self._grant(proposal))

    def _grant(self, proposal: Proposal) -> tuple[str, str]:
        """Returns what is alike: the same command, the same folder, the same host."""
        match proposal.effect:
            case "execute":
                return proposal.tool, str(proposal.arguments.get("command", proposal.title))
            case "network":
                return proposal.tool, host_of(proposal) or proposal.title
            case "read" | "write" if proposal.paths:
                return proposal.effect, "\n".join(str(path.parent) for path in proposal.paths)
        return proposal.tool, ""

    def _allowed(self, proposal: Proposal, why: Mapping[str, Any]) -> Ruling:
        return Ruling(True, proposal, fields=self._fields({}, {"decision": "accept", **why}))

    def _refused(self, proposal: Proposal, answer: Answer, code: Mapping[str, Any]) -> Ruling:
        """Returns the refusal of a person: with words the model goes on, without it stops."""
        if not answer.words.strip():
            fields = self._fields({"tool_denial_kind": BY_USER}, {})
            return Ruling(False, proposal, REJECTED, REJECTED_OUTPUT, fields, stops=True)
        told = {"decision": "reject", "source": "user_reject", **code}
        if answer.is_verbatim:
            marks = {"tool_denial_kind": BY_POLICY, "holds_persons_words": True}
            return self._denied(proposal, answer.words, marks, told)
        beside = {
            "tool_denial_kind": BY_USER,
            "user_feedback": answer.words,
            "holds_persons_words": True,
        }
        ruling = self._denied(proposal, INSTEAD.format(answer.words), beside, told)
        return replace(ruling, stops=answer.stops)

    def _denied(
        self,
        proposal: Proposal,
        reason: str,
        beside: Mapping[str, Any],
        decision: Mapping[str, Any],
    ) -> Ruling:
        return Ruling(False, proposal, reason, f"Error: {reason}", self._fields(beside, decision))

    def _fields(self, beside: Mapping[str, Any], decision: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns what the line of the result says; the older form has none of it."""
        if self.writer.setting.is_older:
            return {}
        return {**beside, **({"permission_decision": {**decision}} if decision else {})}


def _subject(proposal: Proposal) -> str:
    return ", ".join(map(str, proposal.paths)) or proposal.title


def _not_granted(proposal: Proposal) -> str:
    verbs = {"write": "write to", "read": "read from"}
    verb = verbs.get(proposal.effect) if proposal.paths else None
    what = f"{verb} {_subject(proposal)}" if verb else f"use {proposal.tool}"
    return NOT_GRANTED.format(what)


def _not_asked(proposal: Proposal) -> Decision:
    why = BY_MODE | {"reasonCode": "mode:dontAsk"}
    return Decision("deny", NOT_ASKED.format(proposal.tool), why, BY_POLICY)


def _permitted(found: Match) -> Decision:
    """Returns that a rule allows a call; of the steps of a command the log names none."""
    if found.is_by_parts:
        return Decision("allow", why=BY_LOOK)
    source = {"source": "user_permanent"} if found.rule.source in OWN else {}
    return Decision("allow", why={**source, "reasonType": "rule", "ruleSource": found.rule.source})


def _forbidden(found: Match, proposal: Proposal) -> Decision:
    """Returns that a rule forbids a call, in the words that there are for it."""
    source = found.rule.source
    kind = "subcommandResults" if found.is_by_parts else "rule"
    own = {"source": "user_reject"} if source in OWN and not found.is_by_parts else {}
    why = {**own, "reasonType": kind, "ruleSource": source, "reasonCode": f"rule:{source}"}
    if proposal.tool in CHANGING | LOOKING and found.rule.is_about_files:
        is_hidden = found.rule.tool == "Read" and proposal.tool in CHANGING
        return Decision("deny", UNREADABLE if is_hidden else DENIED_FILE, why, MISUSE)
    if found.rule.words and found.rule.words.startswith("domain:"):
        told = DENIED_HOST.format(proposal.tool, host_of(proposal))
        return Decision("deny", told, why, BY_POLICY)
    return Decision("deny", DENIED.format(_named(proposal)), why, BY_POLICY)


def _named(proposal: Proposal) -> str:
    command = proposal.arguments.get("command")
    is_told = proposal.tool == "Bash" and isinstance(command, str)
    return f"Bash with command {command}" if is_told else proposal.tool
