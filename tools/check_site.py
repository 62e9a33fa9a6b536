"""Check the built site: every link leads somewhere, and nothing is loaded from another host.

python -m tools.check_site site
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")}
NOT_LOADED = {"canonical", "next", "prev", "alternate"}


class PageLinks(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links of a tag."""
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        for name in ("href", "src"):
            if value := given.get(name):
                is_load = (tag, name) in LOADS and given.get("rel") not in NOT_LOADED
                (self.loads if is_load else self.links).append(value)


@cache
def read_page(path: Path) -> PageLinks:
    """Return the links of a file."""
    return PageLinks(path.read_text(encoding="utf-8"))


def find_faults(site: Path) -> list[str]:
    """Return what is wrong with a site, a line for each fault."""
    faults = []
    for path in sorted({*site.rglob("*.html")} - {site / "404.html"}):
        page, place = read_page(path), path.relative_to(site)
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    faults.append(f"{place}: loads {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                faults.append(f"{place}: no file {link}")
            elif parts.fragment and target.suffix == ".html":
                anchor = unquote(parts.fragment)
                if anchor not in read_page(target).anchors and not anchor.startswith("__"):
                    faults.append(f"{place}: no anchor {link}")
    return faults


def main(site: Path) -> None:
    """Print the faults of a site; fail if there are any."""
    faults = find_faults(site)
    pages = sum(1 for _ in site.rglob("*.html"))
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{pages} pages, {size / 1e6:.1f} MB, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
