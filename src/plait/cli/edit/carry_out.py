"""A plan to what becomes of it: checked, applied where that is meant, told, proved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from plait.cli.options import Request, global_options, grouped, json_option
from plait.errors import PlaitError, Refused, UserError

if TYPE_CHECKING:
    from plait.archive import Session
    from plait.cli.prove import Proof
    from plait.edit.model import Plan
    from plait.view.edits import EditReport

F = TypeVar("F", bound=Callable[..., Any])
MOST_REFUSED = 5


@dataclass(frozen=True, slots=True)
class Manner:
    """How an edit is to be carried out."""

    is_dry: bool = False
    is_sure: bool = False
    is_forced: bool = False
    as_json: bool = False
    is_proved: bool = False
    needs_yes: bool = False
    """What is there now would be replaced: shown first, done when somebody says so."""

    @property
    def is_done(self) -> bool:
        """Tells whether more than a plan is wanted."""
        return not self.is_dry and (self.is_sure or not self.needs_yes)


_options = grouped(
    click.option("--dry-run", "is_dry", is_flag=True, help="Show the plan; change nothing."),
    click.option("--yes", "is_sure", is_flag=True, help="Do it without asking to say so."),
    click.option("--force", "is_forced", is_flag=True, help="Even while a client runs it."),
    json_option,
    global_options,
)
_prove = click.option(
    "--prove", "is_proved", is_flag=True, help="Resume the result with your `claude`, offline."
)
in_place_option = click.option(
    "--in-place",
    "in_place",
    is_flag=True,
    help="Replace the session itself; shows the plan until you say `--yes`.",
)


def edit_options(function: F) -> F:
    """Adds the options of every edit, gathered as its manner."""
    return _options(_prove(_gathered(function)))


def removal_options(function: F) -> F:
    """Adds the options of every edit after which there is nothing to resume."""
    return _options(_gathered(function))


def _gathered(function: F) -> F:
    @wraps(function)
    def wrapped(
        *args: Any,
        is_dry: bool,
        is_sure: bool,
        is_forced: bool,
        as_json: bool,
        is_proved: bool = False,
        **kwargs: Any,
    ) -> Any:
        if is_proved and is_dry:
            raise UserError("`--prove` resumes what was written: leave out `--dry-run`")
        needs_yes = bool(kwargs.get("in_place"))
        manner = Manner(is_dry, is_sure, is_forced, as_json, is_proved, needs_yes)
        return function(*args, manner=manner, **kwargs)

    return wrapped  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one plan: a report, or why there is none."""

    session: str
    report: "EditReport | None" = None
    proof: "Proof | None" = None
    error: PlaitError | None = None

    @property
    def refusal(self) -> PlaitError | None:
        """Why it was not done, or not done well; None where nothing speaks against it."""
        if self.error or self.report is None:
            return self.error
        if self.proof and not self.proof.is_good:
            return Refused("the proof failed", f"`plait undo {self.report.undo}` takes it back")
        if not self.report.violations:
            return None
        from plait.view.edits import broken_words

        operation, rules = self.report.operation, broken_words(self.report)
        hint = f"`plait check {self.report.source[:8]}` says what was wrong before"
        return Refused(f"refusing to {operation}: {rules}", hint)

    def as_object(self) -> dict[str, Any]:
        """Returns it as it stands in JSON."""
        from msgspec import to_builtins

        if self.report is None:
            error = self.error
            told = {"error": error.message, "hints": list(error.hints)} if error else {}
            return {"session": self.session, "applied": False, **told}
        proof = {"proof": to_builtins(self.proof)} if self.proof else {}
        return {**to_builtins(self.report), **proof}


def carry_out(request: Request, session: "Session", plan: "Plan", manner: Manner) -> None:
    """Carries out one plan and tells it; raises where it is refused."""
    # what is deleted is called what it was called
    before = None if manner.as_json or plan.after.lines else request.archive.facts(session)
    outcome = _outcome(request, plan, manner)

    def heading() -> None:
        request.output.heading(before or request.archive.facts(session))

    _tell(request, outcome, manner, heading)


def carry_out_as(request: Request, name: str, plan: "Plan", manner: Manner) -> None:
    """Carries out one plan that is of no single session, under a name."""
    from plait.cli.text import safe_line

    def heading() -> None:
        request.output.print(safe_line(name), style="bold")
        request.output.print("")

    _tell(request, _outcome(request, plan, manner), manner, heading)


def _tell(request: Request, outcome: Outcome, manner: Manner, heading: Callable[[], None]) -> None:
    if manner.as_json:
        request.output.json(outcome.as_object())
    else:
        from plait.cli.edit.told import print_outcome

        heading()
        print_outcome(request, outcome, manner)
    if outcome.refusal:
        raise outcome.refusal


def carry_out_all(
    request: Request,
    sessions: Sequence["Session"],
    plan_of: Callable[["Session"], "Plan"],
    manner: Manner,
) -> None:
    """Carries out a plan for each session; one that is refused does not keep the others."""
    watched = request.output.progress(sessions, "planning")
    outcomes = [_tried(request, session, plan_of, manner) for session in watched]
    if manner.as_json:
        request.output.json([one.as_object() for one in outcomes])
    else:
        from plait.cli.edit.told import print_outcomes

        print_outcomes(request, outcomes, manner)
    refused = [one for one in outcomes if one.refusal]
    if refused:
        names = ", ".join(one.session[:8] for one in refused[:MOST_REFUSED])
        raise Refused(f"{len(refused)} of {len(outcomes)} sessions were refused: {names}")


def _tried(
    request: Request, session: "Session", plan_of: Callable[["Session"], "Plan"], manner: Manner
) -> Outcome:
    try:
        return _outcome(request, plan_of(session), manner)
    except PlaitError as error:
        return Outcome(session.id, error=error)


def _outcome(request: Request, plan: "Plan", manner: Manner) -> Outcome:
    from plait.archive import report_of

    violations = plan.check()
    is_done = manner.is_done and bool(plan.steps) and not violations
    edit = plan.apply(force=manner.is_forced) if is_done else None
    report = report_of(plan, violations, edit)
    proof = None
    if edit and manner.is_proved:
        from plait.cli.prove import proved

        proof = proved(request.archive.renewed().session_at(plan.path), request.settings.claude)
    return Outcome(plan.source.id, report, proof)
