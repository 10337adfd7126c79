import {
  done,
  graphPlan,
  HOLD_MS,
  NEVER,
  namedIn,
  statementsBy,
  type UndoBench,
  undoBench,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import type { Statement } from '../graph/words.ts';
import { sweepOutbox } from '../projection/project.ts';
import { DEFAULT_TENANT, type LaneId } from '../words.ts';

const TENANT = DEFAULT_TENANT;
const NOW = { dryRun: false };
const ONCE = { ...NOW, cascade: true };

describe('a graph', () => {
  it('goes with the consolidation that is undone, out of the index, too, and comes back with it', async () => {
    const b = await undoBench();
    const { holds } = statementsBy(b.engine.tools);
    const first = await b.say('home: Oslo');
    const lane = await study(b, first, [holds('Ana lives_in Oslo')]);
    const second = await b.say('home: Rome');
    await study(b, second, [holds('Ana lives_in Rome')]);
    expect(await indexed(b)).toEqual(['Ana lives in Oslo', 'Ana lives in Rome']);
    const { undo } = done(await b.undoer.undo(TENANT, second, ONCE));
    expect(await relations(b, lane)).toEqual(['Oslo']);
    expect(await indexed(b)).toEqual(['Ana lives in Oslo']);
    done(await b.undoer.redo(TENANT, undo?.id ?? '', NOW));
    expect(await relations(b, lane)).toEqual(['Rome', 'Oslo']);
    expect(await indexed(b)).toEqual(['Ana lives in Oslo', 'Ana lives in Rome']);
  });

  it('is rolled back where nothing but statements was written since', async () => {
    const b = await undoBench();
    const { holds } = statementsBy(b.engine.tools);
    const lane = await study(b, await b.say('home: Oslo'), [holds('Ana lives_in Oslo')]);
    const to = b.engine.tools.now();
    b.engine.tools.advance(1_000);
    const statements = [holds('Ana likes tea')];
    const change = { entities: namedIn(statements), statements, now: b.engine.tools.now() };
    await b.engine.deps.ledger.graph.write(TENANT, lane, change);
    b.engine.tools.advance(1_000);
    expect(done(await b.undoer.rollback(TENANT, b.ann, { to, dryRun: true })).undo).toBeNull();
    expect(await relations(b, lane)).toEqual(['tea', 'Oslo']);
    const { undo } = done(await b.undoer.rollback(TENANT, b.ann, { to, ...NOW }));
    expect(undo).toMatchObject({ kind: 'rollback', memories: 0 });
    expect(await relations(b, lane)).toEqual(['Oslo']);
    expect(done(await b.undoer.rollback(TENANT, b.ann, { to: b.engine.tools.now(), ...NOW })).undo).toBeNull();
    done(await b.undoer.redo(TENANT, undo?.id ?? '', NOW));
    expect(await relations(b, lane)).toEqual(['tea', 'Oslo']);
  });
});

/** What a study of a consolidation says, told to the index. */
async function study(b: UndoBench, consolidationId: string, statements: readonly Statement[]): Promise<LaneId> {
  const { deps, tools } = b.engine;
  const { graph } = deps.ledger;
  const lane = await graph.request(TENANT, consolidationId, tools.now());
  if (lane === null) throw new Error('expected something to study');
  const claim = await graph.claim(lane, { now: tools.now(), holdMs: HOLD_MS });
  if (claim.kind !== 'claimed') throw new Error('expected a study');
  await graph.apply(claim.study, graphPlan(consolidationId, statements), tools.now());
  await sweepOutbox(deps, NEVER);
  return lane;
}

const relations = async ({ engine }: UndoBench, lane: LaneId): Promise<string[]> =>
  (await engine.deps.ledger.graph.around(lane, { entities: ['Ana'], at: null, limit: 9 })).map(
    ({ destination }) => destination,
  );

const indexed = async ({ engine }: UndoBench): Promise<string[]> =>
  (await engine.deps.index.page(null, 100)).points
    .filter(({ shelf, live }) => shelf === 'relations' && live)
    .map(({ text }) => text)
    .sort();
