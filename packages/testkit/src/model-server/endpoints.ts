import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@slowwave/engine';
import { answerText, completion, countTokens, embeddings, relevance, type Tokens } from './answering.ts';
import { promptText, readCall } from './reading.ts';
import {
  type EmbeddingCall,
  type EmbeddingScript,
  type HttpReply,
  type Raw,
  type Reply,
  type RerankCall,
  type RerankScript,
  refusal,
  type Script,
  type ScriptedCall,
} from './script.ts';
import { streamed } from './streaming.ts';

/** One chat call as it went. */
export interface RecordedCall extends ScriptedCall {
  readonly at: number;
  /** The key that came with it; null without one. */
  readonly apiKey: string | null;
  readonly tokens: Tokens;
  /** The HTTP status; 0 while there is none, and for calls that never get any. */
  readonly status: number;
  /** The connection ended before the answer was out, or before who asked had read it: then it came too late for them. */
  readonly aborted: boolean;
  /** When the answer was out or the connection ended; null while neither is. */
  readonly endedAt: number | null;
}

export interface RecordedEmbedding extends EmbeddingCall {
  readonly at: number;
  readonly tokens: Tokens;
}

/** How the scripted model behaves at the moment, and what it was asked so far. */
export interface ModelState {
  script: Script;
  embeddingScript: EmbeddingScript;
  rerankScript: RerankScript;
  latencyMs: number;
  readonly structuredOutput: 'supported' | 'unsupported';
  readonly dimensions: number;
  /** Calls so far by name. */
  readonly counts: Map<string, number>;
  readonly calls: { -readonly [key in keyof RecordedCall]: RecordedCall[key] }[];
  readonly embeddingCalls: RecordedEmbedding[];
  readonly rerankCalls: RerankCall[];
}

interface Asked {
  readonly request: JsonObject;
  readonly apiKey: string | null;
  readonly response: ServerResponse;
}

/** POST /v1/chat/completions */
export async function answerChat(state: ModelState, { request, apiKey, response }: Asked): Promise<Raw> {
  const recorded = record(state, request, apiKey);
  response.once('close', () => {
    recorded.aborted = !response.writableFinished;
    recorded.endedAt = Date.now();
  });
  watchReading(response.socket, recorded);
  const reply = refusedSchema(state, request) ?? (await state.script({ ...recorded }));
  if (state.latencyMs > 0) await sleep(state.latencyMs);
  const raw = 'json' in reply || 'text' in reply ? plainAnswer(recorded, reply) : reply;
  if ('status' in raw) recorded.status = raw.status;
  if ('events' in raw) recorded.status = 200;
  return raw;
}

/** The last call of each connection. */
const lastOf = new WeakMap<Socket, ModelState['calls'][number]>();

/** Who closes a connection with an answer in it that they have not read resets it; else they end it in peace. */
function watchReading(socket: Socket | null, recorded: ModelState['calls'][number]): void {
  if (socket === null) return;
  const isNew = !lastOf.has(socket);
  lastOf.set(socket, recorded);
  if (!isNew) return;
  socket.once('close', (wasReset) => {
    const last = lastOf.get(socket);
    if (wasReset && last !== undefined) last.aborted = true;
  });
}

/** POST /v1/embeddings */
export async function answerEmbeddings(state: ModelState, request: JsonObject): Promise<Raw> {
  const texts = [request.input ?? []].flat() as string[];
  const call: EmbeddingCall = { texts, request, count: state.embeddingCalls.length + 1 };
  const prompt = texts.reduce((sum, text) => sum + countTokens(text), 0);
  state.embeddingCalls.push({ ...call, at: Date.now(), tokens: { prompt, completion: 0 } });
  const raw = await state.embeddingScript(call);
  if (state.latencyMs > 0) await sleep(state.latencyMs);
  return raw ?? { status: 200, body: embeddings(request, texts, state.dimensions) };
}

/** POST /v1/rerank */
export async function answerRerank(state: ModelState, { request, apiKey }: Omit<Asked, 'response'>): Promise<Raw> {
  const { query, documents } = request as { query?: string; documents?: string[] };
  const call = { query: query ?? '', documents: documents ?? [], request, apiKey, count: state.rerankCalls.length + 1 };
  state.rerankCalls.push(call);
  if (state.latencyMs > 0) await sleep(state.latencyMs);
  return state.rerankScript(call) ?? { status: 200, body: relevance(call.query, call.documents) };
}

function record(state: ModelState, request: JsonObject, apiKey: string | null): ModelState['calls'][number] {
  const read = readCall(request);
  const count = (state.counts.get(read.name) ?? 0) + 1;
  state.counts.set(read.name, count);
  const tokens = { prompt: countTokens(promptText(request)), completion: 0 };
  const recorded = { ...read, count, at: Date.now(), apiKey, tokens, status: 0, aborted: false, endedAt: null };
  state.calls.push(recorded);
  return recorded;
}

function plainAnswer(recorded: ModelState['calls'][number], reply: Exclude<Reply, Raw>): Raw {
  const text = answerText(reply);
  const finish = ('finish' in reply ? reply.finish : undefined) ?? 'stop';
  const written = ('tokens' in reply ? reply.tokens : undefined) ?? countTokens(text);
  recorded.tokens = { ...recorded.tokens, completion: written };
  const answer = { text, finish, tokens: recorded.tokens };
  const { request } = recorded;
  return request.stream === true ? streamed(request, answer) : { status: 200, body: completion(request, answer) };
}

function refusedSchema(state: ModelState, request: JsonObject): HttpReply | null {
  const format = request.response_format as { type?: string } | undefined;
  if (state.structuredOutput === 'supported' || format?.type !== 'json_schema') return null;
  const message = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.";
  return refusal(400, { message, param: 'response_format' });
}
