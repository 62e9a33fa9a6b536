"""Pages of hostile sessions in a real browser: nothing runs, nothing is loaded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.test_hostile import check_inert
from tests.hostile.archive import SESSION, conversation, linked
from tests.hostile.conftest import rounds
from tests.redact.ways_out import titles

RUN = "window.pwned=1"
PAYLOADS = (
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'"><svg onload={RUN}>',
    f"'-({RUN})-'",
    f"</script><script>{RUN}</script>",
    f"</template><script>{RUN}</script>",
    f"<!--<script>{RUN}//-->",
    f"[x](javascript:{RUN})",
    f"![x](data:text/html,<script>{RUN}</script>)",
    f"<a href='java&#x73;cript:{RUN}'>x</a>",
    f"```html\n<script>{RUN}</script>\n```",
    f"</title><script>{RUN}</script>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<math><mtext></form><form><mglyph><style></math><img src onerror={RUN}>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<base href=http://127.0.0.1:9/>",
    "<link rel=stylesheet href=http://127.0.0.1:9/x.css>",
    "<style>*{background:url(http://127.0.0.1:9/)}</style>",
    f"${{{RUN}}} {{{{{RUN}}}}}",
    '__proto__": {"pwned": 1}, "x',
    f"]]>\u2028{RUN}\u2029",
    f"\u202e{RUN}\u2066",
)


AROUND = ("{}", "`{}`", "> {}", "# {}", "| {} |\n|---|\n| {} |", "<b>{}", "**{}**", '"{}"')
HOSTILE = [around.replace("{}", item) for around in AROUND for item in PAYLOADS]
"""Each payload as it is and in the signs of texts: with all pages of an export, 704 of them."""


@pytest.mark.parametrize("number", range(rounds(2, len(HOSTILE))))
@pytest.mark.parametrize("extra", [["--single-file"], []], ids=["single", "site"])
def test_page_stays_inert(browser: Browser, tmp_path: Path, number: int, extra: list[str]) -> None:
    payload = HOSTILE[number]
    folder = tmp_path / "root" / "projects" / "-srv-x"
    folder.mkdir(parents=True)
    lines = linked([*titles(payload), *conversation(payload)], SESSION, payload)
    (folder / f"{SESSION}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ["export", "--all", "--root", str(tmp_path / "root"), "-f", "html", "--no-redact"]
    command = [sys.executable, "-m", "plait", *words, "-o", str(tmp_path / "out"), *extra]
    subprocess.run(command, check=True, capture_output=True)
    asked: list[str] = []
    page = browser.new_page()
    try:
        page.on("request", lambda item: asked.append(item.url))
        for name in (f"sessions/{SESSION}.html", "index.html"):
            page.goto((tmp_path / "out" / name).as_uri())
            check_inert(page)
    finally:
        page.close()
    assert all(item.startswith(("file:", "data:", "blob:")) for item in asked)
