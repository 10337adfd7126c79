"""A client for Slowwave."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, Unpack, cast

import httpx

from . import api
from ._calls import (
    LONGEST_WAIT,
    Call,
    accepted_of,
    batch_id_of,
    error_of,
    new_key,
    not_answered,
    not_settled,
    path_of,
    pause_before,
    request_of,
    settings_of,
)


class AsyncSlowwave:
    """A client for a Slowwave server.

    timeout: how long a try waits for the server, in seconds. A wait for a batch comes on top.
    retries: how often a call is sent again if that is safe and may help.
    http: a client of your own, for example one that goes through a proxy. You close it yourself.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:7070",
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 3,
        headers: Mapping[str, str] | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._settings = settings_of(url, api_key, headers, timeout, retries)
        self._own_http = http is None
        self._http = httpx.AsyncClient() if http is None else http

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        if self._own_http:
            await self._http.aclose()

    # Conversations

    async def add(
        self,
        messages: str | Sequence[api.Message] | Sequence[Mapping[str, Any]],
        *,
        idempotency_key: str | None = None,
        **options: Unpack[api.AddOptions],
    ) -> api.BatchAccepted:
        """Posts messages to remember; returns once they are stored. Retries are safe and automatic.

        messages: as your chat backend has them, or one text of the user.
        """
        body = {"messages": messages, **options}
        call = Call("POST", "/v1/batches", body=body, idempotency_key=idempotency_key or new_key())
        return cast(api.BatchAccepted, accepted_of(await self._send(call)))

    async def wait(self, batch: str | api.BatchAccepted, *, within: float = 300.0) -> api.Batch:
        """Waits until a batch is consolidated, empty, parked or undone."""
        deadline = time.monotonic() + within
        path = path_of("/v1/batches/{id}", id=batch_id_of(batch))
        while True:
            wait = max(0.0, min(LONGEST_WAIT, deadline - time.monotonic()))
            found = await self._send(Call("GET", path, query={"wait": int(wait * 1000)}, wait=wait))
            if found["state"] not in ("pending", "consolidating"):
                return cast(api.Batch, found)
            if time.monotonic() >= deadline:
                raise not_settled(found, within)

    async def flush(self, **options: Unpack[api.FlushOptions]) -> api.Flush:
        """Has everything of an owner that waits consolidated now."""
        return cast(api.Flush, await self._send(Call("POST", "/v1/flush", body=options)))

    # What is remembered

    async def search(self, query: str, **options: Unpack[api.SearchOptions]) -> api.SearchResult:
        """Finds memories of one owner, by meaning and by words."""
        body = {"query": query, **options}
        return cast(api.SearchResult, await self._send(Call("POST", "/v1/search", body=body, reads_only=True)))

    async def context(self, query: str | None = None, **options: Unpack[api.ContextOptions]) -> api.ContextResult:
        """What is known about an owner, as a block for a prompt."""
        body = {**({} if query is None else {"query": query}), **options}
        return cast(api.ContextResult, await self._send(Call("POST", "/v1/context", body=body, reads_only=True)))

    async def recall(self, query: str, **options: Unpack[api.RecallOptions]) -> api.RecallResult:
        """Answers a question from memories, with citations."""
        body = {"query": query, **options}
        return cast(api.RecallResult, await self._send(Call("POST", "/v1/recall", body=body, reads_only=True)))

    async def memories(
        self, *, filters: api.Filters | None = None, **options: Unpack[api.MemoriesOptions]
    ) -> AsyncIterator[api.Memory]:
        """All memories of an owner, newest first; pages are read as they are needed."""
        query: dict[str, Any] = {**options, "filters": filters}
        while True:
            page = await self._send(Call("GET", "/v1/memories", query=query))
            for memory in page["results"]:
                yield memory
            if page["next_cursor"] is None:
                return
            query["cursor"] = page["next_cursor"]

    async def memory(self, id: str) -> api.Memory:
        return cast(api.Memory, await self._send(Call("GET", path_of("/v1/memories/{id}", id=id))))

    async def history(self, id: str) -> list[api.HistoryEvent]:
        """What happened to a memory, oldest first."""
        answer = await self._send(Call("GET", path_of("/v1/memories/{id}/history", id=id)))
        return cast(list[api.HistoryEvent], answer["results"])

    async def sources(self, id: str, *, before: int = 0, after: int = 0) -> list[api.Source]:
        """The messages a memory came from, and those around them."""
        query = {"before": before, "after": after}
        answer = await self._send(Call("GET", path_of("/v1/memories/{id}/sources", id=id), query=query))
        return cast(list[api.Source], answer["results"])

    # Changing it

    async def write(self, memory: str, **options: Unpack[api.WriteOptions]) -> api.WrittenMemory:
        """Writes a memory verbatim, without a model."""
        body = {"memory": memory, **options}
        return cast(api.WrittenMemory, await self._send(Call("POST", "/v1/memories", body=body)))

    async def update(self, id: str, **options: Unpack[api.UpdateOptions]) -> api.WrittenMemory:
        """Changes a memory; what is not named stays as it is."""
        call = Call("PATCH", path_of("/v1/memories/{id}", id=id), body=options)
        return cast(api.WrittenMemory, await self._send(call))

    async def delete(self, id: str, *, dry_run: bool = False) -> api.ForgottenMemory:
        """Forgets a memory; restore brings it back."""
        call = Call("DELETE", path_of("/v1/memories/{id}", id=id), query={"dry_run": dry_run})
        return cast(api.ForgottenMemory, await self._send(call))

    async def delete_all(
        self, *, filters: api.Filters | None = None, dry_run: bool = False, **options: Unpack[api.DeleteAllOptions]
    ) -> api.DeletedMemories:
        """Forgets all memories of an owner, or those that the filters match."""
        query = {**options, "filters": filters, "dry_run": dry_run}
        return cast(api.DeletedMemories, await self._send(Call("DELETE", "/v1/memories", query=query)))

    async def restore(self, id: str, version: int) -> api.WrittenMemory:
        """Makes a version of a memory the current one again."""
        call = Call("POST", path_of("/v1/memories/{id}/restore", id=id), body={"version": version})
        return cast(api.WrittenMemory, await self._send(call))

    async def undo(self, consolidation_id: str, **options: Unpack[api.UndoOptions]) -> api.UndoReport:
        """Takes back what a consolidation did. Batches name theirs as consolidation_id."""
        call = Call("POST", path_of("/v1/consolidations/{id}/undo", id=consolidation_id), body=options)
        return cast(api.UndoReport, await self._send(call))

    # All of a user

    async def profile(self, user_id: str) -> api.Profile:
        """What the profile says of a user, slot by slot."""
        return cast(api.Profile, await self._send(Call("GET", path_of("/v1/users/{id}/profile", id=user_id))))

    async def erase(self, user_id: str) -> api.ErasureAccepted:
        """Permanently erases everything that a user owns; erasure shows the progress."""
        return cast(api.ErasureAccepted, await self._send(Call("DELETE", path_of("/v1/users/{id}", id=user_id))))

    async def erasure(self, erasure_id: str) -> api.Erasure:
        return cast(api.Erasure, await self._send(Call("GET", path_of("/v1/erasures/{id}", id=erasure_id))))

    async def export(self, user_id: str) -> AsyncIterator[dict[str, Any]]:
        """All data of a user, line by line."""
        call = Call("GET", path_of("/v1/users/{id}/export", id=user_id))
        response = await self._open(call)
        try:
            async for line in response.aiter_lines():
                if line:
                    yield json.loads(line)
        except httpx.TransportError as cause:
            raise not_answered(cause, self._settings, call) from cause
        finally:
            await response.aclose()

    # Any operation

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Any request of the API, such as send("GET", "/v1/stats"); returns the JSON of its answer."""
        return await self._send(Call(method, path, query=query, body=body, idempotency_key=idempotency_key))

    async def _send(self, call: Call) -> Any:
        response = await self._open(call)
        try:
            await response.aread()
        except httpx.TransportError as cause:
            raise not_answered(cause, self._settings, call) from cause
        finally:
            await response.aclose()
        return response.json()

    async def _open(self, call: Call) -> httpx.Response:
        """The successful response to a call, with its body unread. Tries again if that is safe and may help."""
        tried = 0
        while True:
            response: httpx.Response | None = None
            try:
                response = await self._http.send(request_of(call, self._http, self._settings), stream=True)
                if response.is_success:
                    return response
                await response.aread()
                error = error_of(response)
            except httpx.TransportError as cause:
                error = not_answered(cause, self._settings, call)
            if tried >= self._settings.retries or not error.retryable or not call.may_repeat(error.status):
                raise error
            await asyncio.sleep(pause_before(tried, response))
            tried += 1
