"""Build hook of the wheel: packs the man page, large page assets and the examples of `--demo`."""

import gzip
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ASSETS = "plait/view/page/assets"
PACKED_ASSETS = ("highlight.js", "app.css", "plait.css")


class PackedFiles(BuildHookInterface[Any]):
    """Adds `plait/cli/demo.zip`, the man page and large assets of the page, compressed.

    The same content always gives the same bytes.
    """

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Pack the files; an editable install reads the sessions where they are."""
        if version == "editable":
            return
        gallery = Path(self.root, "examples", "gallery")
        folder = Path(mkdtemp())
        packed, manual = folder / "demo.zip", folder / "plait.1.gz"
        with ZipFile(packed, "w", ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(gallery.glob("*/projects/**/*")):
                if path.is_file():
                    name = ZipInfo(path.relative_to(gallery).as_posix(), (2020, 1, 1, 0, 0, 0))
                    name.compress_type = ZIP_DEFLATED
                    archive.writestr(name, path.read_bytes())
        text = Path(self.root, "docs", "plait.1").read_bytes()
        manual.write_bytes(gzip.compress(text, mtime=0))
        for asset_name in PACKED_ASSETS:
            asset = folder / f"{asset_name}.gz"
            asset.write_bytes(
                gzip.compress(Path(self.root, "src", ASSETS, asset_name).read_bytes(), mtime=0)
            )
            build_data["force_include"][str(asset)] = f"{ASSETS}/{asset_name}.gz"
        build_data["force_include"][str(packed)] = "plait/cli/demo.zip"
        build_data["shared_data"][str(manual)] = "share/man/man1/plait.1.gz"
