import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { besideChat, observe, openEngine, placeOf, ROOM_ADVICE } from '@slowwave/adapters/assemble';
import { PostPreview } from '@slowwave/contracts';
import {
  ARE_YOU_THERE,
  adoptIndex,
  type Cancellation,
  type ChatCall,
  type ChatModel,
  copyingName,
  DEFAULT_TENANT,
  draftBatch,
  EngineError,
  EXTRACT,
  EXTRACT_PLAIN,
  estimateTokens,
  type Plan,
  preview,
} from '@slowwave/engine';
import { type Answered, promptOf, type TimedChat, timedChat } from './timed-chat.ts';
import { type Candidate, limited, NO_TIME, type Outcome, ok, secondsOf, type Try, type Trying } from './trial.ts';

/** All that consolidations need of the chat model. */
export async function chatCandidate(trying: Trying): Promise<Candidate> {
  const close = async (): Promise<void> => {};
  const { chatModel: model } = trying.config;
  if (model === null) return { model: 'builtin', tries: [BUILTIN], pace: () => '', close };
  const chat = await timedChat(trying, model);
  const tries = [
    answerTry(chat),
    ...formTries(chat),
    limitTry(chat, trying),
    roomTry(chat),
    extractionTry(chat, trying),
  ];
  return { model, tries, pace: chat.pace, close };
}

/** Models of steps, of images and fallbacks: whether they are there, and in which form they answer. */
export async function otherCandidates(trying: Trying): Promise<readonly Candidate[]> {
  const candidates: Candidate[] = [];
  for (const { model, server } of besideChat(trying.config)) {
    const config = { ...trying.config, chatModel: model, chatServer: server };
    const chat = await timedChat({ ...trying, config }, model);
    candidates.push({ model, tries: [answerTry(chat), ...formTries(chat)], pace: chat.pace, close: async () => {} });
  }
  return candidates;
}

const BUILTIN: Try = {
  tried: 'answer',
  needs: () => NO_TIME,
  run: async () => ok('builtin rules, no model server'),
};

/** Of the budget: the other model is to be tried, too. */
const ANSWER_SHARE = 2 / 3;
/** Asked for as long an answer as there may be, a server names the maximum that it allows. */
const LIMIT_MOST = 32_000; // tokens

const answerTry = (chat: TimedChat): Try => ({
  tried: 'answer',
  needs: () => NO_TIME,
  run: async () => {
    const answer = await chat.ask(ARE_YOU_THERE, { limit: LIMIT_MOST, share: ANSWER_SHARE });
    return answer === null ? tooLate(chat) : ok(`answered in ${answer.took}${refusedBy(chat)}`);
  },
});

const tooLate = (chat: TimedChat): Outcome => ({
  verdict: 'failed',
  came: chat.reached(),
  advice: `${chat.reached()}; check whether its server is busy or still loading the model, then run again, if necessary with --minutes 5`,
});

function refusedBy(chat: TimedChat): string {
  const { temperature, system, stream } = chat.takes();
  const refused = [
    ...(temperature ? [] : ['temperature']),
    ...(system ? [] : ['the system role']),
    ...(stream === 'none' ? ['streaming, or does not count tokens with it'] : []),
  ];
  return refused.length === 0 ? '' : `; refuses ${refused.join(' and ')}${chat.since}, so it is called without`;
}

/** Easy, but worth a thought. Nothing but the schema says what form the answer shall have. */
const MINUTES: ChatCall = {
  name: 'count_minutes',
  system: 'count_minutes\nHow many minutes does the journey take?',
  user: 'The train leaves at 9:40 and arrives at 11:05.\n{}',
  schema: {
    type: 'object',
    properties: { minutes: { type: 'integer' } },
    required: ['minutes'],
    additionalProperties: false,
  },
};

/** In which form it answers, and how long it thinks before: one question shows both. */
function formTries(chat: TimedChat): readonly Try[] {
  let asked: Promise<Answered | null> | null = null;
  const answer = (): Promise<Answered | null> => {
    asked ??= chat.ask(MINUTES);
    return asked;
  };
  const needs = () => (asked === null ? { ...chat.needs(promptOf(MINUTES), 0), least: FIRST } : NO_TIME);
  const tryOf = (tried: string, read: (answered: Answered) => Outcome): Try => ({
    tried,
    needs,
    run: async () => {
      const answered = await answer();
      return answered === null ? limited(chat.reached(), SLOW) : read(answered);
    },
  });
  return [
    tryOf('json_schema', (answered) => formOf(answered, chat)),
    tryOf('thinking', (answered) => thinkingIn(answered, chat)),
  ];
}

/** The first answer of a model says little of how long the next one takes: it may have been loaded for it. */
const FIRST = 0;

function formOf({ text }: Answered, chat: TimedChat): Outcome {
  const { format } = chat.takes();
  const follows = isMinutes(text);
  if (format === 'json_schema')
    return follows ? ok('accepted and followed') : limited('accepted, but not followed', TOLERANT);
  const instead = `Slowwave asks for ${format} instead`;
  return limited(
    `refused${chat.since}`,
    follows ? `${instead}; nothing to do` : `${instead}, which is not followed either; ${TOLERANT}`,
  );
}

const TOLERANT = 'its answers are parsed leniently, but a server that enforces schemas is better';

const CLOSED = '</think>';
const answerIn = (text: string): string => text.split(CLOSED).at(-1) ?? text;

function isMinutes(text: string): boolean {
  try {
    return typeof JSON.parse(answerIn(text)).minutes === 'number';
  } catch {
    return false;
  }
}

const THOUGHT_MIN = 60; // tokens

function thinkingIn({ text, usage, took }: Answered, chat: TimedChat): Outcome {
  const thoughts = chat.thoughts();
  const thought = usage.completionTokens - estimateTokens(answerIn(text));
  if (thought < THOUGHT_MIN)
    return ok(thoughts === null ? 'does not reason before it answers' : `reasons briefly, ${placeOf(thoughts)}`);
  const where = thoughts === null ? 'not shown' : placeOf(thoughts);
  return limited(`reasoned for about ${thought} tokens (${took}) about a small question, ${where}`, THINKS);
}

const THINKS =
  'this makes consolidations slow and expensive, so limit it with SLOWWAVE_CHAT_EXTRA_BODY, such as {"reasoning_effort": "low"} or {"chat_template_kwargs": {"enable_thinking": false}}';

/** Its answer has several hundred tokens. */
const COUNT: ChatCall = {
  name: 'count',
  system: 'count\nWrite all whole numbers from 1 to 300, each of them, in their order.',
  user: 'Count.\n{}',
  schema: {
    type: 'object',
    properties: { numbers: { type: 'array', items: { type: 'integer' } } },
    required: ['numbers'],
    additionalProperties: false,
  },
};
const LIMIT = 32; // tokens
/** Of the budget: a model that is not held to the limit writes on. */
const LIMIT_SHARE = 1 / 3;

/** Whether answers are held to a limit, and to which one. */
const limitTry = (chat: TimedChat, { config }: Pick<Trying, 'config'>): Try => ({
  tried: 'output limit',
  needs: () => chat.needs(promptOf(COUNT), LIMIT),
  run: async () => {
    const { extraBody = {} } = config.chatServer;
    const own = LIMITS.find((name) => name in extraBody);
    if (own !== undefined) return ok(`${own} of SLOWWAVE_CHAT_EXTRA_BODY`);
    const answer = await chat.ask(COUNT, { limit: LIMIT, share: LIMIT_SHARE });
    const { limit, outputMax } = chat.takes();
    if (limit === 'none')
      return limited('refused', 'a model in a loop writes until its timeout, so set a limit at its server');
    if (answer === null) return limited(`${chat.reached()}, at a limit of ${LIMIT} tokens`, OTHER_LIMIT);
    const { completionTokens } = answer.usage;
    if (completionTokens > 2 * LIMIT)
      return limited(`wrote ${completionTokens} tokens at a limit of ${LIMIT}`, OTHER_LIMIT);
    return ok(`${limit} is respected${outputMax ? `, up to ${outputMax} tokens` : ''}`);
  },
});

const LIMITS = ['max_completion_tokens', 'max_tokens'];
const OTHER_LIMIT =
  'its server may ignore the limit, so set the parameter that it reads in SLOWWAVE_CHAT_EXTRA_BODY, such as {"max_tokens": 8000}';

/** Prompts of consolidations have up to so many tokens, unless one batch alone is longer. */
const ROOM_LEAST = 2_000;
const ROOM_WANTED = [ROOM_LEAST, 4_000, 9_000];

/** A prompt that is little longer than one that was read shows nothing new. */
const LONGER = 1.5;
/** Every consolidation asks that much. Longer prompts are tried where there is time for them. */
const READ_MIN = 1_000; // tokens

/** Whether there is room for long prompts. */
function roomTry(chat: TimedChat): Try {
  const wanted = (): readonly number[] => ROOM_WANTED.filter((tokens) => tokens > chat.room().read * LONGER);
  return {
    tried: 'context window',
    needs: () => {
      const { read, problem } = chat.room();
      return problem !== null || read >= READ_MIN ? NO_TIME : chat.needs(ROOM_LEAST, 0);
    },
    run: async () => {
      for (const tokens of wanted()) {
        if (chat.room().problem !== null || !chat.hasTimeFor(tokens)) break;
        await chat.ask({ ...ARE_YOU_THERE, system: `${ARE_YOU_THERE.system}\n${fillerOf(tokens)}` }).catch(tooLong);
      }
      const { read, problem } = chat.room();
      if (problem !== null) return limited(problem, ROOM_ADVICE);
      return read >= READ_MIN ? ok(`at least ${read} tokens`) : limited(chat.reached(), SLOW);
    },
  };
}

/** What to do about a model that takes long for what every consolidation asks. */
const SLOW =
  'this model takes minutes for each consolidation, so choose a faster one, or set SLOWWAVE_MODEL_TIMEOUT_MS to 600000 or more';

/** That is what was to be found out. */
function tooLong(error: unknown): null {
  if (error instanceof EngineError && error.code === 'context_too_long') return null;
  throw error;
}

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

const PROMPT_TOKENS = estimateTokens(EXTRACT.system + JSON.stringify(SAID));
/** Four facts with all that belongs to them. */
const ANSWER_TOKENS = 160;

/** What is said goes through a consolidation of its own, of which nothing stays. */
const extractionTry = (chat: TimedChat, trying: Trying): Try => ({
  tried: 'extraction',
  needs: () => chat.needs(PROMPT_TOKENS, ANSWER_TOKENS),
  run: async () => {
    const { clock } = trying.budget;
    const startedAt = clock.now();
    const asked: string[] = [];
    const told: ChatModel = {
      name: chat.name,
      ask: (call, cancel) => {
        asked.push(call.name);
        return chat.askUntil(call, cancel);
      },
    };
    const plan = await trying.budget.within((cancel) => planOf(trying, told, cancel));
    if (plan !== null) return judged(plan, secondsOf(clock.now() - startedAt));
    if (!asked.includes('repair_output')) return limited(chat.reached(), SLOW);
    return limited(
      `no usable answer within ${secondsOf(clock.now() - startedAt)} after ${asked.length} attempts`,
      WEAK,
    );
  },
});

const WEAK = 'this model is too weak to be reliable, so choose a larger one with SLOWWAVE_CHAT_MODEL';

function judged({ facts, discards, usage, prompts }: Plan, took: string): Outcome {
  const wanted = SAID.flatMap(([, word]) => word ?? []);
  const found = wanted.filter((word) => facts.some(({ text }) => text.includes(word)));
  const tokens = `${usage.promptTokens} + ${usage.completionTokens} tokens`;
  const how = prompts.some(({ version }) => version === EXTRACT_PLAIN.version)
    ? ', called without examples, because it copies them'
    : '';
  const came = `${found.length} of ${wanted.length} found, ${discards.length} discarded as unusable or made up; ${took}, ${tokens}${how}`;
  return found.length >= FOUND_MIN && discards.length <= found.length ? ok(came) : limited(came, WEAK);
}

async function planOf({ config, log, known }: Trying, chat: ChatModel, cancel: Cancellation): Promise<Plan> {
  const dataDir = await mkdtemp(join(tmpdir(), 'slowwave-models-'));
  const apart = { ...config, dataDir, databaseUrl: null, redisUrl: null, qdrant: null, indexInDatabase: false };
  const embedder = { embeddingModel: null, localModel: null, embeddingDimensions: null };
  const observer = observe({ ...config, traces: null }, { log, service: 'slowwave-cli' });
  try {
    const engine = await openEngine({ ...apart, ...embedder, imageModel: null }, log, observer);
    try {
      const deps = { ...engine.deps, chat, chats: {} };
      await adoptIndex(deps);
      // Asked as a server would ask it.
      await deps.ledger.models.put(copyingName(chat.name), await known.get(copyingName(chat.name)));
      const messages = SAID.map(([content]) => ({ role: 'user', content }));
      const posted = {
        tenant: DEFAULT_TENANT,
        body: PostPreview.parse({ user_id: 'nadia', messages }),
        key: null,
        timezone: null,
      };
      const batch = draftBatch(deps.tools, { ...posted, ownAppOnly: false });
      return await preview(deps, { batch, tried: {} }, cancel);
    } finally {
      for (const part of engine.parts) await part.close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
