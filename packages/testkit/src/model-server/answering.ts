import type { ServerResponse } from 'node:http';
import { cosine, hashVector, type JsonObject } from '@slowwave/engine';
import type { HttpReply, Raw, Reply } from './script.ts';
import { sendEvents } from './streaming.ts';

const RERANK_DIMENSIONS = 256;
const CHARS_PER_TOKEN = 4; // what English text comes to; usage only has to be plausible

export interface Tokens {
  readonly prompt: number;
  readonly completion: number;
}

export function countTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** An answer as the model would write it. */
export function answerText(reply: Exclude<Reply, Raw>): string {
  return 'json' in reply ? JSON.stringify(reply.json) : reply.text;
}

/** The body of a chat answer as OpenAI sends it. */
export function completion(request: JsonObject, answer: { text: string; finish: string; tokens: Tokens }): object {
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: 0,
    model: request.model ?? 'scripted',
    choices: [
      { index: 0, message: { role: 'assistant', content: answer.text, refusal: null }, finish_reason: answer.finish },
    ],
    usage: {
      prompt_tokens: answer.tokens.prompt,
      completion_tokens: answer.tokens.completion,
      total_tokens: answer.tokens.prompt + answer.tokens.completion,
    },
  };
}

/** The body of an embeddings answer as OpenAI sends it. */
export function embeddings(request: JsonObject, texts: readonly string[], ownDimensions: number): object {
  const dimensions = typeof request.dimensions === 'number' ? request.dimensions : ownDimensions;
  const encode = request.encoding_format === 'base64' ? toBase64 : (vector: Float32Array) => Array.from(vector);
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  return {
    object: 'list',
    model: request.model ?? 'scripted',
    data: texts.map((text, index) => ({ object: 'embedding', index, embedding: encode(hashVector(text, dimensions)) })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** The body of a reranker's answer as Cohere and Jina send it: all documents, best first. */
export function relevance(query: string, documents: readonly string[]): object {
  const asked = hashVector(query, RERANK_DIMENSIONS);
  const results = documents.map((document, index) => ({
    index,
    relevance_score: cosine(hashVector(document, RERANK_DIMENSIONS), asked),
  }));
  return { model: 'scripted', results: results.sort((a, b) => b.relevance_score - a.relevance_score) };
}

export async function send(response: ServerResponse, reply: Raw): Promise<void> {
  if ('status' in reply) sendBody(response, reply);
  else if ('events' in reply) await sendEvents(response, reply);
  else if ('drop' in reply) breakOff(response, reply.drop);
  else if (reply.timeout === 'midway') startOnly(response);
}

function sendBody(response: ServerResponse, reply: HttpReply): void {
  const { status, headers = {}, body = {} } = reply;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers }).end(text);
}

function breakOff(response: ServerResponse, when: true | 'midway'): void {
  if (when === true) response.destroy();
  else startOnly(response, () => response.destroy());
}

function startOnly(response: ServerResponse, then?: () => void): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"choices":[', then);
}

function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}
