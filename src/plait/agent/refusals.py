"""Answers that safeguards stopped to what the model and the person are told of it.

The model is told once and may go on; where it is stopped again, the turn is over. As 2.1.29 is
described nobody is told anything: the turn is over.
"""

import re

from plait.agent.answering import Answer
from plait.write import SessionWriter

FAMILY = re.compile(r"claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?!\d)")
NOTED = "{}'s safeguards stopped the response above · continuing once with that noted"
TOLD = (
    "Your response above was stopped by a safety classifier — this is not a tool or API error. The"
    " rest of it was withheld, and tool calls in it that had not finished did not run. Do not"
    " produce that content again, even reworded."
)
NOT_RUN = (
    "<tool_use_error>Not run: the response was stopped by a safety classifier</tool_use_error>"
)
OVER = (
    "API Error: {name}'s safeguards flagged this message (https://www.anthropic.com/legal/aup)."
    " This sometimes happens with safe, normal conversations. Claude Code can't respond to this"
    " message with {name}.\n\nTry rephrasing the request in a new session or change your model.\n\n"
    "Learn more: https://support.claude.com/en/articles/8106465\n\nRequest ID: {request}\n\n"
    "Message ID: {message}"
)


def tell_once(writer: SessionWriter, answer: Answer) -> None:
    """Logs that an answer was stopped, in words for the person and for the model."""
    answer_calls(writer, answer)
    notice = NOTED.format(display_name(answer.model))
    writer.system("informational", content=notice, level="notice")
    writer.note(TOLD, refused_message_id=answer.message)


def give_up(writer: SessionWriter, answer: Answer) -> str:
    """Logs that there is no answer, and returns what the person is told."""
    answer_calls(writer, answer)
    name = display_name(answer.model)
    text = OVER.format(name=name, request=answer.request, message=answer.message)
    writer.system(
        "model_refusal_no_fallback", original_model=answer.model, request_id=answer.request
    )
    writer.api_error(
        text,
        error="invalid_request",
        request=answer.request,
        stop_reason="refusal",
        refused_message_id=answer.message,
        refusing_model=answer.model,
    )
    return text


def display_name(model: str) -> str:
    """Returns a model's name as people say it."""
    found = FAMILY.search(model)
    if found is None:
        return model
    return f"{found[1].capitalize()} {'.'.join(filter(None, found.groups()[1:]))}"


def answer_calls(writer: SessionWriter, answer: Answer) -> None:
    """Logs that the calls of an answer were not done."""
    for call in answer.calls:
        if call["id"] in writer.waiting_calls:
            writer.result(call["id"], NOT_RUN, is_error=True)
