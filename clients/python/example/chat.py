"""A chat that knows its user, with any server that speaks OpenAI's API."""

import argparse
import sys
import uuid
from typing import Any

import httpx
from slowwave import NoAnswerError, Slowwave

parser = argparse.ArgumentParser()
parser.add_argument("--url", default="http://127.0.0.1:7070")
parser.add_argument("--key")
parser.add_argument("--user", default="ana")
parser.add_argument("--model-url", default="http://127.0.0.1:11434/v1")
parser.add_argument("--model-key", default="none")
parser.add_argument("--model", default="qwen3")
given = parser.parse_args()

slowwave = Slowwave(given.url, given.key)
run = f"chat-{uuid.uuid4()}"
turns: list[dict[str, Any]] = []


def known() -> str:
    """A chat goes on without its memory rather than not at all."""
    try:
        return slowwave.context(user_id=given.user, messages=turns[-10:], timeout_ms=500)["text"]
    except NoAnswerError as error:
        print(f"memory: {error}", file=sys.stderr)
        return ""


def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
    response = httpx.post(
        f"{given.model_url}/chat/completions",
        json={"model": given.model, "messages": messages},
        headers={"authorization": f"Bearer {given.model_key}"},
        timeout=120,
    )
    message: dict[str, Any] = response.raise_for_status().json()["choices"][0]["message"]
    return message


for line in sys.stdin:
    turns.append({"role": "user", "content": line.strip()})
    memory = known()
    system = [{"role": "system", "content": memory}] if memory else []
    turns.append(answer([*system, *turns[-10:]]))
    slowwave.add(turns[-2:], user_id=given.user, run_id=run)
    print(f"you: {line.strip()}\nbot: {turns[-1]['content']}", flush=True)
