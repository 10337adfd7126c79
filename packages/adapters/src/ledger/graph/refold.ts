import type { LaneId, Statement, TenantId } from '@slowwave/engine';
import { endsOf } from '@slowwave/engine/storing';
import type { Script } from '../script.ts';
import { type Moved, moveMerged } from './merges.ts';
import { refoldEntities } from './refold-entities.ts';
import { refoldRelations } from './refold-relations.ts';

/** Whose graph it is, and when it changes. */
export interface Folding {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly now: number;
}

/** Statements that are new, count again or count no longer, and entities that are new. */
export interface Touched {
  readonly statements: readonly Statement[];
  readonly entities: readonly string[];
}

/** Folds again what a change touches, and nothing else: the rest of the lane's graph follows as it did before. */
export function* refold(folding: Folding, touched: Touched): Script<void> {
  const isMerging = touched.statements.some(({ kind }) => kind === 'same' || kind === 'apart');
  const moved: readonly Moved[] = isMerging ? yield* moveMerged(folding.lane) : [];
  const ends = touched.statements.flatMap(endsOf);
  const ids = new Set([...touched.entities, ...ends, ...moved.flatMap(({ id, from, to }) => [id, from, to])]);
  yield* refoldEntities(folding, { ids, moved });
  yield* refoldRelations(folding, { statements: touched.statements, moved });
}
