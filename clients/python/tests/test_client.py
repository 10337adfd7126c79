"""The client against a real server."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from conftest import ROOT, Scripted
from slowwave import AsyncSlowwave, InvalidRequestError, NotFoundError, Slowwave


def test_what_was_said_is_remembered_found_changed_undone_and_erased(slowwave: Slowwave, user: str) -> None:
    batch = slowwave.wait(slowwave.add("I live in Oslo.", user_id=user, flush=True))
    assert batch["state"] == "consolidated"
    (found,) = slowwave.search("where does she live?", user_id=user, top_k=1)["results"]
    assert found["memory"] == "User lives in Oslo"
    assert "lives in Oslo" in slowwave.context("where does she live?", user_id=user)["text"]
    messages = [{"role": "user", "content": "Actually I live in Bergen now."}]
    change = slowwave.wait(slowwave.add(messages, user_id=user, flush=True))
    (memory,) = slowwave.memories(user_id=user)
    assert memory["memory"] == "User lives in Bergen"
    assert [event["event"] for event in slowwave.history(memory["id"])] == ["ADD", "UPDATE"]
    assert [source["content"] for source in slowwave.sources(memory["id"])][-1] == "Actually I live in Bergen now."
    assert change["consolidation_id"] is not None
    slowwave.undo(change["consolidation_id"])
    assert slowwave.memory(memory["id"])["memory"] == "User lives in Oslo"
    kinds = {line["type"] for line in slowwave.export(user)}
    assert {"user", "message", "memory", "end"} <= kinds
    erasure = slowwave.erase(user)
    assert list(slowwave.memories(user_id=user)) == []
    assert slowwave.erasure(erasure["erasure_id"])["id"] == erasure["erasure_id"]


def test_a_memory_is_written_changed_deleted_and_restored(slowwave: Slowwave, user: str) -> None:
    memory = slowwave.write("Likes tea", user_id=user, metadata={"n": 1})
    assert slowwave.update(memory["id"], memory="Likes green tea")["version"] == 2
    assert slowwave.delete(memory["id"], dry_run=True)["deleted"] == 0
    assert slowwave.delete(memory["id"])["deleted"] == 1
    with pytest.raises(NotFoundError) as failed:
        slowwave.memory(memory["id"])
    assert (failed.value.status, failed.value.code, failed.value.retryable) == (404, "not_found", False)
    assert slowwave.restore(memory["id"], 1)["memory"] == "Likes tea"
    assert slowwave.delete_all(user_id=user, filters={"metadata.n": 2})["deleted"] == 0
    assert slowwave.delete_all(user_id=user, filters={"metadata.n": 1})["deleted"] == 1


def test_lists_are_read_page_after_page(slowwave: Slowwave, user: str) -> None:
    for n in range(5):
        slowwave.write(f"Fact number {n}", user_id=user)
    found = [memory["memory"] for memory in slowwave.memories(user_id=user, limit=2)]
    assert sorted(found) == [f"Fact number {n}" for n in range(5)]


def test_a_post_with_the_same_key_counts_once(slowwave: Slowwave, user: str) -> None:
    first = slowwave.add("Hello", user_id=user, idempotency_key=f"key-{user}")
    again = slowwave.add("Hello", user_id=user, idempotency_key=f"key-{user}")
    assert first["batch_id"] == again["batch_id"]


def test_a_mistake_is_told_with_its_path(slowwave: Slowwave) -> None:
    with pytest.raises(InvalidRequestError, match="user_id") as failed:
        slowwave.search("tea")
    assert failed.value.errors[0]["path"] == "user_id"
    assert failed.value.request_id


def test_any_operation_can_be_sent(slowwave: Slowwave) -> None:
    assert slowwave.send("GET", "/v1/stats")["batches"]["gap"] == 0


def test_the_async_client_does_the_same(url: str, user: str) -> None:
    async def run() -> None:
        async with AsyncSlowwave(url) as slowwave:
            batch = await slowwave.wait(await slowwave.add("I live in Rome.", user_id=user, flush=True))
            assert batch["state"] == "consolidated"
            both = await asyncio.gather(
                slowwave.search("home town", user_id=user, cut="none"), slowwave.recall("home town", user_id=user)
            )
            assert both[0]["results"][0]["memory"] == "User lives in Rome"
            assert [memory["memory"] async for memory in slowwave.memories(user_id=user)] == ["User lives in Rome"]
            assert [line["type"] async for line in slowwave.export(user)][-1] == "end"

    asyncio.run(run())


def test_the_example_knows_its_user_in_the_next_conversation(
    slowwave: Slowwave, scripted: Scripted, url: str, user: str
) -> None:
    model, asked = scripted((200, {}, {"choices": [{"message": {"role": "assistant", "content": "Hello!"}}]}))

    def chat(line: str) -> str:
        program = [sys.executable, str(ROOT / "clients/python/example/chat.py")]
        options = ["--url", url, "--user", user, "--model-url", f"{model}/v1"]
        return subprocess.run([*program, *options], input=line, capture_output=True, text=True, check=True).stdout

    assert chat("I live in Kyoto.") == "you: I live in Kyoto.\nbot: Hello!\n"
    slowwave.flush(user_id=user)
    slowwave.wait(slowwave.send("GET", "/v1/batches", query={"user_id": user})["results"][0])
    chat("Where do I live?")
    system, *_ = json.loads(asked[1][2])["messages"]
    assert system["role"] == "system" and "lives in Kyoto" in system["content"]
