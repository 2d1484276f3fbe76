"""Makes the README's pictures of the scrubber, light and dark: ``python scripts/picture.py [--event N] [-o FOLDER]``.

``recallkit scrub`` writes the page of the campaign example, and Debian's Chromium, driven by Playwright (both as for
the browser tests), opens it at an event with what it changed unfolded and one path pinned.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "notebooks" / "functions" / "campaign-reviews.md"
HISTORY = ROOT / "data" / "campaign-reviews.jsonl"
PINNED = "/newsletter"


def draw(browser: Any, page_file: Path, event: int, theme: str, target: Path) -> None:
    """Open the page at an event and take its picture."""
    context = browser.new_context(viewport={"width": 1080, "height": 900}, color_scheme=theme)
    page = context.new_page()
    page.goto(f"{page_file.as_uri()}#event={event}")
    page.wait_for_selector(f".rk-scrubber[data-shown='{event}']")
    page.get_by_role("button", name=f"Pin {PINNED}", exact=True).click()
    page.get_by_role("region", name=f"Pinned path {PINNED}").get_by_text("change").first.wait_for()
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(300)
    target.write_bytes(small(page, page.locator(".rk-scrubber").screenshot()))
    context.close()


# The page itself reads the picture's pixels, so that nothing more is needed to write it again in fewer bytes.
PIXELS = """async (text) => {
  const bytes = Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
  let raw = "";
  for (let at = 0; at < data.length; at += 32768) raw += String.fromCharCode(...data.subarray(at, at + 32768));
  return [bitmap.width, bitmap.height, btoa(raw)];
}"""


def small(page: Any, picture: bytes) -> bytes:
    """Write a PNG again with its 256 most frequent colours, each other one as the nearest of them."""
    width, height, raw = page.evaluate(PIXELS, base64.b64encode(picture).decode())
    pixels = np.frombuffer(base64.b64decode(raw), np.uint8).reshape(-1, 4)[:, :3]
    colours, inverse, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    palette = colours[np.argsort(-counts)[:256]].astype(int)
    nearest = np.array([((palette - colour) ** 2).sum(1).argmin() for colour in colours.astype(int)], np.uint8)
    rows = nearest[inverse.reshape(-1)].reshape(height, width)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [chunk(b"IHDR", head), chunk(b"PLTE", palette.astype(np.uint8).tobytes())]
    parts += [chunk(b"IDAT", zlib.compress(lines, 9)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--event", type=int, default=33, help="the event that is shown; 33 when left out")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "notebooks" / "pictures", help="the folder")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        chromium = None
    if chromium is None:
        print("The pictures need Chromium and Playwright: apt install chromium, pip install playwright.")
        return 2
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "page.html"
        command = [sys.executable, "-m", "recallkit", "scrub", str(DOCUMENT), str(HISTORY), "-o", str(page)]
        subprocess.run(command, check=True, cwd=ROOT)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-lcd-text"])
        for theme in ("light", "dark"):
            target = options.output / f"scrubber-{theme}.png"
            draw(browser, page, options.event, theme, target)
            print(f"{target}: {target.stat().st_size:,} bytes")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
