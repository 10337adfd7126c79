import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { observe, openEngine } from '@slowwave/adapters/assemble';
import { PostPreview } from '@slowwave/contracts';
import {
  adoptIndex,
  type Cancellation,
  type ChatModel,
  copyingName,
  DEFAULT_TENANT,
  draftBatch,
  EXTRACT,
  EXTRACT_PLAIN,
  estimateTokens,
  type Plan,
  preview,
} from '@slowwave/engine';
import { secondsOf } from './budget.ts';
import { SLOW } from './limits.ts';
import type { TimedChat } from './timed-chat.ts';
import { limited, type Outcome, ok, type Try, type Trying } from './trial.ts';

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
export const extractionTry = (chat: TimedChat, trying: Trying): Try => ({
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
