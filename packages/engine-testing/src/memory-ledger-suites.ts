import type { LaneId, Replay, SuiteCase, SuiteStore } from '@slowwave/engine';
import { forgottenAt, withoutOwner } from '@slowwave/engine/storing';
import { pageOf } from './memory-ledger-page.ts';
import { replayOf } from './memory-ledger-replays.ts';
import { change, type State } from './memory-ledger-state.ts';

export function memorySuites(state: State): SuiteStore {
  return {
    create: async (suite, cases) => {
      const isTaken = [...state.suites.values()].some((one) => one.tenant === suite.tenant && one.name === suite.name);
      if (isTaken) return false;
      state.suites.set(suite.id, suite);
      for (const one of cases) {
        if (one.lane !== null && state.lanes.get(one.lane)?.erasure !== null) continue;
        if (one.lane !== null && holdsAny(one, forgottenIn(state, one.lane))) continue;
        state.suiteCases.set(one.id, { ...one, suiteId: suite.id });
      }
      return true;
    },
    find: async (tenant, name) =>
      [...state.suites.values()].find((suite) => suite.tenant === tenant && suite.name === name) ?? null,
    get: async (tenant, id) => {
      const suite = state.suites.get(id);
      return suite?.tenant === tenant ? suite : null;
    },
    list: async (tenant, page) =>
      pageOf(
        [...state.suites.values()].filter((suite) => suite.tenant === tenant),
        ({ createdAt, id }) => ({ order: createdAt, id }),
        page,
      ),
    cases: async (suiteId, { after, limit }) =>
      casesOf(state, suiteId)
        .filter(({ place }) => place > after)
        .slice(0, limit),
    setMargins: async (...[tenant, id, margins]) => {
      const suite = state.suites.get(id);
      if (suite?.tenant !== tenant) return false;
      state.suites.set(id, { ...suite, margins });
      return true;
    },
    remove: async (tenant, id) => {
      if (state.suites.get(id)?.tenant !== tenant) return false;
      for (const one of casesOf(state, id)) state.suiteCases.delete(one.id);
      forgetInRuns(state, id, ({ result }) => result && { ...result, differences: [] });
      return state.suites.delete(id);
    },
    assess: async (run, assessments) => {
      for (const one of assessments) state.assessments.set(JSON.stringify([run, one.item, one.by]), { ...one, run });
    },
    assessments: async (run) =>
      [...state.assessments]
        .filter(([, one]) => one.run === run)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { item, by, verdict }]) => ({ item, by, verdict })),
    runs: async (...[tenant, suiteId, page]) => {
      const rows = [...state.replays.values()].filter((row) => row.tenant === tenant && row.filter.suite === suiteId);
      const paged = pageOf(rows, (row) => ({ order: row.createdAt, id: row.id }), page);
      return { ...paged, results: paged.results.map(replayOf) };
    },
  };
}

const casesOf = (state: State, suiteId: string): SuiteCase[] =>
  [...state.suiteCases.values()].filter((one) => one.suiteId === suiteId).sort((a, b) => a.place - b.place);

/** What is forgotten is said by no suite any more, by no space of its runs, and by no report. */
export function forgetInSuites(state: State, lane: LaneId, forgotten = forgottenIn(state, lane)): void {
  const gone = [...state.suiteCases.values()].filter((one) => one.lane === lane && holdsAny(one, forgotten));
  for (const { id, suiteId, owner } of gone) {
    state.suiteCases.delete(id);
    forgetInRuns(state, suiteId, (told) => (withoutOwner(told, owner) ?? told).result);
  }
}

function forgetInRuns(
  state: State,
  suiteId: string,
  left: (told: Pick<Replay, 'filter' | 'result'>) => Replay['result'],
): void {
  for (const row of state.replays.values()) {
    if (row.kind !== 'suite' || row.filter.suite !== suiteId) continue;
    change(row, { result: left(row) });
    if (row.state !== 'discarded') change(row, { state: 'discarding', dueAt: 0 });
  }
}

/** Memories of a lane that are forgotten, and the messages that say them. */
function forgottenIn(state: State, lane: LaneId): readonly string[] {
  const memories = [...state.memories.values()].filter((one) => one.lane === lane && forgottenAt(one) !== null);
  const ids = new Set(memories.map(({ id }) => id));
  const said = state.events.filter(({ memoryId }) => ids.has(memoryId)).flatMap(({ sourceIds }) => sourceIds);
  const wished = state.wishes.filter(({ memoryId }) => ids.has(memoryId ?? '')).map(({ messageId }) => messageId);
  return [...ids, ...said, ...wished];
}

const holdsAny = ({ content }: Pick<SuiteCase, 'content'>, ids: readonly string[]): boolean => {
  const text = JSON.stringify(content);
  return ids.some((id) => text.includes(id));
};

/** They go with their owner. */
export function takeCases(state: State, lane: LaneId, limit: number): number {
  const gone = [...state.suiteCases.values()].filter((one) => one.lane === lane).slice(0, limit);
  for (const { id } of gone) state.suiteCases.delete(id);
  return gone.length;
}
