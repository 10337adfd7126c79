import {
  addSpent,
  type Canary,
  type CanaryLane,
  type CanaryMove,
  type CanaryNews,
  type CanaryStore,
  canaryNotice,
  type LaneId,
  type Millis,
  NOTHING_SPENT,
  type Nudge,
  OPEN_CANARY_STATES,
  type Spent,
  type TenantId,
} from '@slowwave/engine';
import { replayBatches } from './memory-ledger-batches.ts';
import { pageOf } from './memory-ledger-page.ts';
import { type BatchRow, type CanaryLaneRow, type CanaryRow, change, rowOf, type State } from './memory-ledger-state.ts';
import { isStanding, pinnedOf, raised, wake } from './memory-ledger-turns.ts';
import { write as writeUndo } from './memory-ledger-undos.ts';
import { notifyWebhooks } from './memory-ledger-webhooks.ts';

export function memoryCanaries(state: State): CanaryStore {
  return {
    create: async ({ id, tenant, createdAt, ...canary }) => {
      if (openOf(state, tenant) !== undefined) return false;
      const begun = { step: 0, stepAt: createdAt, watched: null, halt: null, waiting: null, finishedAt: null };
      const row = { id, tenant, createdAt, ...canary, ...begun, state: 'running', dueAt: createdAt } as const;
      state.canaries.set(id, row);
      return true;
    },
    get: async (tenant, id) => {
      const row = state.canaries.get(id);
      return row?.tenant === tenant ? canaryOf(row) : null;
    },
    list: async (tenant, page) => {
      const rows = [...state.canaries.values()].filter((row) => row.tenant === tenant);
      const paged = pageOf(rows, (row) => ({ order: row.createdAt, id: row.id }), page);
      return { ...paged, results: paged.results.map(canaryOf) };
    },
    take: async (now, until) => {
      const due = [...state.canaries.values()].filter((row) => row.dueAt !== null && row.dueAt <= now);
      const [first] = due.sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0));
      if (first === undefined) return null;
      first.dueAt = until;
      return canaryOf(first);
    },
    move: async (id, step, news) => move(state, rowOf(state.canaries, id), { step, news }),
    watched: async (tenant, canary, { since, until, limit }) => {
      const rows = [...state.consolidations.values()].filter(
        (row) =>
          row.tenant === tenant &&
          row.variant === canary &&
          row.createdAt >= since &&
          row.createdAt < until &&
          ENDED.includes(row.state),
      );
      return rows
        .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
        .slice(0, limit)
        .map(({ id, lane, batchIds }) => ({ id, lane, batchIds }));
    },
    stuck: async (tenant, canary, before) => {
      const open = [...state.consolidations.values()].filter(
        (row) => row.tenant === tenant && PINNED.includes(row.state) && row.createdAt < before,
      );
      const of = (variant: string | null): number => open.filter((row) => row.variant === variant).length;
      return { canary: of(canary), rest: of(null) };
    },
    appliedSince: async (canary, since) =>
      ofVariant(state, canary).filter(({ createdAt, appliedAt }) => createdAt >= since && appliedAt !== null).length,
    reach: async (tenant, canary) => ({
      owners: [...state.lanes.values()].filter((lane) => lane.tenant === tenant && lane.erasure === null).length,
      touched: new Set(ofVariant(state, canary).map(({ lane }) => lane)).size,
    }),
    counts: async () => {
      const open: Partial<Record<Canary['state'], number>> = {};
      for (const row of state.canaries.values())
        if (row.finishedAt === null) open[row.state] = (open[row.state] ?? 0) + 1;
      return { open, held: [...state.lanes.values()].filter(({ held }) => held !== null).length };
    },
    touched: async (canary, { after, limit }) =>
      inOrder(ofVariant(state, canary).map(({ lane }) => lane))
        .filter((lane) => after === null || lane > after)
        .slice(0, limit),
    hold: async (canary, { pinned, limit, now }) => {
      const lanes = (pinned ? pinnedBy(state, canary) : touchedBy(state, canary)).slice(0, limit);
      for (const lane of lanes) hold(state, { canary, lane }, now);
      return lanes;
    },
    letGo: async (canary, lane, how) => letGo(state, { canary, lane }, how),
    lanes: async (canary, { state: wanted, after, limit }) =>
      lanesOf(state, canary)
        .filter((row) => (wanted === undefined || row.state === wanted) && row.lane > (after ?? ''))
        .slice(0, limit)
        .map(laneOf),
    work: async (canary, lane, limit) => {
      const used = ofVariant(state, canary).filter(
        (row) => row.lane === lane && (row.state === 'applied' || row.state === 'parked'),
      );
      const since = Math.min(...used.map(({ createdAt }) => createdAt));
      const later = [...state.consolidations.values()].filter(
        (row) => row.lane === lane && row.state === 'applied' && row.createdAt >= since,
      );
      const newest = later.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)).slice(0, limit);
      const parked = used.flatMap(({ id, state: at }) => (at === 'parked' ? pinnedOf(state, id) : []));
      return {
        consolidations: newest.map(({ id, batchIds }) => ({ id, batchIds })),
        parked: parked.filter((batch) => batch.state === 'parked').map(({ id }) => id),
      };
    },
    takeBack: async (canary, undoing, expected) => {
      const { tenant, lane, at: now } = undoing.undo;
      if (state.lanes.get(lane)?.held !== canary) return { kind: 'conflict' };
      const written = writeUndo(state, tenant, undoing);
      if (written.kind === 'conflict') return written;
      const ids = undoing.undone.flatMap((id) => pinnedOf(state, id).map((batch) => batch.id));
      const { replayed } = replayBatches(state, { tenant, ids }, now);
      note(state, { canary, lane }, { consolidations: undoing.undone.length, replayed, expected });
      return written;
    },
    replay: async (canary, lane, { batchIds: ids, now }) => {
      const row = state.lanes.get(lane);
      if (row?.held !== canary) return;
      for (const batch of ids.map((one) => rowOf(state.batches, one))) keepParked(state, batch);
      const { replayed } = replayBatches(state, { tenant: row.tenant, ids }, now);
      note(state, { canary, lane }, { consolidations: 0, replayed, expected: NOTHING_SPENT });
    },
    again: async (canary, lane) => {
      const { through } = rowOf(state.canaryLanes, keyOf({ canary, lane }));
      const { createdAt } = rowOf(state.canaries, canary);
      const isAgain = (id: string): boolean => (state.consolidations.get(id)?.createdAt ?? 0) >= createdAt;
      const batches = state.batches
        .ofLane(lane)
        .filter(({ position, formers }) => position <= through && formers.some(isAgain));
      const open = batches.filter((batch) => batch.state === 'pending' || batch.state === 'consolidating');
      return { open: open.length, consolidations: [...new Set(batches.flatMap((one) => one.consolidationId ?? []))] };
    },
    mark: async (canary, lane, how) => change(rowOf(state.canaryLanes, keyOf({ canary, lane })), how),
  };
}

/** What was parked together is consolidated together again, as what was undone is. */
function keepParked(state: State, batch: BatchRow): void {
  if (batch.state !== 'parked' || batch.consolidationId === null || state.stripped.has(batch.id)) return;
  change(batch, { formers: [...batch.formers, batch.consolidationId] });
}

const ENDED: readonly string[] = ['applied', 'parked', 'undone'];
const PINNED: readonly string[] = ['thinking', 'planned', 'waiting'];

const openOf = (state: State, tenant: TenantId): CanaryRow | undefined =>
  [...state.canaries.values()].find((row) => row.tenant === tenant && row.finishedAt === null);

/** The canary whose changes hold for new turns of a tenant, with the owners that it has by now. */
export function canaryInForce(state: State, tenant: TenantId): { readonly id: string; readonly share: number } | null {
  const open = openOf(state, tenant);
  if (open === undefined || (open.state !== 'running' && open.state !== 'done')) return null;
  return { id: open.id, share: open.steps[open.step]?.share ?? 0 };
}

interface Moving {
  readonly step: CanaryMove;
  readonly news: CanaryNews | undefined;
}

function move(state: State, row: CanaryRow, { step, news }: Moving): boolean {
  const { from, to, step: next, ...fields } = step;
  if (row.state !== from) return false;
  const reopens = row.finishedAt !== null && OPEN_CANARY_STATES.includes(to);
  if (reopens && openOf(state, row.tenant) !== undefined) return false;
  change(row, { ...fields, state: to, ...(next !== undefined && { step: next.number, stepAt: next.at }) });
  if (news !== undefined) notifyWebhooks(state, row.tenant, [canaryNotice(row.id, news)]);
  return true;
}

const ofVariant = (state: State, canary: string) =>
  [...state.consolidations.values()].filter(({ variant }) => variant === canary);

const inOrder = (lanes: Iterable<LaneId>): LaneId[] => [...new Set(lanes)].sort();

const standing = (state: State, lanes: readonly LaneId[]): LaneId[] =>
  inOrder(lanes.filter((lane) => isStanding(state, lane)));

const touchedBy = (state: State, canary: string): LaneId[] =>
  standing(
    state,
    ofVariant(state, canary).flatMap(({ lane, state: at }) =>
      at === 'split' || at === 'undone' || state.canaryLanes.has(keyOf({ canary, lane })) ? [] : lane,
    ),
  );

const pinnedBy = (state: State, canary: string): LaneId[] =>
  standing(
    state,
    ofVariant(state, canary).flatMap(({ lane, state: at }) => (PINNED.includes(at) ? lane : [])),
  );

interface Of {
  readonly canary: string;
  readonly lane: LaneId;
}

const keyOf = ({ canary, lane }: Of): string => `${canary} ${lane}`;

function hold(state: State, of: Of, now: Millis): void {
  const lane = rowOf(state.lanes, of.lane);
  if (lane.erasure !== null) return;
  lane.held = of.canary;
  if (!state.canaryLanes.has(keyOf(of))) {
    const nothing = { consolidations: 0, batches: 0, through: 0, expected: NOTHING_SPENT, used: NOTHING_SPENT };
    state.canaryLanes.set(keyOf(of), { ...of, state: 'held', ...nothing });
  }
  const id = lane.consolidationId;
  if (id === null) return;
  for (const batch of pinnedOf(state, id)) {
    const formers = [...batch.formers, id];
    change(batch, {
      state: 'pending',
      stage: 'waiting',
      consolidationId: null,
      claimedAt: null,
      urgent: true,
      formers,
    });
  }
  rowOf(state.consolidations, id).state = 'split';
  change(lane, { consolidationId: null, attempts: 0, epoch: lane.epoch + 1 });
  wake(state, lane, now);
}

function letGo(
  state: State,
  of: Of,
  { state: next, now }: { readonly state: CanaryLane['state'] | null; readonly now: Millis },
): Nudge | null {
  const lane = state.lanes.get(of.lane);
  if (lane?.held !== of.canary) return null;
  lane.held = null;
  if (next === null) state.canaryLanes.delete(keyOf(of));
  else change(rowOf(state.canaryLanes, keyOf(of)), { state: next });
  if (lane.state === 'idle') return null;
  lane.dueAt = Math.min(lane.dueAt ?? now, now);
  return raised(state, lane);
}

interface More {
  readonly consolidations: number;
  readonly replayed: readonly string[];
  readonly expected: Spent;
}

function note(state: State, of: Of, { consolidations, replayed, expected }: More): void {
  const row = rowOf(state.canaryLanes, keyOf(of));
  const through = Math.max(row.through, ...replayed.map((id) => rowOf(state.batches, id).position));
  rowOf(state.lanes, of.lane).keptWindows = through;
  change(row, {
    consolidations: row.consolidations + consolidations,
    batches: row.batches + replayed.length,
    through,
    expected: addSpent(row.expected, expected),
  });
}

const lanesOf = (state: State, canary: string): CanaryLaneRow[] =>
  [...state.canaryLanes.values()].filter((row) => row.canary === canary).sort((a, b) => (a.lane < b.lane ? -1 : 1));

const laneOf = ({ canary: _, through: __, ...row }: CanaryLaneRow): CanaryLane => ({ ...row });

const canaryOf = ({ dueAt: _, ...row }: CanaryRow): Canary => ({ ...row });
