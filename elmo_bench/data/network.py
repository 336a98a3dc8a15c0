"""Whether a server can be reached, found out within a second: libraries retry for half a minute."""

import os
import socket
import ssl
from threading import Thread
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies

TIMEOUT = 0.8  # seconds


def is_reachable(url: str) -> bool:
    """Whether the server of an address, or the proxy in front of it, answers."""
    server = urlsplit(url)
    proxy = getproxies().get(server.scheme)
    target = urlsplit(proxy) if proxy else server
    secure = target.scheme == "https" and not proxy
    answers: list[bool] = []
    # A DNS lookup has no timeout, so a thread that hangs in one is abandoned.
    attempt = Thread(target=lambda: answers.append(_answers(target, secure)), daemon=True)
    attempt.start()
    attempt.join(TIMEOUT)
    return any(answers)


def _answers(target: SplitResult, secure: bool) -> bool:
    port = target.port or (443 if target.scheme == "https" else 80)
    try:
        with socket.create_connection((target.hostname or "", port), timeout=TIMEOUT) as plain:
            if secure:  # a captive portal answers too, but is not the server
                context = ssl.create_default_context(cafile=os.environ.get("REQUESTS_CA_BUNDLE"))
                context.wrap_socket(plain, server_hostname=target.hostname).close()
        return True
    except OSError:
        return False
