"""An address to the place that it names: the tables below it, and what went wrong there."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from plait.errors import MissingExtra, PlaitError, SourceError, UserError

try:
    import deltalake  # noqa: F401  every module of the store comes by here
    import pyarrow.fs as pafs
except ImportError as error:
    raise MissingExtra(
        "a lake needs pyarrow and deltalake", "`pip install 'plait[lake]'`"
    ) from error

SCHEMES = ("file", "s3", "s3a", "gs", "az", "abfs", "abfss")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
_NO_BUCKET = ("NoSuchBucket", "NO_SUCH_BUCKET")
_NO_ANSWER = (
    "error sending request",
    "NETWORK_CONNECTION",
    "Connection refused",
    "dns error",
    "Could not resolve",
)
_DENIALS = ("AccessDenied", "ACCESS_DENIED", "Forbidden", "403", "Permission denied")


@dataclass(frozen=True)
class Place:
    """Where the tables of a lake lie: a folder, or a prefix in an object store."""

    url: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """How to come in; holds secrets, so it is never shown."""

    @property
    def folder(self) -> Path | None:
        """The folder, where it is one on this machine."""
        return None if "://" in self.url else Path(self.url)

    def table(self, name: str) -> str:
        """Returns the address of a table."""
        return f"{self.url}/{name}"

    def files(self, name: str) -> Any:
        """Returns the file system whose root is a table."""
        scheme, _, path = self.table(name).rpartition("://")
        if not scheme:
            return pafs.SubTreeFileSystem(path, pafs.LocalFileSystem())
        if scheme in ("s3", "s3a"):
            return pafs.SubTreeFileSystem(path, _s3(self.options))
        from deltalake.fs import DeltaStorageHandler

        return pafs.PyFileSystem(DeltaStorageHandler(self.table(name), dict(self.options)))

    def new_file(self, name: str, path: str) -> Any:
        """Opens a new file of a table for its bytes."""
        if self.folder:  # an object store has no folders
            (self.folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        return self.files(name).open_output_stream(path)


def place_of(url: str, options: Mapping[str, str] | None = None) -> Place:
    """Returns the place that an address names: a folder, `file://…`, `s3://…` and so on."""
    scheme, host, path, *_ = urlsplit(url)
    if "://" not in url or scheme == "file":
        return _folder(unquote(path) if "://" in url else url, options or {})
    if scheme not in SCHEMES:
        raise UserError(
            f"'{url}' is no place for a lake",
            f"one begins with {', '.join(SCHEMES)}:// or is a folder",
        )
    if not host:
        raise UserError(f"'{url}' names no bucket", f"as in {scheme}://bucket/lake")
    return Place(url.rstrip("/"), _with_plain_http(dict(options or {})))


def _folder(path: str, options: Mapping[str, str]) -> Place:
    found = str(Path(path).absolute())
    if _ESCAPED.search(found):  # deltalake writes there, and then looks in the folder 'a b'
        raise UserError(
            f"'{found}' is no place for a lake: '{_ESCAPED.findall(found)[0]}' in it reads as an "
            "escaped letter",
            "name another folder",
        )
    return Place(found, dict(options))


def _with_plain_http(options: dict[str, str]) -> dict[str, str]:
    if any(value.startswith("http://") for value in options.values()):
        options.setdefault("AWS_ALLOW_HTTP", "true")
    return options


_S3_OPTIONS = {
    "access_key_id": "access_key",
    "secret_access_key": "secret_key",
    "session_token": "session_token",
    "region": "region",
    "default_region": "region",
    "endpoint_url": "endpoint_override",
    "endpoint": "endpoint_override",
}


def _s3(options: Mapping[str, str]) -> Any:
    """Returns S3 by Arrow, told the same as Delta is."""
    given: dict[str, Any] = {"allow_delayed_open": True}  # small files in one request, not three
    for name, value in options.items():
        plain = name.lower().removeprefix("aws_")
        if plain in _S3_OPTIONS:
            given[_S3_OPTIONS[plain]] = value
        elif plain == "skip_signature" and value.lower() in ("true", "1"):
            given["anonymous"] = True
        elif plain == "virtual_hosted_style_request":
            given["force_virtual_addressing"] = value.lower() in ("true", "1")
    return pafs.S3FileSystem(**given)


@contextmanager
def told(place: Place, deed: str) -> Iterator[None]:
    """Says where something went wrong, and what, in place of what a library raises."""
    from deltalake.exceptions import DeltaError, TableNotFoundError

    try:
        yield
    except PlaitError:
        raise
    except TableNotFoundError as error:
        raise no_lake(place) from error
    except (OSError, DeltaError) as error:
        raise _sentence(place, deed, error) from error


class NoLake(UserError):
    """There is no lake at that place."""


def no_lake(place: Place) -> NoLake:
    """Returns what is said where there is no lake."""
    return NoLake(
        f"there is no lake at '{place.url}'", f"`plait lake build --to {place.url}` makes one"
    )


def _sentence(place: Place, deed: str, error: Exception) -> SourceError:
    reason = " ".join(_COLOURS.sub("", str(error)).replace("↳", ":").split())
    if any(word in reason for word in _DENIALS):
        who = () if place.folder else ("check the key, and what it may do below that address",)
        return SourceError(f"no leave to {deed} '{place.url}'", *who, f"it says: {reason[:300]}")
    why, *hints = _lacking(place, reason) or _system_said(error) or ("", reason[:400])
    return SourceError(f"could not {deed} '{place.url}'{why and f': {why}'}", *hints)


def _system_said(error: Exception) -> tuple[str] | None:
    """Returns what this machine says of a file or a folder."""
    said = error.strerror if isinstance(error, OSError) else None
    return (said.lower(),) if said else None


def _lacking(place: Place, reason: str) -> tuple[str, str] | None:
    """Returns what is not there, with what can be done, where that is a bucket or a server."""
    if any(word in reason for word in _NO_BUCKET):
        return f"there is no bucket '{urlsplit(place.url).netloc}'", "check its name, or make it"
    if any(word in reason for word in _NO_ANSWER):
        return (
            "the object store does not answer",
            "check the network, and `AWS_ENDPOINT_URL` where it is set",
        )
    return None
