import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { observe, openEngine, unknownChat } from '@slowwave/adapters/assemble';
import { PostPreview } from '@slowwave/contracts';
import {
  ARE_YOU_THERE,
  adoptIndex,
  type ChatCall,
  DEFAULT_TENANT,
  draftBatch,
  type Plan,
  preview,
} from '@slowwave/engine';
import { hasRoom, isLimited, SLOW, thinks } from './limits.ts';
import { attempt, limited, ok, SECOND_MS, secondsSince, type Trial, type Trying, within } from './trial.ts';

/** At most: the best form of answers that works is the last one that is tried. */
export const CHAT_TRIALS = 8;

/** Tries all that consolidations need of the chat model. One that does not answer is asked nothing else. */
export async function tryChat(trying: Trying): Promise<readonly Trial[]> {
  const { chatModel } = trying.config;
  if (chatModel === null) return [{ model: 'builtin', tried: 'answer', ...ok('builtin rules, no model server') }];
  const model = chatModel;
  const tried = (name: string, work: () => ReturnType<Parameters<typeof attempt>[2]>) =>
    attempt(trying, { model, tried: name }, work);
  const first = await tried('answer', () => answers(trying, model));
  if (first.verdict === 'failed') return [first];
  return [
    first,
    ...(await formsOf(trying, model)),
    await tried('output limit', () => isLimited(trying, model)),
    await tried('thinking', () => thinks(trying, model)),
    await tried('context window', () => hasRoom(trying, model)),
    await tried('extraction', () => extracts(trying)),
  ];
}

/** The best form that works is the one that is used. */
async function formsOf(trying: Trying, model: string): Promise<readonly Trial[]> {
  const trials: Trial[] = [];
  for (const format of FORMATS) {
    const trial = await attempt(trying, { model, tried: format }, () => isAskedFor(trying, model, format));
    trials.push(trial);
    if (trial.verdict === 'ok') break;
  }
  return trials;
}

async function answers({ config, log, cancel }: Trying, model: string) {
  const { chat, takes } = await unknownChat(config, { model, log });
  const startedAt = performance.now();
  await chat.ask(ARE_YOU_THERE, cancel);
  const { temperature, system, stream } = takes();
  const refused = [
    ...(temperature ? [] : ['temperature']),
    ...(system ? [] : ['the system role']),
    ...(stream === 'none' ? ['streaming, or does not count tokens with it'] : []),
  ];
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
  if (taken !== format) return limited('refused', `Slowwave asks for ${taken} instead; nothing to do`);
  if (isColour(text)) return ok('accepted and followed');
  return limited(
    'accepted, but not followed',
    'its answers are read tolerantly, but a server that enforces schemas is better',
  );
}

function isColour(text: string): boolean {
  try {
    return typeof JSON.parse(text).colour === 'string';
  } catch {
    return false;
  }
}

/** What is said, and a word that what is remembered of it has to have; null: nothing is to be remembered. */
const SAID: readonly (readonly [message: string, word: string | null])[] = [
  ["I'm Nadia and I moved to Porto in March.", 'Porto'],
  ['My dog Biscuit is afraid of thunder.', 'Biscuit'],
  ['Ich bin allergisch gegen Erdnüsse.', 'Erdn'],
  ['下个月我开始在柏林的一家银行工作。', '柏林'],
  ['Thanks! What is 17 times 23?', null],
];
const FOUND_MIN = 3;
/** Nobody waits longer for a check. */
const EXTRACTION_MOST_MS = 90_000;

/** What is said goes through a consolidation of its own, of which nothing stays. */
async function extracts(trying: Trying) {
  const startedAt = performance.now();
  const plan = await within(trying, EXTRACTION_MOST_MS, (signal) => planOf(trying, signal));
  if (plan === null) return limited(`not done within ${EXTRACTION_MOST_MS / SECOND_MS} s`, SLOW);
  const { facts, discards, usage } = plan;
  const wanted = SAID.flatMap(([, word]) => word ?? []);
  const found = wanted.filter((word) => facts.some(({ text }) => text.includes(word)));
  const took = `${secondsSince(startedAt)}, ${usage.promptTokens} + ${usage.completionTokens} tokens`;
  const came = `${found.length} of ${wanted.length} found, ${discards.length} discarded as unusable or made up; ${took}`;
  if (found.length >= FOUND_MIN && discards.length <= found.length) return ok(came);
  return limited(came, 'this model is too weak to be relied on, so choose a larger one with SLOWWAVE_CHAT_MODEL');
}

async function planOf({ config, log }: Trying, cancel: AbortSignal): Promise<Plan> {
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
