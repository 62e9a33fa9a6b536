"""What happens in the archive, as a stream that a browser listens to."""

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from plait.web.answers import troubled
from plait.web.hub import Hub

KIND = "text/event-stream"
HEADERS = {"Cache-Control": "no-store"}


async def serve(request: Request) -> Response:
    """Returns events until the listener goes."""
    hub: Hub = request.app.state.hub
    if request.method == "HEAD":
        return Response(headers=HEADERS, media_type=KIND)
    if hub.is_full:
        refused = troubled(request, 503, "too many pages listen already", ())
        refused.headers["Retry-After"] = "30"
        return refused
    stream = hub.stream(request.query_params.get("session"))
    return StreamingResponse(stream, 200, HEADERS, KIND)
