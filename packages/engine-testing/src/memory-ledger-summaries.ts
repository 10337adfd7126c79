import {
  type Covered,
  type LaneId,
  liveVersion,
  type Message,
  type RefreshedSummary,
  type Scope,
  type SummaryBasis,
  type SummaryRefresh,
  type SummaryStore,
  type Turn,
} from '@slowwave/engine';
import { termsIn } from './memory-ledger-settings.ts';
import { rowOf, type State, type SummaryRow, scopeKey } from './memory-ledger-state.ts';
import { settle } from './memory-ledger-usage.ts';

export function memorySummaries(state: State): SummaryStore {
  return {
    read: async (refresh, how) => read(state, refresh, how),
    store: async (refresh, refreshed) => ({ kind: store(state, refresh, refreshed) }),
  };
}

export function dueSummary(state: State, turn: Turn, every: number): SummaryRefresh | null {
  const row = summaryOf(state, turn.lane, turn.scope);
  const since = saidSince(state, row);
  const upTo = since.at(-1)?.saidAt.seq;
  return since.length < every || upTo === undefined ? null : { lane: row.lane, scope: row.id, upTo };
}

/** The summary of a scope; an empty one where nobody has asked for it before. */
export function summaryOf(state: State, lane: LaneId, scope: Scope): SummaryRow {
  const known = state.summaries.find((row) => row.lane === lane && scopeKey(row.scope) === scopeKey(scope));
  if (known !== undefined) return known;
  const made: SummaryRow = {
    id: `scope_${state.summaries.length + 1}`,
    lane,
    scope,
    summary: null,
    from: null,
    count: 0,
    trust: null,
    upTo: 0,
    revision: 0,
  };
  state.summaries.push(made);
  return made;
}

export function forgetBegunSummaries(state: State, lane: LaneId): void {
  for (const row of state.consolidations.values()) if (row.lane === lane) state.pinnedSummaries.delete(row.id);
}

export function forgetSummaries(state: State, lane: LaneId): void {
  for (const row of state.summaries) {
    if (row.lane === lane)
      Object.assign(row, { summary: null, from: null, count: 0, upTo: 0, revision: row.revision + 1 });
  }
}

function read(state: State, refresh: SummaryRefresh, how: { every: number; limit: number }): SummaryBasis | null {
  const row = rowOfRefresh(state, refresh);
  const since = row === null ? [] : saidSince(state, row);
  const upTo = since.at(-1)?.saidAt.seq;
  if (row === null || upTo === undefined || since.length < how.every) return null;
  const messages = since.slice(-how.limit).filter((message) => !isForgotten(state, message));
  const { tenant } = rowOf(state.lanes, row.lane);
  const { summary, from, count, trust } = row;
  return { tenant, summary, from, count, trust, messages, upTo, revision: row.revision, ...termsIn(state, tenant) };
}

function store(state: State, refresh: SummaryRefresh, refreshed: RefreshedSummary): 'stored' | 'overtaken' {
  if (refreshed.call !== undefined) settle(state, refreshed.call);
  const row = rowOfRefresh(state, refresh);
  if (row === null || row.revision !== refreshed.revision) return 'overtaken';
  const { summary, from, count, trust, upTo } = refreshed;
  Object.assign(row, { summary, from, count, trust, upTo, revision: row.revision + 1 });
  return 'stored';
}

/** Which messages it covers; null: none. */
export function coveredBy(state: State, { lane, from, count, upTo }: SummaryRow): Covered | null {
  const messages = state.messages.ofLane(lane).map(({ message }) => message);
  const at = (seq: number | null) => messages.find(({ saidAt }) => saidAt.seq === seq)?.id;
  const [first, last] = [at(from), at(upTo)];
  return first === undefined || last === undefined
    ? null
    : { firstMessageId: first, lastMessageId: last, messages: count };
}

const rowOfRefresh = (state: State, { lane, scope }: SummaryRefresh): SummaryRow | null =>
  state.summaries.find((row) => row.lane === lane && row.id === scope) ?? null;

/** Consolidated messages the summary does not cover, each once, in the order of the lane. */
function saidSince(state: State, { lane, scope, upTo }: SummaryRow): Message[] {
  return state.messages
    .ofLane(lane)
    .filter((row) => scopeKey(row.scope) === scopeKey(scope))
    .map((row) => row.message)
    .filter(({ batchId, resent, saidAt }) => {
      const { appliedAt, state: batchState } = rowOf(state.batches, batchId);
      return saidAt.seq > upTo && !resent && appliedAt !== null && batchState !== 'undone';
    })
    .sort((a, b) => a.saidAt.seq - b.saidAt.seq);
}

/** It said something that is deleted by now. */
function isForgotten(state: State, message: Message): boolean {
  const events = state.events.filter((event) => event.kind !== 'DELETE' && event.sourceIds.includes(message.id));
  return events.some((event) => liveVersion(rowOf(state.memories, event.memoryId)) === null);
}
