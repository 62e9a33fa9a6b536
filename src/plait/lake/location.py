"""Locations of lakes: addresses of folders and object stores, and what can go wrong there."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from deltalake.exceptions import DeltaError, TableNotFoundError

from plait.errors import MissingExtra, PlaitError, SourceError, UserError

try:
    import deltalake  # noqa: F401  checked here for every module of the lake that stores something
    import pyarrow.fs as pafs
except ImportError as error:
    raise MissingExtra(
        "a lake needs pyarrow and deltalake", "`pip install 'plait[lake]'`"
    ) from error

SCHEMES = ("file", "s3", "s3a", "gs", "az", "abfs", "abfss")
S3_OPTIONS = {
    "access_key_id": "access_key",
    "secret_access_key": "secret_key",
    "session_token": "session_token",
    "region": "region",
    "default_region": "region",
    "endpoint_url": "endpoint_override",
    "endpoint": "endpoint_override",
}
"""Options as Delta calls them, and as Arrow does."""
# What the storage libraries say, each in several wordings.
_ACCESS_DENIED = ("AccessDenied", "ACCESS_DENIED", "Forbidden", "403", "Permission denied")
_NO_BUCKET = ("NoSuchBucket", "NO_SUCH_BUCKET")
_NO_CONNECTION = (
    "error sending request",
    "NETWORK_CONNECTION",
    "Connection refused",
    "dns error",
    "Could not resolve",
)
_ANSI_CODES = re.compile(r"\x1b\[[0-9;]*m")
_ESCAPED_LETTER = re.compile(r"%[0-9A-Fa-f]{2}")


@dataclass(frozen=True)
class Location:
    """Where the tables of a lake are: a folder, or a prefix in an object store."""

    url: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """How to sign in; holds secrets, so it is never shown."""

    @property
    def folder(self) -> Path | None:
        """The folder, if the location is on this machine."""
        return None if "://" in self.url else Path(self.url)

    def table_url(self, name: str) -> str:
        """Return the address of a table."""
        return f"{self.url}/{name}"

    def filesystem(self, name: str) -> Any:
        """Return a file system whose root is a table."""
        scheme, _, path = self.table_url(name).rpartition("://")
        if not scheme:
            return pafs.SubTreeFileSystem(path, pafs.LocalFileSystem())
        if scheme in ("s3", "s3a"):
            # Delayed opening writes a small file in one request instead of three.
            settings: dict[str, Any] = {"allow_delayed_open": True}
            for option, value in self.options.items():
                option = option.lower().removeprefix("aws_")
                if option in S3_OPTIONS:
                    settings[S3_OPTIONS[option]] = value
                elif option == "skip_signature" and value.lower() in ("true", "1"):
                    settings["anonymous"] = True
                elif option == "virtual_hosted_style_request":
                    settings["force_virtual_addressing"] = value.lower() in ("true", "1")
            return pafs.SubTreeFileSystem(path, pafs.S3FileSystem(**settings))
        from deltalake.fs import DeltaStorageHandler

        return pafs.PyFileSystem(DeltaStorageHandler(self.table_url(name), dict(self.options)))

    def open_new_file(self, name: str, path: str) -> Any:
        """Open a new file of a table for writing."""
        if self.folder:  # an object store has no folders
            (self.folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        return self.filesystem(name).open_output_stream(path)


def parse_location(url: str, options: Mapping[str, str] | None = None) -> Location:
    """Return the location that an address names: a folder, `file://…`, `s3://…` and so on."""
    options = dict(options or {})
    scheme, host, path, *_ = urlsplit(url)
    if "://" not in url or scheme == "file":
        folder = str(Path(unquote(path) if "://" in url else url).absolute())
        # deltalake would write to the folder 'a%20b' and then read from 'a b'.
        if escaped := _ESCAPED_LETTER.findall(folder):
            raise UserError(
                f"'{folder}' cannot hold a lake: '{escaped[0]}' would be read as an escape code",
                "choose another folder",
            )
        return Location(folder, options)
    if scheme not in SCHEMES:
        raise UserError(
            f"'{url}' is not an address for a lake",
            f"use a folder, or an address that begins with {', '.join(SCHEMES)}://",
        )
    if not host:
        raise UserError(f"'{url}' has no bucket", f"for example {scheme}://bucket/lake")
    if any(value.startswith("http://") for value in options.values()):
        options.setdefault("AWS_ALLOW_HTTP", "true")
    return Location(url.rstrip("/"), options)


class LakeNotFound(UserError):
    """There is no lake at a location."""


def lake_not_found(location: Location) -> LakeNotFound:
    """Return the error for a location without a lake."""
    return LakeNotFound(
        f"no lake at '{location.url}'",
        f"`plait lake build --to {location.url}` creates one",
    )


@contextmanager
def storage_errors(location: Location, action: str) -> Iterator[None]:
    """Turn the errors of storage libraries into errors that say what failed, where and why."""

    try:
        yield
    except PlaitError:
        raise
    except TableNotFoundError as error:
        raise lake_not_found(location) from error
    except (OSError, DeltaError) as error:
        text = " ".join(_ANSI_CODES.sub("", str(error)).replace("↳", ":").split())
        failure, hints = f"could not {action} '{location.url}'", [text[:400]]
        if any(word in text for word in _ACCESS_DENIED):
            failure = f"no permission to {action} '{location.url}'"
            hints = [] if location.folder else ["check the key and its permissions"]
            hints.append(text[:300])
        elif any(word in text for word in _NO_BUCKET):
            failure += f": no bucket named '{urlsplit(location.url).netloc}'"
            hints = ["check its name or create it"]
        elif any(word in text for word in _NO_CONNECTION):
            failure += ": the object store does not respond"
            hints = ["check the network, and `AWS_ENDPOINT_URL` if it is set"]
        elif isinstance(error, OSError) and error.strerror:
            failure += f": {error.strerror.lower()}"
            hints = []
        raise SourceError(failure, *hints) from error
