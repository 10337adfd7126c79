import type { EngineDeps } from '../deps.ts';
import { ownerBitsOf } from '../ids.ts';
import { saidWhen } from '../messages/messages.ts';
import { accountOf, afford } from '../models/limits.ts';
import type { Plan } from '../plan.ts';
import type { NewBatch, Turn } from '../ports/ledger/lanes.ts';
import type { StoredAnswer, ThoughtStore } from '../ports/ledger/thoughts.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { TriedSettings } from '../settings.ts';
import { type LaneId, ownerOf } from '../words.ts';
import { planOf } from './consolidate.ts';
import type { GatheredTurn } from './values.ts';

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
  const turn = await turnOf(deps, batch);
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
async function turnOf({ ledger, tools }: EngineDeps, batch: NewBatch): Promise<Turn> {
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
