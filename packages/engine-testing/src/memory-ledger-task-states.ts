import type { LaneId, NewTaskVersion, RunPlace, TaskState, TaskStateStore, TaskWritten } from '@slowwave/engine';
import { pausedAtOf, TASK_VERSIONS_KEPT } from '@slowwave/engine/storing';
import { pageOf } from './memory-ledger-page.ts';
import type { State, TaskRow } from './memory-ledger-state.ts';
import { isStanding } from './memory-ledger-turns.ts';

export function memoryTaskStates(state: State): TaskStateStore {
  return {
    get: async (place) => latestOf(state, place),
    write: async (version) => write(state, version),
    history: async (place, page) =>
      pageOf(rowsOf(state, place).map(shown), ({ version, runId }) => ({ order: version, id: runId }), page),
    list: async (tenant, { lane, ended }, page) => {
      const mine = state.taskStates.filter((row) => row.tenant === tenant && row.lane === lane);
      const runs = [...new Set(mine.map(({ runId }) => runId))].flatMap(
        (runId) => latestOf(state, { tenant, lane, runId }) ?? [],
      );
      const found = runs.filter(({ endedAt }) => ended === undefined || ended === (endedAt !== null));
      return pageOf(found, ({ writtenAt, runId }) => ({ order: writtenAt, id: runId }), page);
    },
    drop: async (tenant, endedBefore, limit) => {
      const over = state.taskStates.filter(
        (row) => row.tenant === tenant && row.endedAt !== null && row.endedAt < endedBefore,
      );
      for (const one of over.slice(0, limit)) removeRows(state, (row) => isOf(row, one));
      return Math.min(limit, over.length);
    },
  };
}

const isOf = (row: TaskRow, { tenant, lane, runId }: RunPlace): boolean =>
  row.tenant === tenant && row.lane === lane && row.runId === runId;

/** In order of their versions. */
const rowsOf = (state: State, place: RunPlace): TaskRow[] =>
  isStanding(state, place.lane) ? state.taskStates.filter((row) => isOf(row, place)) : [];

const shown = ({ key: _, ...version }: TaskRow): TaskState => version;

function latestOf(state: State, place: RunPlace): TaskState | null {
  const last = rowsOf(state, place).at(-1);
  return last === undefined ? null : shown(last);
}

function write(state: State, given: NewTaskVersion): TaskWritten {
  const { tenant, lane: laneId, runId, key, expected, now } = given;
  const lane = state.lanes.get(laneId);
  if (lane === undefined || lane.tenant !== tenant || lane.erasure !== null) return { kind: 'erased' };
  const keyed = rowsOf(state, given).find((row) => key !== null && row.key?.key === key.key);
  if (keyed !== undefined && keyed.key?.bodyHash !== key?.bodyHash) return { kind: 'key_used' };
  if (keyed !== undefined) return { kind: 'written', state: shown(keyed), repeated: true };
  const before = latestOf(state, given);
  if (before !== null && before.endedAt !== null) return { kind: 'ended', state: before };
  if ((before?.version ?? 0) !== expected) return { kind: 'conflict', state: before };
  const row: TaskRow = {
    ...{ tenant, lane: laneId, runId, owner: lane.owner, key, version: expected + 1 },
    appId: before === null ? given.appId : before.appId,
    document: structuredClone(given.document),
    createdAt: before?.createdAt ?? now,
    writtenAt: Math.max(now, before?.writtenAt ?? now),
    endedAt: given.ends ? now : null,
    paused: before?.paused === true || pausedAtOf(lane.pauses) !== null,
  };
  state.taskStates.push(row);
  if (given.ends) lane.updatedAt = Math.max(lane.updatedAt, now);
  removeRows(state, (one) => isOf(one, given) && one.version <= row.version - TASK_VERSIONS_KEPT);
  return { kind: 'written', state: shown(row), repeated: false };
}

function removeRows(state: State, isGone: (row: TaskRow) => boolean): void {
  const left = state.taskStates.filter((row) => !isGone(row));
  state.taskStates.splice(0, state.taskStates.length, ...left);
}

/** Some of a lane that is erased. */
export function takeTaskStates(state: State, lane: LaneId, limit: number): number {
  const gone = new Set(state.taskStates.filter((row) => row.lane === lane).slice(0, limit));
  removeRows(state, (row) => gone.has(row));
  return gone.size;
}
