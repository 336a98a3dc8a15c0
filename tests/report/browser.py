"""A real Chromium, driven over the WebDriver protocol with the standard library alone."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
KEYS = {"enter": "\ue007", "space": "\ue00d", "tab": "\ue004", "down": "\ue015"}


def browser_path() -> str | None:
    """The path of the browser; None if it or its driver is missing."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    return found if found and shutil.which("chromedriver") else None


class Browser:
    """One window. Elements are named by CSS selectors."""

    def __init__(self, session: str) -> None:
        self.session = session

    def open(self, path: Path) -> None:
        call(f"{self.session}/url", {"url": path.as_uri()})

    def run(self, script: str) -> Any:
        """Run JavaScript and return its result."""
        return call(f"{self.session}/execute/sync", {"script": script, "args": []})

    def click(self, selector: str) -> None:
        call(f"{self.session}/element/{self._element(selector)}/click", {})

    def press(self, selector: str, *keys: str) -> None:
        text = "".join(KEYS.get(key, key) for key in keys)
        call(f"{self.session}/element/{self._element(selector)}/value", {"text": text})

    def texts(self, selector: str) -> list[str]:
        """The texts of all visible elements."""
        return self.run(
            f"return [...document.querySelectorAll({json.dumps(selector)})]"
            ".filter(e => e.checkVisibility()).map(e => e.textContent.trim())"
        )

    def resize(self, width: int, height: int) -> None:
        call(f"{self.session}/window/rect", {"width": width, "height": height})

    def prefer(self, scheme: str) -> None:
        """Set the color scheme that pages see as preferred, light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        command = {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}}
        call(f"{self.session}/goog/cdp/execute", command)

    def messages(self) -> list[str]:
        """The messages of the browser's console."""
        return [entry["message"] for entry in call(f"{self.session}/se/log", {"type": "browser"})]

    def _element(self, selector: str) -> str:
        found = call(f"{self.session}/element", {"using": "css selector", "value": selector})
        return str(next(iter(found.values())))


def call(address: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = Request(address, data, {"Content-Type": "application/json"}, method=method)
    with urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())["value"]


@contextmanager
def new_browser(profile: Path) -> Iterator[Browser]:
    """Start a browser with an empty profile, and close it afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    driver = subprocess.Popen(
        ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    flags = [*FLAGS, f"--user-data-dir={profile}"]
    capabilities = {
        "browserName": "chrome",
        "goog:chromeOptions": {"binary": browser_path(), "args": flags},
        "goog:loggingPrefs": {"browser": "ALL"},
    }
    root = f"http://127.0.0.1:{port}"
    try:
        _wait(root)
        session = call(f"{root}/session", {"capabilities": {"alwaysMatch": capabilities}})[
            "sessionId"
        ]
        try:
            yield Browser(f"{root}/session/{session}")
        finally:
            call(f"{root}/session/{session}", method="DELETE")
    finally:
        driver.terminate()
        driver.wait(timeout=30)


def _wait(root: str) -> None:
    for _ in range(150):
        try:
            if call(f"{root}/status")["ready"]:
                return
        except (URLError, ConnectionError):
            time.sleep(0.2)
    raise TimeoutError("chromedriver did not start within 30 seconds")
