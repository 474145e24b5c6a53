"""The page in a browser: axe-core finds nothing serious, nothing is asked for, nothing complains.

Needs Chromium and npm, and skips without them.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.report.test_page import World

AXE = "axe-core@4.10.2"
# What keeps people from reading or using the page.
GRAVE = ("serious", "critical")
# In turn the front page, a card, the ledger filtered; then what was said on the console.
RUN = """
<pre id="axe"></pre>
<script>
const LEDGER = "#ledger?verdict=differs&text=printed&paper=one2001";
(async () => {
  const said = window.said;
  const found = [];
  // The page has been there for a while: its address is still what was asked for.
  await new Promise((done) => setTimeout(done, 100));
  found.push({ address: location.hash });
  for (const place of ["", "#one2001", "#claim-one/both", LEDGER, "#reading"]) {
    location.hash = place;
    await new Promise((done) => setTimeout(done, 50));
    const checked = await axe.run(document, { resultTypes: ["violations"] });
    for (const fault of checked.violations) {
      found.push({ place, id: fault.id, impact: fault.impact, at: fault.nodes.map((node) => node.html.slice(0, 200)) });
    }
    if (place.startsWith("#ledger")) found.push({ shown: document.getElementById("found").textContent });
  }
  return { found, said };
})().catch((error) => ({ found: [], said: [String(error)] })).then((all) => {
  document.getElementById("axe").textContent = JSON.stringify(all);
});
</script>
"""
LISTEN = """
<script>
window.said = [];
for (const kind of ["error", "warn"]) console[kind] = (...words) => window.said.push(words.join(" "));
addEventListener("error", (event) => window.said.push(String(event.message)));
addEventListener("securitypolicyviolation", (event) => window.said.push(`refused ${event.blockedURI}`));
</script>
"""


def browser() -> str:
    """Chromium's program; skips without one."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"no {' or '.join(names)} is installed, in which axe-core could look at the page")
    return found


@pytest.fixture(scope="module")
def axe(tmp_path_factory) -> str:
    """The source of axe-core, from the npm registry; skips without npm or the registry."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed, which fetches axe-core")
    folder = tmp_path_factory.mktemp("axe")
    packed = subprocess.run(
        ["npm", "pack", AXE, "--silent"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    if packed.returncode:
        pytest.skip(f"npm cannot fetch {AXE}: {packed.stderr.strip()[-200:]}")
    (archive,) = folder.glob("*.tgz")
    shutil.unpack_archive(archive, folder, filter="data")
    return (folder / "package" / "axe.min.js").read_text(encoding="utf-8")


def looked_at(page: Path, *arguments: str) -> dict:
    """What the page that runs axe says of itself in the end."""
    done = subprocess.run(
        [
            *(browser(), "--headless", "--no-sandbox", "--disable-gpu", "--force-prefers-reduced-motion"),
            *(f"--user-data-dir={page.parent / 'browser'}", "--virtual-time-budget=20000", *arguments),
            *("--dump-dom", page.as_uri()),
        ],
        env={**os.environ, "HOME": str(page.parent)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    found = re.search(r'<pre id="axe">(\{.*\})</pre>', done.stdout, re.S)
    assert found, done.stderr[-2000:]
    return json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


@pytest.fixture
def watched(tmp_path, axe):
    """The page of two papers, which runs axe on itself; what it may load is as in the page itself."""
    world = World(tmp_path / "quick")
    figure, table = world.papers[0]["artifacts"]
    for artifact, tab in ((figure, "The figure"), (table, "The table")):
        artifact |= {"card": "Figure 1: both", "tab": tab}
    world.build()
    page = world.output.read_text(encoding="utf-8")
    page = page.replace("<link rel=", LISTEN + "<link rel=", 1)
    page = page.replace("</body>", f"<script>{axe}</script>{RUN}</body>", 1)
    watched = tmp_path / "watched.html"
    watched.write_text(page, encoding="utf-8")
    return watched


@pytest.mark.parametrize(
    "arguments",
    [
        ("--window-size=1280,900",),
        pytest.param(("--window-size=390,800", "--force-dark-mode"), marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing_serious_and_nothing_complains(watched, arguments):
    seen = looked_at(watched, *arguments)
    assert seen["said"] == []
    grave = [fault for fault in seen["found"] if fault.get("impact") in GRAVE]
    assert grave == []
    assert {"shown": "1 claim about 1 statement (of 4 claims)"} in seen["found"]
    assert {"address": ""} in seen["found"]
