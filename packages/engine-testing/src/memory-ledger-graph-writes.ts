import type { GraphChange, LaneId, Millis, Undoing } from '@slowwave/engine';
import {
  changedEntities,
  changedRelations,
  graphOf,
  lostRelations,
  requireKnownEnds,
  takenBackBy,
  withOneSelf,
} from '@slowwave/engine/storing';
import { showAgain, standAgain } from './memory-ledger-forgetting.ts';
import { withdrawRelations } from './memory-ledger-receipts.ts';
import { change as changeRow, rowOf, type State } from './memory-ledger-state.ts';

/** Entities and statements that are not there yet, and all that follows. */
export function writeGraph(state: State, laneId: LaneId, change: GraphChange): void {
  const { entities, statements } = state.graph;
  const lane = rowOf(state.lanes, laneId);
  const own = [...entities.values()].filter((one) => one.lane === laneId);
  const self = own.find((one) => one.self)?.id ?? null;
  const admitted = withOneSelf(change, self);
  requireKnownEnds(admitted.statements, new Set([...own, ...admitted.entities].map(({ id }) => id)));
  for (const entity of admitted.entities) {
    if (entities.has(entity.id)) continue;
    const blank = {
      aliases: [],
      mergedInto: null,
      counts: false,
      revision: 0,
      createdAt: change.now,
      unprojectedAt: null,
    };
    entities.set(entity.id, { ...entity, tenant: lane.tenant, lane: laneId, owner: lane.owner, ...blank });
  }
  const undosBefore = state.undos.filter((undo) => undo.lane === laneId).length;
  for (const statement of admitted.statements) {
    if (statements.has(statement.id)) continue;
    const { recordedAt } = statement;
    const row = {
      tenant: lane.tenant,
      lane: laneId,
      statement,
      counts: true,
      fallen: false,
      recordedAt,
      undosBefore,
      quoteSaid: null,
    };
    statements.set(statement.id, row);
  }
  standAgain(state, laneId);
  refoldGraph(state, laneId, change.now);
}

/** What an undo takes back counts no longer, and what it brings back counts again. */
export function retakeGraph(state: State, { undo, undone, redone }: Undoing): void {
  const isTakenBack = takenBackBy(state.undos.filter(({ lane }) => lane === undo.lane));
  for (const row of state.graph.statements.values()) {
    if (row.lane !== undo.lane) continue;
    const { consolidationId } = row.statement;
    if (consolidationId === null) row.counts = !isTakenBack(row);
    else if (undone.includes(consolidationId)) row.counts = false;
    else if (redone.includes(consolidationId)) row.counts = !row.fallen;
  }
  const turn = state.graph.turns.get(undo.lane);
  if (turn !== undefined && undone.includes(turn.held ?? '')) {
    changeRow(turn, { epoch: turn.epoch + 1, held: null, heldUntil: 0 });
  }
  refoldGraph(state, undo.lane, undo.at);
}

/** What is shown of a lane's messages, and of its graph with them. */
export function showWithGraph(state: State, lane: LaneId, now: Millis): void {
  showAgain(state, lane, now);
  standAgain(state, lane);
  refoldGraph(state, lane, now);
}

/** All of a lane anew: what the other ledgers do for the part that was touched must come to the same. */
export function refoldGraph(state: State, lane: LaneId, now: Millis): void {
  const { entities, statements, relations } = state.graph;
  const own = [...entities.values()].filter((one) => one.lane === lane);
  const counting = [...statements.values()].filter((row) => row.lane === lane && row.counts);
  const next = graphOf(
    own,
    counting.map(({ statement }) => statement),
    own.find(({ self }) => self)?.id ?? null,
  );
  for (const entity of changedEntities(own, next.entities)) {
    entities.set(entity.id, { ...entity, unprojectedAt: entity.unprojectedAt ?? now });
  }
  const kept = [...relations.values()].filter((one) => one.lane === lane);
  const { tenant, owner } = rowOf(state.lanes, lane);
  const changed = changedRelations(kept, next.relations, now);
  for (const relation of changed) {
    const unprojectedAt = relations.get(relation.id)?.unprojectedAt ?? now;
    relations.set(relation.id, { ...relation, tenant, lane, unprojectedAt });
  }
  const standing = (id: string): string => entities.get(id)?.mergedInto ?? id;
  const lost = lostRelations({ kept, changed, next: next.relations, standing });
  withdrawRelations(state, { tenant, lane, owner }, lost);
}
