import type { EngineDeps, EngineSettings, NearThresholds } from '../deps.ts';
import type { Batch } from '../ports/ledger/batches.ts';
import type { Replay, ReplayFilter } from '../ports/ledger/replays.ts';
import type { Nudge } from '../ports/schedule.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { TenantSettings } from '../settings.ts';
import { canonical } from '../text/normalise.ts';
import { type BatchSettings, type BatchState, hasFacts, type JsonObject, type TenantId } from '../words.ts';

export interface ReplayDeps extends Pick<EngineDeps, 'ledger' | 'tools' | 'log'> {
  /** Schedules turns of lanes; a sweep finds what was not scheduled. */
  nudge(nudges: readonly Nudge[]): Promise<void>;
}

export interface AskedReplay {
  readonly tenant: TenantId;
  readonly filter: ReplayFilter;
  /** null: parked batches are tried again; else past ones are, in a shadow space, with these changes. */
  readonly changes: WhatIfChanges | null;
  /** The idempotency key; null: none. */
  readonly key: string | null;
}

export type StartedReplay =
  | { readonly kind: 'started' | 'repeated'; readonly replay: Replay }
  /** The key came before with another body. */
  | { readonly kind: 'conflict' }
  /** More batches than one what-if takes. */
  /** A what-if needs what retention has removed of these batches, or of what they did. */
  | { readonly kind: 'removed'; readonly batchIds: readonly string[] }
  | { readonly kind: 'too_many'; readonly matched: number; readonly most: number };

/** Longer than a replay is silent while it is worked on; a worker that dies in the middle keeps others away so long. */
export const LEASE_MS = 10_000;

/** Batches one what-if takes: an evening's worth of reading, and next to nothing beside the work of a day. */
export const WHAT_IF_MAX = 500;

/**
 * Parked batches are tried again, or past ones in a space of their own. The first slice of them waits again when this resolves, so that small replays need
 * nobody else; the sweep of the workers goes on with the rest.
 */
export async function startReplay(deps: ReplayDeps, asked: AskedReplay): Promise<StartedReplay> {
  const { ledger, tools } = deps;
  const { tenant, filter, changes, key } = asked;
  const id = tools.id('rpl');
  const { matched, batches } = await ledger.replays.match(tenant, filter, changes === null ? 0 : WHAT_IF_MAX);
  if (changes !== null && matched > WHAT_IF_MAX) return { kind: 'too_many', matched, most: WHAT_IF_MAX };
  const removed = changes === null ? [] : await removedOf(deps, tenant, batches);
  if (removed.length > 0) return { kind: 'removed', batchIds: removed };
  const created = await ledger.replays.create({
    ...{ id, tenant, kind: changes === null ? 'live' : 'what_if', filter, matched, now: tools.now() },
    changes: storedChanges(changes ?? {}),
    batchIds: batches.map((batch) => batch.id),
    idempotency: key === null ? null : { key, bodyHash: tools.hash(canonical([filter, changes])) },
  });
  if (created.kind === 'conflict') return created;
  if (created.kind === 'repeated') return { kind: 'repeated', replay: await stored(deps, tenant, created.id) };
  if (changes === null) await putBack(deps, id);
  return { kind: 'started', replay: await stored(deps, tenant, id) };
}

/** Batches of which retention has removed the messages, or what is remembered of them. */
async function removedOf({ ledger }: ReplayDeps, tenant: TenantId, batches: readonly Batch[]): Promise<string[]> {
  const ids = batches.map(({ id }) => id);
  const removed = new Set(await ledger.retention.withoutMessages(tenant, ids));
  for (const id of ids) {
    if (removed.has(id)) continue;
    const events = await ledger.batches.events(tenant, id);
    if (events.some(({ details }) => details?.removed !== undefined)) removed.add(id);
  }
  return ids.filter((id) => removed.has(id));
}

async function stored({ ledger }: ReplayDeps, tenant: TenantId, id: string): Promise<Replay> {
  const replay = await ledger.replays.get(tenant, id);
  if (replay === null) throw new Error(`replay ${id} is missing right after it was stored`);
  return replay;
}

/** Batches that wait again in one transaction: a few ten milliseconds, so that others can write in between. */
const SLICE = 250;
/** How often it is looked whether the batches of a replay are through. */
const LOOK_AGAIN_MS = 2_000;

/** What a worker does with a live replay that is due. */
export async function workLive(deps: ReplayDeps, replay: Replay, cancel: Cancellation): Promise<void> {
  if (replay.state === 'preparing') {
    while (!cancel.aborted && (await putBack(deps, replay.id)));
  }
  await lookWhether(deps, replay.id);
}

/** One slice of its parked batches waits again. Answers whether there is more. */
async function putBack({ ledger, tools, log, nudge }: ReplayDeps, id: string): Promise<boolean> {
  const { replayed, nudges, more } = await ledger.replays.advance(id, { limit: SLICE, now: tools.now() });
  if (replayed.length > 0) log.info({ replay: id, batches: replayed.length, more }, 'parked batches wait again');
  nudge(nudges).catch((error: unknown) => {
    log.warn({ error: String(error), turns: nudges.length }, 'could not schedule replayed turns; the sweep will do it');
  });
  return more;
}

/** Whether it is done: none of its batches waits any more, or is worked on. */
async function lookWhether({ ledger, tools, log }: ReplayDeps, id: string): Promise<void> {
  const states = await ledger.replays.states(id);
  const now = tools.now();
  if (isOpen(states)) {
    await ledger.replays.move(id, { from: 'running', to: 'running', dueAt: now + LOOK_AGAIN_MS });
  } else if (await ledger.replays.move(id, { from: 'running', to: 'done', dueAt: null, finishedAt: now })) {
    log.info({ replay: id, batches: states }, 'a replay is done');
  }
}

const isOpen = ({ pending = 0, consolidating = 0 }: Readonly<Partial<Record<BatchState, number>>>): boolean =>
  pending + consolidating > 0;

/** What a what-if does otherwise than was done. What is left out is as it is now. */
export interface WhatIfChanges {
  /** Another chat model at the same place. */
  readonly model?: string;
  /** In place of what the batches asked for. */
  readonly mode?: 'decide' | 'add_only';
  /** Whether relations are read, in place of what the batches and the tenant ask for. */
  readonly graph?: boolean;
  /** In place of the tenant's settings. */
  readonly instructions?: string;
  readonly includes?: string;
  readonly excludes?: string;
  readonly decideInstructions?: string;
  readonly prompts?: { readonly extract?: string; readonly decide?: string };
  readonly recallPerFact?: number;
  readonly near?: Partial<NearThresholds>;
}

/** As a replay keeps them. */
const storedChanges = (changes: WhatIfChanges): JsonObject => JSON.parse(JSON.stringify(changes));
export const changesFrom = (stored: JsonObject): WhatIfChanges => stored as WhatIfChanges;

/** What the tenant has chosen, as a what-if has it. Nothing waits for a person in a space that nobody lives in. */
export function changedRules(rules: TenantSettings, changes: WhatIfChanges): TenantSettings {
  const { instructions, includes, excludes, decideInstructions, prompts } = changes;
  return {
    ...rules,
    instructions: instructions ?? rules.instructions,
    includes: includes ?? rules.includes,
    excludes: excludes ?? rules.excludes,
    decideInstructions: decideInstructions ?? rules.decideInstructions,
    prompts: { ...rules.prompts, ...prompts },
    review: [],
  };
}

/** What a batch asked for, as its copy does: what is kept word for word, and procedures, are so in a what-if too. */
export const changedBatch = (settings: BatchSettings, { mode, graph }: WhatIfChanges): BatchSettings => ({
  ...settings,
  ...(mode !== undefined && hasFacts(settings) && { mode }),
  ...(graph !== undefined && { graph }),
});

export const changedSettings = (settings: EngineSettings, { recallPerFact, near }: WhatIfChanges): EngineSettings => ({
  ...settings,
  recallPerFact: recallPerFact ?? settings.recallPerFact,
  near: { ...settings.near, ...near },
});
