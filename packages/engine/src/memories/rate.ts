import type { EngineDeps } from '../deps.ts';
import { ownerBitsOf } from '../ids.ts';
import type { HeldOperation } from '../plan.ts';
import type { MemoryChange, Proposal } from '../ports/ledger/memories.ts';
import type { NewFeedback, Rater, WriteResult } from '../ports/writers.ts';
import type { Memory, MemoryEvent, MemoryVersion, TenantId, Under } from '../words.ts';
import { holdingMarks, liveVersion } from './evolve.ts';
import { isRemoved, shownVersion } from './former.ts';
import { inApp } from './in-app.ts';
import { lastRating, ratingsOf } from './ratings.ts';
import { changeOf, eventOf, TRIES_MAX, type WriteDeps, write } from './write.ts';

type RateDeps = WriteDeps & Pick<EngineDeps, 'meter'>;

export const rater = (deps: RateDeps): Rater => ({
  rate: (tenant, id, feedback) => rate(deps, { ...feedback, tenant, id }),
});

interface Rating extends NewFeedback {
  readonly tenant: TenantId;
  readonly id: string;
}

/** Somebody rates a version of a memory: one more event of its history, which leaves what it says as it is. */
async function rate(deps: RateDeps, rating: Rating): Promise<WriteResult> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const memory = await deps.ledger.memories.get(rating.tenant, rating.id);
    const known = memory === null ? null : asKnown(memory, rating);
    if (memory === null || known === null || liveVersion(known) === null) return { kind: 'not_found' };
    const version = versionMeant(deps, known, rating);
    if (version === undefined) return { kind: 'no_version' };
    if (isRemoved(version)) return { kind: 'removed' };
    if (await isSaid(deps, { memory, version, rating })) return { kind: 'written', memory: known };
    const change = changeOf(memory, memory, eventFor(deps, memory, { version, rating }));
    const proposal = proposalOf(deps, { change, version, rating });
    const written = await write(deps, rating.tenant, { changes: [change], proposal });
    if (written.kind === 'conflict') continue;
    noteOpinion(deps, rating);
    return { kind: written.kind, memory: asKnown(change.memory, rating) ?? known };
  }
  return { kind: 'conflict' };
}

function noteOpinion({ meter }: RateDeps, { tenant, rating }: Rating): void {
  if (rating !== null) meter.opinions(tenant, 'rating', [rating === 'positive' ? 'for' : 'against']);
}

const asKnown = (memory: Memory, { appId }: Rating): Memory | null => (appId === null ? memory : inApp(memory, appId));

function versionMeant(
  { tools }: WriteDeps,
  known: Memory,
  { version = shownVersion(known, tools.now()).number }: Rating,
): MemoryVersion | undefined {
  return known.versions.find(({ number }) => number === version);
}

interface Meant {
  readonly version: MemoryVersion;
  readonly rating: Rating;
}

/**
 * Whether a rating changes nothing, for nobody: it is the last one of all, and the last one that its app has given. The same rating
 * with another reason says something new; without any it does not.
 */
async function isSaid({ ledger }: WriteDeps, of: Meant & { readonly memory: Memory }): Promise<boolean> {
  const { memory, version, rating } = of;
  const ratings = ratingsOf(memory)(version.number);
  const own = ratings.filter(({ under }) => (under?.appId ?? null) === rating.appId);
  if (lastRating(ratings) !== rating.rating || lastRating(own) !== rating.rating) return false;
  const last = own.at(-1);
  if (rating.reason === null || rating.rating === null || last === undefined) return true;
  const asked = { tenant: memory.tenant, owner: memory.owner, ids: [memory.id] };
  const since = await ledger.lookups.histories(asked, memory.revision - last.revision + 1);
  const event = since.get(memory.id)?.find(({ revision }) => revision === last.revision);
  return event?.reason === rating.reason;
}

const WITHOUT_REASON = 'rated by API';
const OF_NO_OTHER_ID = { agentId: null, runId: null } as const;

function eventFor(deps: WriteDeps, memory: Memory, { version, rating }: Meant): MemoryEvent {
  const { appId, reason } = rating;
  const under: Under | null = appId === null ? null : { ...OF_NO_OTHER_ID, appId };
  return eventOf(deps, memory, {
    ...{ kind: 'FEEDBACK', text: null, details: null, validFrom: deps.tools.now() },
    ...{ reason: reason ?? WITHOUT_REASON, rated: { version: version.number, rating: rating.rating } },
    ...(under !== null && { under }),
  });
}

/**
 * Whether a memory is to be deleted that somebody finds very bad, a person decides. What ended is not proposed; a proposal ends by
 * itself with its rating.
 */
function proposalOf(deps: WriteDeps, of: Meant & { readonly change: MemoryChange }): Proposal | undefined {
  const { version, rating, change } = of;
  const { memory } = change;
  const isProposed = rating.rating === 'very_negative' && holdingMarks(memory.timeline).includes(version.number);
  return isProposed ? { memoryId: memory.id, note: 'it was rated again', opens: deletionOf(deps, of) } : undefined;
}

function deletionOf(
  { tools }: WriteDeps,
  { version, rating, change }: Meant & { readonly change: MemoryChange },
): HeldOperation {
  const { memory, events } = change;
  const [event] = events;
  return {
    id: tools.id('rev', ownerBitsOf(tools, memory)),
    kind: 'DELETE',
    fact: null,
    factText: null,
    memoryId: memory.id,
    before: version.text,
    after: null,
    reason: rating.reason ?? 'rated very negative',
    decidedBy: 'feedback',
    rated: version.number,
    saidAt: event?.saidAt ?? version.saidAt,
    validFrom: event?.validFrom ?? version.validFrom,
    details: null,
    sourceIds: [...version.details.sourceIds],
    forgets: true,
  };
}
