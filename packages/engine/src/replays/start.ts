import type { EngineDeps } from '../deps.ts';
import type { Batch } from '../ports/ledger/batches.ts';
import type { Replay, ReplayFilter } from '../ports/ledger/replays.ts';
import type { Nudge } from '../ports/schedule.ts';
import { canonical } from '../text/normalise.ts';
import type { TenantId } from '../words.ts';
import { storedChanges, type WhatIfChanges } from './changes.ts';
import { putBack } from './live.ts';

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
