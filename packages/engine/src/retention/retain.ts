import type { EngineDeps } from '../deps.ts';
import { spaceIn } from '../ids.ts';
import { goneSince, isPinned, liveVersion } from '../memories/evolve.ts';
import { formerSince, historyFrom, livesOf, withoutFormer, withoutPast } from '../memories/former.ts';
import { SLICE as REMOVALS, removeSlice } from '../memories/write.ts';
import { textHash } from '../models/embed.ts';
import { type HistoryPlace, type HistoryRemoval, readsOtherwise } from '../ports/ledger/erasures.ts';
import { DECIDED, type Review } from '../ports/ledger/feedback.ts';
import { PAGE, type Paged, slicesOf } from '../ports/ledger/ledger.ts';
import type { Cancellation } from '../ports/tools.ts';
import { type ProjectDeps, project } from '../projection/project.ts';
import type { ForgettingPolicy, TenantSettings } from '../settings.ts';
import { DAY_MS } from '../text/dates.ts';
import type { LaneId, Memory, Millis, TenantId } from '../words.ts';

/** Rows of one transaction: a few milliseconds. */
const SLICE = 50;

type RetainDeps = ProjectDeps & Pick<EngineDeps, 'log'>;

type ReadDeps = Pick<EngineDeps, 'ledger' | 'tools'>;

/** What would go now. */
export interface RetentionPreview {
  /** Batches whose messages lose their content, and consolidations that lose their plans and answers. */
  readonly batches: number;
  readonly consolidations: number;
  /** Memories whose former versions, and the events that mention them, lose their contents. */
  readonly histories: number;
  readonly memories: Readonly<Record<ForgettingCause, number>>;
  /** Forgotten memories that are erased, and cannot be restored any more. */
  readonly forgotten: number;
}

type Rules = Pick<TenantSettings, 'retention' | 'forgetting'>;

const REASONS: Readonly<Record<ForgettingCause, string>> = {
  age: 'forgotten: not changed for longer than the tenant keeps memories',
  unconfirmed: 'forgotten: not confirmed for longer than the tenant keeps unconfirmed memories',
  budget: 'forgotten: the owner has more memories than the tenant keeps, and this one was confirmed least',
};

/** What these rules would remove and forget now. Reads only. */
export async function previewRetention(deps: ReadDeps, tenant: TenantId, rules: Rules): Promise<RetentionPreview> {
  const { ledger, tools } = deps;
  const { messages, plans, history, forgotten } = limits(rules, tools.now());
  const memories = { age: 0, unconfirmed: 0, budget: 0 };
  for await (const found of forgettableOf(deps, tenant, rules)) for (const { cause } of found) memories[cause] += 1;
  return {
    batches: messages === null ? 0 : await ledger.retention.countMessages(tenant, messages),
    consolidations: plans === null ? 0 : await ledger.retention.countPlans(tenant, plans),
    histories: history === null ? 0 : await countHistories(deps, tenant, history),
    memories,
    forgotten: forgotten === null ? 0 : await countForgotten(deps, tenant, forgotten),
  };
}

/** Removes and forgets what every tenant's rules say, in slices; stopped anywhere, the next sweep goes on. */
export async function sweepRetention(deps: RetainDeps, cancel: Cancellation): Promise<void> {
  for (const tenant of await deps.ledger.retention.tenants()) {
    if (spaceIn(tenant) !== null) continue; // a what-if is looked at as it is, and goes as a whole
    const rules = await deps.ledger.settings.get(tenant);
    await removeOld(deps, { tenant, rules, cancel });
    await forgetWeak(deps, { tenant, rules, cancel });
  }
  await overwrite(deps);
}

interface Sweeping {
  readonly tenant: TenantId;
  readonly rules: Rules;
  readonly cancel: Cancellation;
}

async function removeOld(deps: RetainDeps, { tenant, rules, cancel }: Sweeping): Promise<void> {
  const { ledger, tools, log } = deps;
  const { retention } = ledger;
  const now = tools.now();
  const { messages, plans, history, forgotten } = limits(rules, now);
  const how = { limit: SLICE, now };
  const all = async (remove: () => Promise<number>): Promise<number> => {
    let removed = 0;
    for (let slice = SLICE; slice > 0 && !cancel.aborted; removed += slice) slice = await remove();
    return removed;
  };
  const batches = messages === null ? 0 : await all(() => retention.removeMessages(tenant, messages, how));
  const runs = messages === null ? 0 : await all(() => ledger.taskStates.drop(tenant, messages, SLICE));
  const consolidations = plans === null ? 0 : await all(() => retention.removePlans(tenant, plans, how));
  const histories = history === null ? 0 : await removeHistories(deps, { tenant, before: history, cancel });
  const reviews = history === null ? 0 : await emptyReviews(deps, { tenant, before: history, cancel });
  const erased = forgotten === null ? 0 : await eraseForgotten(deps, { tenant, before: forgotten, cancel });
  if (forgotten !== null) await all(() => retention.eraseWishes(tenant, forgotten, how));
  if (batches + consolidations + histories + reviews + erased + runs > 0)
    log.info({ tenant, batches, runs, consolidations, histories, reviews, forgotten: erased }, 'removed by retention');
}

async function forgetWeak(deps: RetainDeps, { tenant, rules, cancel }: Sweeping): Promise<void> {
  for await (const found of forgettableOf(deps, tenant, rules)) {
    for (const cause of ['age', 'unconfirmed', 'budget'] as const) {
      const ids = found.filter((one) => one.cause === cause).map(({ memory }) => memory.id);
      for (let start = 0; start < ids.length && !cancel.aborted; start += REMOVALS) {
        const by = { actor: 'policy', reason: REASONS[cause] } as const;
        await removeSlice(deps, tenant, { ids: ids.slice(start, start + REMOVALS), by });
      }
      if (ids.length > 0) deps.log.info({ tenant, memories: ids.length, cause }, 'forgotten by policy');
    }
    if (cancel.aborted) return;
  }
}

/** Lane by lane, where there is a policy at all. */
async function* forgettableOf(
  { ledger, tools }: ReadDeps,
  tenant: TenantId,
  { forgetting }: Rules,
): AsyncGenerator<readonly Forgettable[]> {
  if (Object.values(forgetting).every((limit) => limit === null)) return;
  const lanesOf = (last: LaneId | null, limit: number) => ledger.retention.lanes(tenant, last, limit);
  for await (const lanes of slicesOf(lanesOf))
    for (const lane of lanes) yield forgettable(await memoriesOf({ ledger }, lane), forgetting, tools.now());
}

/** All memories of a lane. */
export async function memoriesOf({ ledger }: Pick<ReadDeps, 'ledger'>, lane: LaneId): Promise<readonly Memory[]> {
  const all: Memory[] = [];
  const memories = (last: Memory | null, limit: number) => ledger.contents.memories(lane, last?.id ?? null, limit);
  for await (const slice of slicesOf(memories)) all.push(...slice);
  return all;
}

/** What is older than that goes, by its kind; null: nothing does for its age. */
export function limits({ retention, forgetting }: Rules, now: Millis) {
  const ages = [forgetting.maxAgeDays, forgetting.unconfirmedDays].filter((days) => days !== null);
  const before = (days: number | null): Millis | null => (days === null ? null : now - days * DAY_MS);
  return {
    messages: before(retention.messagesDays),
    plans: before(retention.plansDays),
    history: before(retention.historyDays),
    forgotten: before(retention.forgottenDays),
    /** Memories that were not changed since then may be forgotten by policy. */
    unchanged: before(ages.length === 0 ? null : Math.min(...ages)),
  };
}

/** Why a policy forgets a memory. */
type ForgettingCause = 'age' | 'unconfirmed' | 'budget';

interface Forgettable {
  readonly memory: Memory;
  readonly cause: ForgettingCause;
}

/** Which memories of one owner a policy forgets now. Pinned ones count for the budget, and are never among them. */
function forgettable(all: readonly Memory[], policy: ForgettingPolicy, now: Millis): readonly Forgettable[] {
  const live = all.filter((memory) => liveVersion(memory) !== null);
  const free = live.filter((memory) => !isPinned(memory));
  const old = free.flatMap((memory): Forgettable[] => {
    const cause = outlived(memory, policy, now);
    return cause === null ? [] : [{ memory, cause }];
  });
  const gone = new Set(old.map(({ memory }) => memory));
  const over = live.length - gone.size - (policy.maxMemories ?? live.length);
  const weakest = free.filter((memory) => !gone.has(memory)).sort(weakestFirst);
  const surplus = weakest.slice(0, Math.max(0, over));
  return [...old, ...surplus.map((memory) => ({ memory, cause: 'budget' }) as const)];
}

function outlived(memory: Memory, policy: ForgettingPolicy, now: Millis): ForgettingCause | null {
  const isOver = (since: Millis, days: number | null): boolean => days !== null && now - since > days * DAY_MS;
  if (isOver(memory.updatedAt, policy.maxAgeDays)) return 'age';
  return isOver(lastSaid(memory), policy.unconfirmedDays) ? 'unconfirmed' : null;
}

const lastSaid = ({ updatedAt, lastConfirmedAt }: Memory): Millis => Math.max(updatedAt, lastConfirmedAt ?? 0);

const weakestFirst = (a: Memory, b: Memory): number =>
  a.confirmations - b.confirmations || lastSaid(a) - lastSaid(b) || (a.id < b.id ? -1 : 1);

/** Memories of one transaction: a few ten milliseconds. */
const HISTORIES = 50;

/** How many memories have former versions that have not held since before. */
async function countHistories(
  { ledger }: Pick<RetainDeps, 'ledger'>,
  tenant: TenantId,
  before: Millis,
): Promise<number> {
  let count = 0;
  for await (const places of due(ledger, tenant, before)) {
    const memories = await ledger.memories.many(tenant, idsOf(places));
    count += memories.filter((memory) => formerSince(memory, before).size > 0).length;
  }
  return count;
}

/** Removes what such versions and the events that mention them say, in slices. Answers with how many memories lost something. */
async function removeHistories(
  deps: RetainDeps,
  { tenant, before, cancel }: { tenant: TenantId; before: Millis; cancel: Cancellation },
): Promise<number> {
  let count = 0;
  for await (const places of due(deps.ledger, tenant, before)) {
    if (cancel.aborted) break;
    const removals = await removalsOf(deps, { tenant, places, before });
    if (removals.length === 0) continue;
    await deps.ledger.retention.removeHistories(tenant, removals);
    const emptied = removals.filter(readsOtherwise).map(({ memory }) => memory.id);
    await projectMemories(deps, emptied, cancel);
    count += emptied.length;
  }
  return count;
}

/** What decided reviews that were opened before say goes as the history they are part of. Answers with how many lost something. */
async function emptyReviews(
  { ledger }: Pick<RetainDeps, 'ledger'>,
  { tenant, before, cancel }: { tenant: TenantId; before: Millis; cancel: Cancellation },
): Promise<number> {
  let count = 0;
  for (const state of DECIDED) {
    for (let cursor: string | null = null, more = true; more && !cancel.aborted; more = cursor !== null) {
      const page: Paged<Review> = await ledger.reviews.list(tenant, { state }, { limit: PAGE, cursor });
      const old = page.results.filter(({ createdAt }) => createdAt < before);
      const memories = await ledger.memories.many(tenant, [...new Set(old.map(({ operation }) => operation.memoryId))]);
      const byId = new Map(memories.map((memory) => [memory.id, memory]));
      const emptied = old.flatMap((review) => withoutPast(review, byId.get(review.operation.memoryId) ?? null) ?? []);
      if (emptied.length > 0) await ledger.reviews.rewrite(tenant, emptied);
      count += emptied.length;
      cursor = page.nextCursor;
    }
  }
  return count;
}

const due = ({ retention }: RetainDeps['ledger'], tenant: TenantId, before: Millis) =>
  slicesOf<HistoryPlace>((after, limit) => retention.histories(tenant, before, { after, limit }), HISTORIES);

const idsOf = (places: readonly HistoryPlace[]): string[] => places.map(({ memoryId }) => memoryId);

/** Also where nothing is to be removed, but it is known better by now since when there may be something. */
async function removalsOf(
  { ledger, tools }: RetainDeps,
  { tenant, places, before }: { tenant: TenantId; places: readonly HistoryPlace[]; before: Millis },
): Promise<readonly HistoryRemoval[]> {
  const from = new Map(places.map((place) => [place.memoryId, place.from]));
  return (await livesOf(ledger, tenant, idsOf(places))).flatMap((life): HistoryRemoval[] => {
    const { memory } = life;
    const emptied = withoutFormer(tools, life, before);
    if (emptied === null) {
      return historyFrom(memory) === from.get(memory.id) ? [] : [{ memory, events: [], textHashes: [] }];
    }
    return [{ ...emptied, textHashes: emptied.texts.map((text) => textHash(tools, text)) }];
  });
}

/** An index that is down is caught up later, from the outbox. */
async function projectMemories(deps: RetainDeps, ids: readonly string[], cancel: Cancellation): Promise<void> {
  try {
    await project(deps, { entries: await deps.ledger.outbox.ofMemories(ids), batches: [] }, cancel);
  } catch (error) {
    deps.log.warn({ error: String(error) }, 'removed by retention, but still in the index');
  }
}

const forgottenBefore = ({ retention }: RetainDeps['ledger'], tenant: TenantId, before: Millis) =>
  slicesOf<HistoryPlace>((after, limit) => retention.forgotten(tenant, before, { after, limit }), HISTORIES);

async function countForgotten({ ledger }: Pick<RetainDeps, 'ledger'>, tenant: TenantId, before: Millis) {
  let count = 0;
  for await (const places of forgottenBefore(ledger, tenant, before)) count += places.length;
  return count;
}

/** Whatever of their versions is left goes, however young: nobody finds it. Answers with how many were erased. */
async function eraseForgotten(
  { ledger, tools }: RetainDeps,
  { tenant, before, cancel }: { tenant: TenantId; before: Millis; cancel: Cancellation },
): Promise<number> {
  let count = 0;
  for await (const places of forgottenBefore(ledger, tenant, before)) {
    if (cancel.aborted) break;
    const gone = (await livesOf(ledger, tenant, idsOf(places))).filter(({ memory }) => {
      const since = goneSince(memory);
      return since !== null && since < before;
    });
    const removals = gone.map((life): HistoryRemoval => {
      const { memory, events } = withoutFormer(tools, life, Number.POSITIVE_INFINITY) ?? { ...life, events: [] };
      return { memory, events, textHashes: [] };
    });
    count += await ledger.retention.eraseForgotten(tenant, removals, tools.now());
  }
  return count;
}

/** Once for all that was erased; where somebody still reads what was there before, the next sweep does it. */
async function overwrite({ ledger, index, log }: RetainDeps): Promise<void> {
  const removal = await ledger.retention.uncompacted();
  if (removal === null) return;
  const stores = [await ledger.erasures.compact(), await index.compact()];
  if (!stores.every(({ done }) => done)) return;
  await ledger.retention.compacted(removal);
  log.info({ remains: stores.flatMap(({ remains }) => remains) }, 'overwrote what retention erased');
}
