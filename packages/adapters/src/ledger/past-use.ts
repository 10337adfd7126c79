import type { LaneId, Millis, PastUse, TenantId } from '@slowwave/engine';
import { callsIn, type KeptCall } from './kept-thoughts.ts';
import { laneIdOf } from './page.ts';
import { all, type Script } from './script.ts';
import { added, BILLIONTHS } from './usage-hours.ts';

/** What consolidations of the past used: by owner, of the newest. */
export function* past(
  tenant: TenantId,
  { since, backfill, limit }: { readonly since: Millis; readonly backfill: boolean; readonly limit: number },
): Script<readonly PastUse[]> {
  const rows = yield* all<PastRow>(PAST, { tenant, since, limit, backfill: backfill ? 1 : 0 });
  const said = rows.filter((row) => (row.said ?? 0) > 0);
  const ids = said.map(({ id }) => id);
  const open = yield* all<Charged & { readonly consolidation_id: string }>(PAST_CALLS, { ids });
  const byId = Map.groupBy(open, (call) => call.consolidation_id);
  const uses = said.flatMap((row) => {
    const calls = [...(byId.get(row.id) ?? []), ...(row.thought === null ? [] : callsIn(row.id, row.thought))];
    return sumOf(calls, 'prompt_tokens') === 0 ? [] : [{ lane: row.lane, use: pastUse(row, calls) }];
  });
  const lanes = [...Map.groupBy(uses, ({ lane }) => lane)].sort(([a], [b]) => (a < b ? -1 : 1));
  return lanes
    .map(([, of]) => of.map(({ use }) => use).reduce(added))
    .map((use) => ({ ...use, cost: use.cost / BILLIONTHS }));
}

interface PastRow {
  readonly id: string;
  readonly lane: LaneId;
  readonly thought: Uint8Array | null;
  readonly said: number | null;
  readonly messages: number | null;
}

type Charged = Pick<KeptCall, 'prompt_tokens' | 'completion_tokens' | 'cost'>;

const PAST = `
  SELECT c.id, ${laneIdOf('c.lane')} AS lane, c.thought,
    (SELECT sum(b.tokens) FROM batches b WHERE b.consolidation = c.number AND b.backfill = @backfill::boolean)::bigint AS said,
    (SELECT sum(b.message_count) FROM batches b WHERE b.consolidation = c.number AND b.backfill = @backfill::boolean)::bigint AS messages
  FROM consolidations c
  WHERE c.tenant = @tenant AND c.state = 'applied' AND c.created_at >= @since
  ORDER BY c.created_at DESC, c.id DESC LIMIT @limit`;

/** What is not folded, or came later. */
const PAST_CALLS = `
  SELECT consolidation_id, prompt_tokens, completion_tokens, cost FROM usage WHERE consolidation_id IN :ids AND state = 'answered'`;

const sumOf = (calls: readonly Charged[], name: keyof Charged): number =>
  calls.reduce((sum, call) => sum + (call[name] ?? 0), 0);

/** Its money is in billionths. */
const pastUse = ({ said, messages }: PastRow, calls: readonly Charged[]): PastUse => ({
  consolidations: 1,
  saidTokens: said ?? 0,
  messages: messages ?? 0,
  promptTokens: sumOf(calls, 'prompt_tokens'),
  completionTokens: sumOf(calls, 'completion_tokens'),
  cost: sumOf(calls, 'cost'),
  unpriced: calls.filter(({ cost }) => cost === null).length,
});
