import type { EngineDeps } from '../deps.ts';
import { ownerBitsOf, ownerHashOf } from '../ids.ts';
import { idListsOf } from '../memories/said-ids.ts';
import { EXPLICIT_SEQ } from '../memories/write.ts';
import { DEFAULT_CATEGORIES } from '../models/prompts/consolidation.ts';
import type { HeldOperation } from '../plan.ts';
import { type Night, TOPIC_OWNERS, type Topic } from '../ports/ledger/nights.ts';
import { memoriesOf } from '../retention/retain.ts';
import type { TenantSettings } from '../settings.ts';
import type { Memory, Owner } from '../words.ts';
import { type Live, liveOf } from './drafts.ts';

/*
 * What an agent could learn over its users: which of the tenant's categories most of them have memories in. Counted are categories, by the
 * hash of the owner; no word of a user is kept, shown or asked of a model. It is proposed to a person, and nothing is learnt without one.
 */

/** More than so many of an agent's users: most. */
const MOST = 0.5;
/** Says nothing in particular. */
const NO_TOPICS: ReadonlySet<string> = new Set(['misc', 'procedural']);

type LearnDeps = Pick<EngineDeps, 'ledger' | 'tools'>;

/** Counts one user, and proposes what most users of the same agents have in common by now. */
export async function learnOver(
  { ledger, tools }: LearnDeps,
  { night, rules }: { readonly night: Night; readonly rules: TenantSettings },
): Promise<void> {
  const { tenant, lane, owner } = night;
  if (!rules.sleep.agents || owner.kind !== 'user') return;
  const lives = (await memoriesOf({ ledger }, lane)).flatMap(liveOf);
  const topics = topicsOf(lives, new Set(rules.categories ?? DEFAULT_CATEGORIES));
  const ownerHash = ownerHashOf(tools, { ledgerId: ledger.id, tenant, owner });
  await ledger.topics.put({ tenant, lane, ownerHash }, topics, tools.now());
  for (const agentId of new Set(topics.map((one) => one.agentId))) {
    const counts = await ledger.topics.of(tenant, agentId);
    const common = counts.filter(({ owners, ownersInAll }) => owners >= TOPIC_OWNERS && owners > MOST * ownersInAll);
    for (const { topic } of common) await propose({ ledger, tools }, { tenant, agentId, topic });
  }
}

/** Of what users say of themselves: no records, no stranger's words, and nothing that was concluded. */
function topicsOf(lives: readonly Live[], known: ReadonlySet<string>): readonly Topic[] {
  const topics = lives.filter(isOwn).flatMap(({ memory, version: { details } }): Topic[] => {
    const { category } = details;
    if (category === null || NO_TOPICS.has(category) || !known.has(category)) return [];
    return [...idListsOf(memory).agentId].map((agentId) => ({ agentId, topic: category }));
  });
  return [...new Map(topics.map((one) => [JSON.stringify(one), one])).values()];
}

function isOwn({ version: { details } }: Live): boolean {
  const { about, trust, flagged, concluded } = details;
  return (
    about === 'user' && trust !== 'external' && trust !== 'inferred' && flagged !== true && concluded === undefined
  );
}

async function propose(
  { ledger, tools }: LearnDeps,
  { tenant, agentId, topic }: Topic & Pick<Memory, 'tenant'>,
): Promise<void> {
  const owner: Owner = { kind: 'agent', id: agentId };
  const now = tools.now();
  const lane = await ledger.memories.laneOf(tenant, owner, now);
  const bits = ownerBitsOf(tools, { tenant, owner });
  const operation: HeldOperation = {
    ...{ id: tools.id('rev', bits), kind: 'ADD', fact: null, factText: null, memoryId: tools.id('mem', bits) },
    ...{ before: null, after: `Most users talk about ${topic.replaceAll('_', ' ')}`, topic },
    reason: `at least ${TOPIC_OWNERS} users of this agent have memories in the category ${topic}, and so do most of its users`,
    ...{ decidedBy: 'rule', saidAt: { at: now, seq: EXPLICIT_SEQ }, validFrom: now, sourceIds: [] },
    details: {
      ...{ category: topic, language: 'en', about: 'agent', trust: 'inferred', quote: null, sourceIds: [] },
      ...{ metadata: {}, immutable: false, expiresAt: null },
    },
  };
  const scope = { userId: null, agentId, runId: null, appId: null };
  await ledger.topics.propose({ tenant, lane, scope }, operation, now);
}
