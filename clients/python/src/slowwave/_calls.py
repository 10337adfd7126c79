"""What both clients send, and how they read what comes back. Nothing here waits."""

from __future__ import annotations

import json
import random
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx

from .errors import NoAnswerError, SlowwaveError, class_for

# The longest wait of one request, in seconds.
LONGEST_WAIT = 60.0
# The first pause between two tries, in seconds; each further one is twice as long, up to a limit.
FIRST_PAUSE = 0.2
LONGEST_PAUSE = 20.0
# The longest pause that a server can ask for.
ASKED_MAX = 60.0


@dataclass(frozen=True)
class Call:
    """One request."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Any = None
    # Makes a repeated request count once.
    idempotency_key: str | None = None
    # How long the server is asked to wait, in seconds; added to the timeout.
    wait: float = 0.0
    # A POST that changes nothing.
    reads_only: bool = False

    def may_repeat(self, status: int | None) -> bool:
        """What was not carried out can always be repeated, anything else only if it then counts once."""
        if status == 429:
            return True
        return self.method != "POST" or self.reads_only or self.idempotency_key is not None


def path_of(template: str, **params: str) -> str:
    """A path with its ids, which may contain anything."""
    return template.format(**{name: quote(value, safe="") for name, value in params.items()})


@dataclass(frozen=True)
class Settings:
    """Where the server is, and how patiently it is asked."""

    url: str
    headers: Mapping[str, str]
    timeout: float
    retries: int


def settings_of(
    url: str, api_key: str | None, headers: Mapping[str, str] | None, timeout: float, retries: int
) -> Settings:
    if not url.lower().startswith(("http://", "https://")):
        raise ValueError(f"expected url to be like http://localhost:7070, got {url!r}")
    key = {} if api_key is None else {"authorization": f"Bearer {api_key}"}
    return Settings(url.rstrip("/"), {**(headers or {}), **key}, timeout, retries)


def request_of(call: Call, http: httpx.Client | httpx.AsyncClient, settings: Settings) -> httpx.Request:
    headers = {**settings.headers, "accept": "application/json"}
    if call.idempotency_key is not None:
        headers["idempotency-key"] = call.idempotency_key
    if call.body is not None:
        headers["content-type"] = "application/json"
    return http.build_request(
        call.method,
        settings.url + call.path,
        params={name: text_of(value) for name, value in (call.query or {}).items() if value is not None},
        content=None if call.body is None else json.dumps(call.body, allow_nan=False),
        headers=headers,
        timeout=settings.timeout + call.wait,
    )


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def new_key() -> str:
    return secrets.token_hex(16)


def error_of(response: httpx.Response) -> SlowwaveError:
    """The error in a response without success, whose body was read."""
    status = response.status_code
    problem = _problem_in(response)
    return class_for(status)(
        problem.get("detail") or f"expected Slowwave to answer, got status {status}; check the url",
        status=status,
        code=problem.get("code") or "not_slowwave",
        errors=problem.get("errors"),
        request_id=response.headers.get("x-request-id"),
    )


def _problem_in(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}  # a proxy's own page
    return body if isinstance(body, dict) and "code" in body and "detail" in body else {}


def not_answered(cause: httpx.TransportError, settings: Settings, call: Call) -> SlowwaveError:
    if isinstance(cause, httpx.TimeoutException):
        within = settings.timeout + call.wait
        message = f"expected an answer from {settings.url} within {within:g} s, got none; try again, or give timeout"
        error = NoAnswerError(message, code="timeout")
    else:
        message = f"expected Slowwave at {settings.url}, could not reach it; check that it is running and the url is correct"
        error = NoAnswerError(message, code="no_answer")
    error.__cause__ = cause
    return error


def pause_before(tried: int, response: httpx.Response | None) -> float:
    """How long to wait before the next try: as the server says, or longer each time."""
    asked = None if response is None else _asked(response.headers.get("retry-after"))
    own = min(LONGEST_PAUSE, FIRST_PAUSE * 2**tried)
    return own * random.uniform(0.5, 1.0) if asked is None else asked


def _asked(header: str | None) -> float | None:
    """Seconds, or a date."""
    if header is None:
        return None
    try:
        seconds = float(header) if header[:1].isdigit() else parsedate_to_datetime(header).timestamp() - time.time()
    except ValueError:
        return None
    return min(ASKED_MAX, max(0.0, seconds))


def batch_id_of(batch: Any) -> str:
    """Of what add answered, or of an id."""
    if isinstance(batch, str):
        return batch
    return str(batch.get("batch_id") or batch["id"])


def accepted_of(answer: dict[str, Any]) -> dict[str, Any]:
    """A repeated post may be answered with the batch itself."""
    if "batch_id" in answer:
        return answer
    return {"batch_id": answer["id"], "state": answer["state"], "status_url": f"/v1/batches/{answer['id']}"}


def not_settled(batch: Any, within: float) -> SlowwaveError:
    message = f"expected batch {batch['id']} to be done within {within:g} s, it is {batch['state']}; wait longer"
    return NoAnswerError(message, code="timeout")
