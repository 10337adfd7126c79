"""Retries, keys and failures, against a server that answers as it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import Answer, Asked, Scripted
from slowwave import InvalidRequestError, NoAnswerError, ServerError, Slowwave, SlowwaveError, TooManyRequestsError

PROBLEM = {"code": "unavailable", "detail": "expected Redis, got nothing"}
ACCEPTED = {"batch_id": "bat_1", "state": "pending", "status_url": "/v1/batches/bat_1"}

Start = Callable[..., tuple[Slowwave, list[Asked]]]


@pytest.fixture
def against(scripted: Scripted) -> Start:
    """A client of a server that gives these answers."""

    def start(*answers: Answer, **options: Any) -> tuple[Slowwave, list[Asked]]:
        url, asked = scripted(*answers)
        return Slowwave(f"{url}/", **options), asked

    return start


def test_a_post_that_got_no_answer_is_sent_again_with_the_same_key_and_body(against: Start) -> None:
    client, asked = against((503, {}, PROBLEM), (202, {}, ACCEPTED))
    assert client.add("hello", user_id="ana") == ACCEPTED
    assert len(asked) == 2 and asked[0] == asked[1]
    assert asked[0][1] is not None and len(asked[0][1]) == 32


def test_two_posts_have_two_keys(against: Start) -> None:
    client, asked = against((202, {}, ACCEPTED))
    client.add("hello", user_id="ana")
    client.add("hello", user_id="ana")
    assert asked[0][1] != asked[1][1]


def test_a_write_that_might_have_been_carried_out_is_not_sent_again(against: Start) -> None:
    client, asked = against((503, {}, PROBLEM))
    with pytest.raises(ServerError, match="expected Redis, got nothing") as failed:
        client.write("likes tea", user_id="ana")
    assert failed.value.retryable
    assert len(asked) == 1


def test_what_was_refused_for_being_too_much_is_sent_again_when_the_server_says(against: Start) -> None:
    full = (429, {"retry-after": "0"}, {**PROBLEM, "code": "too_many_requests"})
    client, asked = against(full, full, (201, {}, {"id": "mem_1"}))
    assert client.write("likes tea", user_id="ana")["id"] == "mem_1"
    assert len(asked) == 3
    client, asked = against(full, retries=1)
    with pytest.raises(TooManyRequestsError):
        client.search("tea", user_id="ana")
    assert len(asked) == 2


def test_a_page_of_a_proxy_is_no_answer_of_slowwave(against: Start) -> None:
    client, _ = against((502, {}, "<html>bad gateway</html>"), retries=0)
    with pytest.raises(ServerError, match="got status 502") as failed:
        client.send("GET", "/v1/stats")
    assert failed.value.code == "not_slowwave"


def test_ids_and_queries_travel_unharmed(against: Start) -> None:
    client, asked = against((200, {}, {"results": [], "next_cursor": None}))
    list(client.memories(user_id="a&b/小明", filters={"trust": "user"}))
    query = parse_qs(urlsplit(asked[0][0]).query)
    assert query == {"user_id": ["a&b/小明"], "filters": ['{"trust": "user"}']}
    client.memory("x/../y")
    assert asked[1][0] == "GET /v1/memories/x%2F..%2Fy"


def test_a_broken_answer_is_an_error_of_the_client(against: Start) -> None:
    client, _ = against((200, {"content-length": "1000"}, "{"), retries=0, timeout=0.5)
    with pytest.raises(NoAnswerError):
        client.send("GET", "/v1/stats")


def test_a_server_that_is_not_there_is_named(against: Start) -> None:
    with Slowwave("http://127.0.0.1:1", retries=0) as client, pytest.raises(NoAnswerError) as failed:
        client.add("hello", user_id="ana")
    assert "http://127.0.0.1:1" in str(failed.value)
    assert (failed.value.status, failed.value.code, failed.value.retryable) == (None, "no_answer", True)
    with pytest.raises(ValueError, match="expected url to be like http://localhost:7070"):
        Slowwave("localhost:7070")


def test_all_failures_are_slowwave_errors() -> None:
    assert issubclass(InvalidRequestError, SlowwaveError) and issubclass(NoAnswerError, SlowwaveError)
