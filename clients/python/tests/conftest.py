"""A real server of this repository, for tests of the installed package. SLOWWAVE_URL names another one."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from slowwave import Slowwave

ROOT = Path(__file__).resolve().parents[3]
# A cold start takes a few seconds; on a busy machine far longer.
READY_WITHIN = 60.0


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    given = os.environ.get("SLOWWAVE_URL")
    if given is not None:
        yield given
        return
    own_node = ROOT / "node_modules/.bin/node"
    node = str(own_node) if own_node.exists() else shutil.which("node") or "node"
    port = free_port()
    settings = {
        "SLOWWAVE_PORT": str(port),
        "SLOWWAVE_DATA_DIR": str(tmp_path_factory.mktemp("data")),
        "SLOWWAVE_LOG_LEVEL": "warn",
    }
    server = subprocess.Popen([node, str(ROOT / "apps/standalone/src/main.ts")], env=settings)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def wait_until_ready(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass  # not listening yet
        time.sleep(0.05)
    raise RuntimeError(f"expected a server at {url} within {READY_WITHIN:g} s, got none (exit code {server.poll()})")


@pytest.fixture
def slowwave(url: str) -> Iterator[Slowwave]:
    with Slowwave(url) as client:
        yield client


@pytest.fixture
def user() -> str:
    """Nobody before."""
    return f"user-{uuid.uuid4()}"


# Status, headers, and what is sent as JSON; a text goes out as it is.
Answer = tuple[int, dict[str, str], Any]
# Method and path, idempotency key, body.
Asked = tuple[str, str | None, bytes]
Scripted = Callable[..., tuple[str, list[Asked]]]


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    """Starts a server that gives these answers, the last for ever; returns its url and what it was asked."""
    servers: list[ThreadingHTTPServer] = []

    def start(*answers: Answer) -> tuple[str, list[Asked]]:
        asked: list[Asked] = []

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                asked.append((f"{self.command} {self.path}", self.headers.get("idempotency-key"), body))
                status, headers, content = answers[min(len(asked), len(answers)) - 1]
                data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {"content-length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}", asked

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
