"""Bytes of a PDF to the block that the model reads."""

from base64 import b64encode

from plait.agent.tools.model import Outcome, ToolError
from plait.agent.tools.text import size_of

LARGEST = 20 * 1024 * 1024
"""Bytes of a document that fit into a request."""


def pdf_outcome(path: str, size: int, data: bytes) -> Outcome:
    """Returns a document as the model and the log have it; raises ToolError where it is none."""
    if not size:
        raise ToolError(f"PDF file is empty: {path}")
    if not data.startswith(b"%PDF-"):
        raise ToolError(f"File is not a valid PDF (missing %PDF- header): {path}")
    if size > LARGEST:
        raise ToolError(
            f"PDF file is too large ({size / 1024**2:.1f}MB): {path}. Take out the pages that are"
            " needed, or its text (pdftotext), with a shell command."
        )
    encoded = b64encode(data).decode()
    source = {"type": "base64", "media_type": "application/pdf", "data": encoded}
    told = {"type": "text", "text": f"PDF file read: {path} ({size_of(size)})"}
    file = {"filePath": path, "base64": encoded, "originalSize": size}
    return Outcome([told, {"type": "document", "source": source}], {"type": "pdf", "file": file})
