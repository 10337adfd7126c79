import { variantAsItWas } from '../canaries/variant.ts';
import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { ownerBitsOf } from '../ids.ts';
import { saidWhen } from '../messages/messages.ts';
import { accountOf, afford } from '../models/limits.ts';
import type { Plan } from '../plan.ts';
import type { NewBatch, Turn } from '../ports/ledger/lanes.ts';
import type { Asked, Consolidation, StoredAnswer, ThoughtStore } from '../ports/ledger/thoughts.ts';
import type { ChatCall, ChatModel } from '../ports/models.ts';
import { type Cancellation, silentMeter } from '../ports/tools.ts';
import type { TriedSettings } from '../settings.ts';
import { type JsonObject, type LaneId, ownerOf } from '../words.ts';
import { type GatheredTurn, gather, planOf, type Recalled } from './consolidate.ts';
import { decide } from './decide.ts';
import { type Copying, copyingName, EXTRACT_PLAIN, seenCopying } from './extract/infer.ts';
import { extract } from './extract.ts';

/** Names the lane of an owner who has none yet. No ledger gives such an id, so nothing is found under it. */
const NO_LANE = '' as LaneId;

/**
 * What a batch would do if it were consolidated now: the whole plan, with nothing written. Its model calls are counted and
 * have to fit the budgets, as those of a consolidation.
 */
export async function preview(
  deps: EngineDeps,
  { batch, tried }: { readonly batch: NewBatch; readonly tried: TriedSettings },
  cancel: Cancellation,
): Promise<Plan> {
  const terms = await deps.ledger.settings.terms(batch.tenant);
  const turn = await unclaimedTurn(deps, batch);
  const { tenant } = turn;
  if (turn.settings.mode !== 'verbatim')
    await afford(deps, { tenant, account: await accountOf(deps, tenant, turn.owner), terms });
  const dry = { ...deps, ledger: { ...deps.ledger, thoughts: forgetful(deps) } };
  const context = await deps.ledger.thoughts.context(turn.lane, batch.scope, deps.settings.recentMessages);
  const gathered = { turn, ...terms, ...context, ...newIn(batch), thought: { plan: null, answers: [], former: [] } };
  const rules = { ...terms.rules, ...tried };
  return planOf(dry, { ...gathered, rules }, cancel);
}

/** A turn that nobody claimed. */
async function unclaimedTurn({ ledger, tools }: EngineDeps, batch: NewBatch): Promise<Turn> {
  const owner = ownerOf(batch.scope);
  const lane = await ledger.lanes.find(batch.tenant, owner);
  return {
    tenant: batch.tenant,
    lane: lane?.id ?? NO_LANE,
    owner,
    generation: 0,
    epoch: 0,
    consolidationId: tools.id('con', ownerBitsOf(tools, { tenant: batch.tenant, owner })),
    scope: batch.scope,
    settings: batch.settings,
    batchIds: [],
    variant: null,
    attempts: 0,
    claimedAt: batch.acceptedAt,
    purpose: 'preview',
  };
}

/** The previewed messages in the place of pinned ones. */
function newIn(batch: NewBatch): Pick<GatheredTurn, 'messages' | 'metadata'> {
  const { acceptedAt } = batch;
  const messages = batch.messages.map((message, i) => {
    const { at: _at, clock: _clock, ...rest } = message;
    const { at: saidAt, ...when } = saidWhen(message, { acceptedAt, seenUntil: 0 });
    return { ...rest, batchId: batch.id, saidAt: { at: saidAt, seq: i }, ...when, resent: false };
  });
  return { messages, metadata: new Map([[batch.id, batch.metadata]]) };
}

/** Thoughts that are kept for as long as the preview takes; of its calls the ledger learns what they have used. */
function forgetful({ ledger }: EngineDeps): ThoughtStore {
  const answers: StoredAnswer[] = [];
  return {
    ...ledger.thoughts,
    answer: async () => null,
    answers: async () => answers,
    lastLook: async (_turn, { rooms }, call) => ({
      holds: true,
      answer: null,
      isNoted: await ledger.usage.note(call, rooms),
    }), // nobody else has it
    storeAnswer: async (_turn, answer, call) => {
      answers.push(answer);
      if (call) await ledger.usage.settle([call]);
      return { kind: 'stored' };
    },
    storeVectors: async () => {},
  };
}

/** What a model was sent, word for word. */
export type Question = Pick<ChatCall, 'system' | 'user'>;

/** By their answers. An answer without one: its question is another today. */
type Questions = Map<StoredAnswer, Question>;

/**
 * What the models of a consolidation were asked. Questions are not kept, only their hashes: they are put together again from the
 * messages, the settings and the plan, and count only if the hash is that of the answer. So no message comes back through
 * them that was hidden, removed or erased since: then the question is another, and none is shown.
 */
export async function questionsOf(
  deps: EngineDeps,
  { consolidation, plan, answers }: ThoughtOf,
  cancel: Cancellation,
): Promise<ReadonlyMap<StoredAnswer, Question>> {
  const found: Questions = new Map();
  const claimed = answers.length === 0 ? null : await claimedTurnOf(deps, consolidation);
  if (claimed === null) return found;
  const { deps: varied, turn } = await variantAsItWas(deps, claimed);
  const again = rehearsing(varied, { plan, answers, found });
  for (let attempts = 0; attempts <= lastTryOf(answers); attempts += 1) {
    const gathered = await gather(again(attempts), { ...turn, attempts });
    await asFarAsKnown(() => extract(again(attempts), gathered, cancel));
    if (plan !== null && answers.some(({ step }) => step.startsWith('decide')))
      for (const recalled of recalledFor(gathered, plan))
        await asFarAsKnown(() => decide(again(attempts), recalled, cancel));
  }
  return found;
}

/** What is kept of what was thought of a consolidation. */
export interface ThoughtOf {
  readonly consolidation: Consolidation;
  /** The newest. */
  readonly plan: Plan | null;
  readonly answers: readonly StoredAnswer[];
}

/** The turn as it was claimed; null: its batches are gone. */
async function claimedTurnOf(
  { ledger }: EngineDeps,
  { id, tenant, lane, scope, batchIds, variant, rung, createdAt }: Consolidation,
): Promise<Turn | null> {
  const batch = await ledger.batches.get(tenant, batchIds[0] ?? '');
  if (batch === null) return null;
  const { settings } = batch;
  const claim = { generation: 0, epoch: 0, attempts: 0, claimedAt: createdAt, ...(rung !== undefined && { rung }) };
  return { ...claim, tenant, lane, owner: ownerOf(scope), consolidationId: id, scope, settings, batchIds, variant };
}

/** Answers that were no use are kept under the number of the try that they were given in. */
const TRY = /:(?:unusable|unrepaired):(\d+)$/u;

const tryOf = ({ step }: Pick<StoredAnswer, 'step'>): number | null => {
  const [, number] = TRY.exec(step) ?? [];
  return number === undefined ? null : Number(number);
};

/** The try after the last one that came to nothing. */
const lastTryOf = (answers: readonly StoredAnswer[]): number =>
  Math.max(0, ...answers.map((one) => (tryOf(one) ?? -1) + 1));

/** The memories that facts were compared with, as the plan has them. What a rule had decided the model was not asked. */
function recalledFor(gathered: GatheredTurn, { facts, discards, candidates, operations }: Plan): readonly Recalled[] {
  const byRule = new Set(operations.filter(({ decidedBy }) => decidedBy === 'rule').map(({ fact }) => fact));
  const open = facts.filter(({ id }) => !byRule.has(id));
  return [open, facts].map((asked) => ({
    ...gathered,
    ...{ facts: asked, discards, candidates, remarks: [], prompts: [], undecided: true },
    ...{ memories: new Map(), shared: new Set(), repeats: new Map(), tombstones: new Map() },
  }));
}

interface Rehearsed {
  readonly plan: Plan | null;
  readonly answers: readonly StoredAnswer[];
  readonly found: Questions;
}

/** Thinking once more with the answers at hand: whoever asks a model is given what was answered then, and nothing is written. */
function rehearsing(deps: EngineDeps, { plan, answers, found }: Rehearsed): (attempt: number) => EngineDeps {
  const { ledger, chat, chats, imageModel } = deps;
  const now: { asked: Asked } = { asked: { inputHash: '', steps: [] } };
  const model = (name: string): ChatModel => ({
    name,
    ask: async (call) => {
      await call.lastLook?.();
      const answer = answerTo(answers, now.asked);
      if (answer === undefined) throw notAnswered(answers, now.asked);
      found.set(answer, { system: call.system, user: call.user });
      return answer;
    },
  });
  const copying = seenCopying(deps.tools.now());
  const isPlain = plan?.prompts.some(({ version }) => version === EXTRACT_PLAIN.version) === true;
  const planned = (step: 'extract' | 'decide') => plan?.models[step] ?? plan?.models.chat;
  const copier = planned('extract');
  const known = async (name: string): Promise<JsonObject | null> =>
    copier !== undefined && name === copyingName(copier) ? (isPlain ? asJson(copying) : null) : ledger.models.get(name);
  const asThen = (step: 'extract' | 'decide', today: string): ChatModel => model(planned(step) ?? today);
  return (attempt) => ({
    ...deps,
    meter: silentMeter,
    bulk: null,
    chats: {
      extract: asThen('extract', (chats.extract ?? chat).name),
      decide: asThen('decide', (chats.decide ?? chat).name),
    },
    otherChat: (today, use) => asThen(use === 'decide' ? use : 'extract', today),
    imageModel: imageModel && model(imageModel.name),
    ledger: {
      ...ledger,
      models: { ...ledger.models, get: known, put: async () => {} },
      thoughts: {
        ...ledger.thoughts,
        answer: async (_, step, inputHash) => failedBefore(answers, { step, inputHash, attempt }),
        lastLook: async (_, asked) => {
          now.asked = asked;
          return { holds: true, answer: null, isNoted: true };
        },
        storeAnswer: async () => ({ kind: 'stored' }),
      },
      usage: { ...ledger.usage, note: async () => true, settle: async () => {} },
    },
  });
}

const asJson = (copying: Copying) => copying as unknown as JsonObject;

/** Of several names under which it may be kept, that of an answer which was no use comes first: it was given before. */
const answerTo = (answers: readonly StoredAnswer[], { inputHash, steps }: Asked): StoredAnswer | undefined =>
  steps
    .toReversed()
    .map((step) => answers.find((one) => one.step === step && one.inputHash === inputHash))
    .find((answer) => answer !== undefined);

interface Earlier {
  readonly step: string;
  readonly inputHash: string;
  readonly attempt: number;
}

/** What was known at the beginning of a try: what came to nothing in those before it. */
function failedBefore(answers: readonly StoredAnswer[], { step, inputHash, attempt }: Earlier): StoredAnswer | null {
  const known = answers.find((one) => one.step === step && one.inputHash === inputHash);
  const number = known === undefined ? null : tryOf(known);
  return known !== undefined && number !== null && number < attempt ? known : null;
}

/** Nobody answered: it was too long, and asked about in halves; or it differs from the question asked then. */
const notAnswered = (answers: readonly StoredAnswer[], { steps }: Asked): EngineError =>
  answers.some(({ step }) => step.startsWith(`${steps[0]}/`))
    ? new EngineError('it was asked in two halves', { code: 'context_too_long', retryable: false })
    : new EngineError('it differs from the question asked then', { code: 'internal', retryable: false });

/** What follows from a question that is not known is not known either, and neither is how a failed try would have gone on. */
async function asFarAsKnown(rehearse: () => Promise<unknown>): Promise<void> {
  try {
    await rehearse();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}
