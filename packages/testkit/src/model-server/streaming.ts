import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@slowwave/engine';
import type { Tokens } from './answering.ts';
import type { EventReply } from './script.ts';

/** What the model wrote since the last event, as OpenAI sends it. */
export const delta = (written: object, finish: string | null = null): object => ({
  id: 'chatcmpl-scripted',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'scripted',
  choices: [{ index: 0, delta: written, finish_reason: finish }],
});

/** Pieces of an answer, one after the other, each after so many milliseconds. */
export async function* dripping(pieces: Iterable<string>, everyMs: number): AsyncGenerator<object> {
  for (const content of pieces) {
    await sleep(everyMs);
    yield delta({ content });
  }
}

const PIECE_CHARS = 12; // two or three tokens of English: some servers send more at once, none sends half a character

interface Answer {
  readonly text: string;
  readonly finish: string;
  readonly tokens: Tokens;
}

/** A whole answer as OpenAI streams it. */
export function streamed(request: JsonObject, { text, finish, tokens }: Answer): EventReply {
  const pieces = text.match(new RegExp(`[^]{1,${PIECE_CHARS}}`, 'gu')) ?? [];
  const { include_usage: isCounted = false } = (request.stream_options ?? {}) as { include_usage?: boolean };
  const usage = {
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.completion,
    total_tokens: tokens.prompt + tokens.completion,
  };
  const events = [
    delta({ role: 'assistant', content: '', refusal: null }),
    ...pieces.map((content) => delta({ content })),
    delta({}, finish),
    ...(isCounted ? [{ ...delta({}), choices: [], usage }] : []),
  ];
  const model = request.model ?? 'scripted';
  return { events: events.map((event) => ({ ...event, model })) };
}

export async function sendEvents(response: ServerResponse, { events, end = 'done' }: EventReply): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  const closed = new Promise((go) => response.once('close', go));
  for await (const event of events) {
    if (response.destroyed) return;
    const isRaw = typeof event === 'string' || event instanceof Uint8Array;
    const hasRoom = response.write(isRaw ? event : `data: ${JSON.stringify(event)}\n\n`);
    if (!hasRoom) await Promise.race([new Promise((go) => response.once('drain', go)), closed]);
  }
  if (end === 'done') response.end('data: [DONE]\n\n');
  if (end === 'bare') response.end();
  if (end === 'drop') response.destroy();
}
