"""Why a call failed. Each message says what was expected, what came, and what to do."""

from __future__ import annotations

from typing import TypedDict


class Mistake(TypedDict):
    """Where a request was wrong."""

    path: str
    message: str


class SlowwaveError(Exception):
    """Any failure of a call.

    status: the HTTP status; None: no answer came.
    code: stable; the server's own, or "no_answer", "timeout", "not_slowwave".
    errors: where the request was wrong.
    retryable: whether the same request may succeed later.
    request_id: the id of the request in the server's log.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str,
        errors: list[Mistake] | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.errors = errors or []
        self.request_id = request_id

    @property
    def retryable(self) -> bool:
        return self.status is None or self.status in PASSING


class NoAnswerError(SlowwaveError):
    """The server could not be reached, or did not answer in time."""


class InvalidRequestError(SlowwaveError):
    """The request is wrong: see errors."""


class AuthenticationError(SlowwaveError):
    """The key is missing, unknown, or may not do that."""


class NotFoundError(SlowwaveError):
    """There is nothing with that id, or the key may not know of it."""


class ConflictError(SlowwaveError):
    """Something else was changed first."""


class TooManyRequestsError(SlowwaveError):
    """A limit was reached, and the tries did not suffice."""


class ServerError(SlowwaveError):
    """The server cannot answer at the moment."""


PASSING = frozenset({408, 429, 502, 503, 504})

_BY_STATUS: dict[int, type[SlowwaveError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: AuthenticationError,
    404: NotFoundError,
    409: ConflictError,
    413: InvalidRequestError,
    422: InvalidRequestError,
    429: TooManyRequestsError,
}


def class_for(status: int) -> type[SlowwaveError]:
    return _BY_STATUS.get(status, ServerError if status >= 500 else SlowwaveError)
