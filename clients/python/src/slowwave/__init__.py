"""Long-term memory for agents: a client for Slowwave."""

from . import api
from ._async import AsyncSlowwave
from ._sync import Slowwave
from .errors import (
    AuthenticationError,
    ConflictError,
    InvalidRequestError,
    Mistake,
    NoAnswerError,
    NotFoundError,
    ServerError,
    SlowwaveError,
    TooManyRequestsError,
)

__all__ = [
    "AsyncSlowwave",
    "AuthenticationError",
    "ConflictError",
    "InvalidRequestError",
    "Mistake",
    "NoAnswerError",
    "NotFoundError",
    "ServerError",
    "Slowwave",
    "SlowwaveError",
    "TooManyRequestsError",
    "api",
]
