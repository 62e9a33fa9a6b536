"""A fault of the model to what the person is told and what the log says of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plait.agent.streaming import ModelFault
from plait.write import SessionWriter

TOO_LONG = "prompt is too long"
NO_CREDIT = "credit balance is too low"
SERVER_SIDE = (
    "API Error: {}. This is a server-side issue, usually temporary — try again in a moment. If it"
    " persists, check {}."
)
STATUS_PAGE = "https://status.claude.com"
NO_MODEL = (
    "There's an issue with the selected model ({}). It may not exist or you may not have access to"
    " it. Run --model to pick a different model."
)
TOO_LARGE = (
    "Request too large (max 32MB). Accumulated images and attachments in the conversation pushed"
    " the request over the limit. Remove older images or compact the conversation."
)
CONNECTION = "connection"
NO_ROOM = "no_room"
"""There is more to read than the model can, and nothing sums it up."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a fault."""

    text: str
    error: str = "unknown"
    fields: Mapping[str, Any] = field(default_factory=dict)


def is_too_long(fault: ModelFault) -> bool:
    """Tells whether there was more to read than the model can."""
    return fault.status == 413 or (fault.status == 400 and TOO_LONG in fault.text.lower())


def told_of(fault: ModelFault, model: str) -> Told:
    """Returns the words of the client for a fault."""
    if fault.kind == NO_ROOM:
        return Told(fault.text, "invalid_request")
    match fault.status:
        case None:
            failed = {"api_error": "connection_failed"} if fault.kind == CONNECTION else {}
            return Told(f"API Error: {fault.text}", "server_error", failed)
        case 400:
            return _told_of_a_bad_request(fault)
        case 401:
            return Told("Invalid API key · Fix external API key", "authentication_failed")
        case 403:
            words = f"Failed to authenticate. API Error: 403 {fault.text}"
            return Told(words, "authentication_failed")
        case 404:
            return Told(NO_MODEL.format(model), "model_not_found")
        case 413:
            details = {"error_details": f"request_too_large: {fault.body or fault.text}"}
            return Told(TOO_LARGE, "invalid_request", details)
        case 429:
            words = f"API Error: Request rejected (429) · {fault.text}"
            return Told(words, "rate_limit", {"api_error_is_transient": False})
        case status if status >= 500:
            place = fault.gateway or STATUS_PAGE
            return Told(SERVER_SIDE.format(formatted(fault), place), "server_error")
        case _:
            return Told(f"API Error: {formatted(fault)}")


def _told_of_a_bad_request(fault: ModelFault) -> Told:
    is_incurable = {"resend_cannot_cure": True}
    if is_too_long(fault):
        details = {"error_details": fault.body or formatted(fault)}
        return Told("Prompt is too long", "invalid_request", details | is_incurable)
    if NO_CREDIT in fault.text.lower():
        return Told("Credit balance is too low", "billing_error", is_incurable)
    return Told(f"API Error: {formatted(fault)}")


def formatted(fault: ModelFault) -> str:
    """Returns a fault in a line: its status and what the server said."""
    return f"{fault.status} {fault.text}" if fault.status else fault.text


def log_fault(writer: SessionWriter, fault: ModelFault, model: str) -> str:
    """Logs a fault in the place of an answer, and returns its words."""
    told = told_of(fault, model)
    if writer.setting.is_older:
        writer.api_error(told.text, error=told.error, request=fault.request)
        return told.text
    fields: dict[str, Any] = {"failed_response_had_no_tool_call": True, **told.fields}
    if fault.status:
        fields |= {"api_error_status": fault.status, "api_error_type": fault.kind}
    writer.api_error(told.text, error=told.error, request=fault.request, **fields)
    return told.text


def log_retry(
    writer: SessionWriter, fault: ModelFault, attempt: int, most: int, seconds: float
) -> None:
    """Logs a retry, as the client does where nobody sits at the terminal."""
    if writer.setting.entrypoint == "cli":
        return
    named = {"status": fault.status, "requestId": fault.request} if fault.status else {}
    is_cut = fault.kind == CONNECTION and not fault.is_network_down
    error = {
        "message": fault.body or formatted(fault),
        **named,
        "formatted": formatted(fault),
        "connection": fault.connection,
        "isNetworkDown": fault.is_network_down,
        "rateLimits": None,
        "noResponse": None,
    }
    writer.system(
        "api_error",
        error=error,
        retry_in_ms=round(seconds * 1000),
        retry_attempt=attempt,
        max_retries=most,
        source="connection_retry" if is_cut else "request_retry",
    )
