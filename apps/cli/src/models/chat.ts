import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { observe, openEngine, unknownChat } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { PostPreview } from '@slowwave/contracts';
import {
  ARE_YOU_THERE,
  adoptIndex,
  type ChatCall,
  DEFAULT_TENANT,
  draftBatch,
  EngineError,
  estimateTokens,
  type Log,
  type Plan,
  preview,
} from '@slowwave/engine';
import { attempt, limited, ok, type Trial } from './trial.ts';

interface Trying {
  readonly config: Config;
  readonly log: Log;
  readonly cancel: AbortSignal;
}

/** Tries all that consolidations need of the chat model. One that does not answer is asked nothing else. */
export async function tryChat(trying: Trying): Promise<readonly Trial[]> {
  const { chatModel } = trying.config;
  if (chatModel === null) return [{ model: 'builtin', tried: 'answer', ...ok('builtin rules, no model server') }];
  const model = chatModel;
  const first = await attempt({ model, tried: 'answer' }, () => answers(trying, model));
  if (first.verdict === 'failed') return [first];
  const trials = [first];
  for (const format of FORMATS)
    trials.push(await attempt({ model, tried: format }, () => isAskedFor(trying, model, format)));
  trials.push(await attempt({ model, tried: 'context window' }, () => hasRoom(trying, model)));
  trials.push(await attempt({ model, tried: 'extraction' }, () => extracts(trying)));
  return trials;
}

async function answers({ config, log, cancel }: Trying, model: string) {
  const { chat, takes } = await unknownChat(config, { model, log });
  const startedAt = performance.now();
  await chat.ask(ARE_YOU_THERE, cancel);
  const { temperature, system } = takes();
  const refused = [...(temperature ? [] : ['temperature']), ...(system ? [] : ['the system role'])];
  const without = refused.length === 0 ? '' : `; refuses ${refused.join(' and ')}, so it is asked without`;
  return ok(`answered in ${secondsSince(startedAt)}${without}`);
}

const FORMATS = ['json_schema', 'json_object', 'text'] as const;

/** Nothing but the schema says what form the answer shall have. */
const COLOUR: ChatCall = {
  name: 'name_a_colour',
  system: 'name_a_colour\nName a colour.',
  user: 'Which one?\n{}',
  schema: {
    type: 'object',
    properties: { colour: { type: 'string' } },
    required: ['colour'],
    additionalProperties: false,
  },
};

async function isAskedFor({ config, log, cancel }: Trying, model: string, format: (typeof FORMATS)[number]) {
  const { chat, takes } = await unknownChat(config, { model, format, log });
  const { text } = await chat.ask(COLOUR, cancel);
  const { format: taken } = takes();
  if (taken !== format) return limited('refused', `Slowwave asks for ${taken} instead; nothing to do.`);
  if (isColour(text)) return ok('accepted and followed');
  return limited(
    'accepted, but not followed',
    'Answers are read tolerantly; a server that enforces schemas is better.',
  );
}

function isColour(text: string): boolean {
  try {
    return typeof JSON.parse(text).colour === 'string';
  } catch {
    return false;
  }
}

/** Prompts of consolidations have up to so many tokens, unless one batch alone is longer. */
const ROOM_WANTED = [2_000, 4_000, 9_000];
/** The next prompt would take at least twice as long. */
const ROOM_PATIENCE_MS = 15_000;

async function hasRoom({ config, log, cancel }: Trying, model: string) {
  const { chat } = await unknownChat(config, { model, log });
  let known = 0;
  for (const tokens of ROOM_WANTED) {
    const call = { ...ARE_YOU_THERE, system: `${ARE_YOU_THERE.system}\n${fillerOf(tokens)}` };
    const sent = estimateTokens(call.system + call.user);
    const startedAt = performance.now();
    const answer = await chat.ask(call, cancel).catch((error: unknown) => {
      if (error instanceof EngineError && error.code === 'context_too_long') return null;
      throw error;
    });
    if (answer === null) return limited(`refused a prompt of about ${sent} tokens`, ROOM_ADVICE);
    const read = answer.usage.promptTokens;
    if (read < sent * READ_SHARE)
      return limited(`read only ${read} of about ${sent} tokens, without saying so`, ROOM_ADVICE);
    known = read;
    if (performance.now() - startedAt > ROOM_PATIENCE_MS) break;
  }
  return ok(`at least ${known} tokens`);
}

const READ_SHARE = 0.6;
const ROOM_ADVICE =
  'Give it a context window of 16,384 tokens (Ollama: num_ctx; llama.cpp: --ctx-size; vLLM: --max-model-len), or lower SLOWWAVE_PART_TOKENS.';

const SENTENCE = 'The old harbour was quiet in the morning and the boats lay still. ';
const fillerOf = (tokens: number): string => SENTENCE.repeat(Math.ceil(tokens / estimateTokens(SENTENCE)));

/** What is said, and a word that what is remembered of it has to have; null: nothing is to be remembered. */
const SAID: readonly (readonly [message: string, word: string | null])[] = [
  ["I'm Nadia and I moved to Porto in March.", 'Porto'],
  ['My dog Biscuit is afraid of thunder.', 'Biscuit'],
  ['Ich bin allergisch gegen Erdnüsse.', 'Erdn'],
  ['下个月我开始在柏林的一家银行工作。', '柏林'],
  ['Thanks! What is 17 times 23?', null],
];
const FOUND_MIN = 3;

/** What is said goes through a consolidation of its own, of which nothing stays. */
async function extracts(trying: Trying) {
  const startedAt = performance.now();
  const { facts, discards, usage } = await planOf(trying);
  const wanted = SAID.flatMap(([, word]) => word ?? []);
  const found = wanted.filter((word) => facts.some(({ text }) => text.includes(word)));
  const took = `${secondsSince(startedAt)}, ${usage.promptTokens} + ${usage.completionTokens} tokens`;
  const came = `${found.length} of ${wanted.length} found, ${discards.length} discarded as unusable or made up; ${took}`;
  if (found.length >= FOUND_MIN && discards.length <= found.length) return ok(came);
  return limited(came, 'This model is too weak to be relied on; choose a larger one with SLOWWAVE_CHAT_MODEL.');
}

async function planOf({ config, log, cancel }: Trying): Promise<Plan> {
  const dataDir = await mkdtemp(join(tmpdir(), 'slowwave-models-'));
  const apart = { ...config, dataDir, databaseUrl: null, redisUrl: null, qdrant: null };
  const embedder = { embeddingModel: null, localModel: null, embeddingDimensions: null };
  const observer = observe({ ...config, traces: null }, { log, service: 'slowwave-cli' });
  try {
    const engine = await openEngine({ ...apart, ...embedder, imageModel: null }, log, observer);
    try {
      await adoptIndex(engine.deps);
      const messages = SAID.map(([content]) => ({ role: 'user', content }));
      const posted = {
        tenant: DEFAULT_TENANT,
        body: PostPreview.parse({ user_id: 'nadia', messages }),
        key: null,
        timezone: null,
      };
      return await preview(engine.deps, draftBatch(engine.deps.tools, { ...posted, ownAppOnly: false }), cancel);
    } finally {
      for (const part of engine.parts) await part.close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const SECOND_MS = 1_000;
const secondsSince = (startedAt: number): string => `${((performance.now() - startedAt) / SECOND_MS).toFixed(1)} s`;
