import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '@slowwave/engine';
import { send } from './answering.ts';
import { type Batches, batchApi } from './batches.ts';
import {
  answerChat,
  answerEmbeddings,
  answerRerank,
  type ModelState,
  type RecordedCall,
  type RecordedEmbedding,
} from './endpoints.ts';
import {
  type EmbeddingScript,
  type HttpReply,
  type Raw,
  type RerankCall,
  type RerankScript,
  refusal,
  type Script,
  type ScriptedCall,
} from './script.ts';

const DEFAULT_DIMENSIONS = 256;

export interface ModelServerOptions {
  readonly script?: Script;
  readonly embeddingScript?: EmbeddingScript;
  /** How long an answer takes, like a model's thinking; 0 by default. */
  readonly latencyMs?: number;
  /** 'unsupported' refuses JSON schemas, as many compatible servers do. */
  readonly structuredOutput?: 'supported' | 'unsupported';
  /** Of vectors, unless the request asks for others. */
  readonly dimensions?: number;
  /** With a key, requests without it are refused. */
  readonly apiKey?: string;
  /** Where to listen; 0, the default, takes any free port. */
  readonly port?: number;
}

/** A scripted model behind the HTTP API of OpenAI. */
export interface ModelServer {
  readonly url: string;
  /** What clients are configured with: the url with /v1. */
  readonly baseUrl: string;
  readonly calls: readonly RecordedCall[];
  readonly embeddingCalls: readonly RecordedEmbedding[];
  readonly rerankCalls: readonly RerankCall[];
  readonly batches: Batches;
  /** How many connections were made to it. */
  connections(): number;
  setScript(script: Script): void;
  setEmbeddingScript(script: EmbeddingScript): void;
  setRerankScript(script: RerankScript): void;
  setLatency(ms: number): void;
  close(): Promise<void>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly apiKey: string | undefined;
  readonly batches: ReturnType<typeof batchApi>['answer'];
}

/** Starts a scripted model on the loopback interface. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const state = initialState(options);
  const batches = batchApi(() => state.script);
  const server = createServer((request, response) => {
    answer(state, { request, response, apiKey: options.apiKey, batches: batches.answer })
      .catch((error: unknown) => refusal(500, { message: `the script failed: ${String(error)}` }))
      .then((raw) => send(response, raw))
      .catch(() => response.destroy());
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  const url = await listen(server, options.port ?? 0);
  return {
    url,
    baseUrl: `${url}/v1`,
    calls: state.calls,
    embeddingCalls: state.embeddingCalls,
    rerankCalls: state.rerankCalls,
    batches: batches.api,
    connections: () => connections,
    setScript: (script) => {
      state.script = script;
    },
    setEmbeddingScript: (script) => {
      state.embeddingScript = script;
    },
    setRerankScript: (script) => {
      state.rerankScript = script;
    },
    setLatency: (ms) => {
      state.latencyMs = ms;
    },
    close: () => shut(server),
  };
}

function initialState(options: ModelServerOptions): ModelState {
  return {
    script: options.script ?? noScript,
    embeddingScript: options.embeddingScript ?? (() => null),
    latencyMs: options.latencyMs ?? 0,
    structuredOutput: options.structuredOutput ?? 'supported',
    dimensions: options.dimensions ?? DEFAULT_DIMENSIONS,
    counts: new Map(),
    calls: [],
    embeddingCalls: [],
    rerankScript: () => null,
    rerankCalls: [],
  };
}

function noScript({ name }: ScriptedCall): HttpReply {
  return refusal(500, { message: `no script was given, so nothing answers the call ${name}` });
}

async function answer(state: ModelState, exchange: Exchange): Promise<Raw> {
  const { request, response, apiKey } = exchange;
  const raw = await readBody(request);
  if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
    return refusal(401, { message: 'Incorrect API key provided.', code: 'invalid_api_key' });
  }
  const ofBatches = await exchange.batches(request, raw);
  if (ofBatches !== null) return ofBatches;
  const body = raw.length === 0 ? {} : (JSON.parse(raw.toString('utf8')) as JsonObject);
  switch (`${request.method} ${request.url}`) {
    case 'GET /v1/models':
      return { status: 200, body: { object: 'list', data: [{ id: 'scripted', object: 'model', owned_by: 'test' }] } };
    case 'POST /v1/chat/completions':
      return answerChat(state, { request: body, apiKey: keyIn(request), response });
    case 'POST /v1/embeddings':
      return answerEmbeddings(state, body);
    case 'POST /v1/rerank':
      return answerRerank(state, { request: body, apiKey: keyIn(request) });
    default:
      return refusal(404, { message: `Unknown request URL: ${request.method} ${request.url}` });
  }
}

const keyIn = ({ headers }: IncomingMessage): string | null =>
  /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? null;

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Ends every connection, idle or waiting, so that nothing outlives its test. */
async function shut(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
