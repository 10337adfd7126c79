import type { EngineDeps } from '../deps.ts';
import type { Replay, ReplayFilter } from '../ports/ledger/replays.ts';
import type { Nudge } from '../ports/schedule.ts';
import { canonical } from '../views/canonical.ts';
import type { TenantId } from '../words.ts';
import { putBack } from './live.ts';

export interface ReplayDeps extends Pick<EngineDeps, 'ledger' | 'tools' | 'log'> {
  /** Schedules turns of lanes; a sweep finds what was not scheduled. */
  nudge(nudges: readonly Nudge[]): Promise<void>;
}

export interface AskedReplay {
  readonly tenant: TenantId;
  readonly filter: ReplayFilter;
  /** The idempotency key; null: none. */
  readonly key: string | null;
}

export type StartedReplay =
  | { readonly kind: 'started' | 'repeated'; readonly replay: Replay }
  /** The key came before with another filter. */
  | { readonly kind: 'conflict' };

/**
 * Parked batches are tried again. The first slice of them waits again when this resolves, so that small replays need
 * nobody else; the sweep of the workers goes on with the rest.
 */
export async function startReplay(deps: ReplayDeps, { tenant, filter, key }: AskedReplay): Promise<StartedReplay> {
  const { ledger, tools } = deps;
  const id = tools.id('rpl');
  const { matched } = await ledger.replays.match(tenant, filter, 0);
  const created = await ledger.replays.create({
    ...{ id, tenant, kind: 'live', filter, changes: {}, matched, batchIds: [], now: tools.now() },
    idempotency: key === null ? null : { key, bodyHash: tools.hash(canonical(['live', filter])) },
  });
  if (created.kind === 'conflict') return created;
  if (created.kind === 'repeated') return { kind: 'repeated', replay: await stored(deps, tenant, created.id) };
  await putBack(deps, id);
  return { kind: 'started', replay: await stored(deps, tenant, id) };
}

async function stored({ ledger }: ReplayDeps, tenant: TenantId, id: string): Promise<Replay> {
  const replay = await ledger.replays.get(tenant, id);
  if (replay === null) throw new Error(`replay ${id} is missing right after it was stored`);
  return replay;
}
