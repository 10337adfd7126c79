import {
  DEFAULT_TENANT,
  type EntityKind,
  type HoldsStatement,
  type LaneId,
  type Ledger,
  type Owner,
  type Statement,
  type Tools,
} from '@slowwave/engine';
import { bitsOf, user } from './builders.ts';

/** A relation as a test says it: 'Ana > sister_of > Bea Lind'. Names distinguish entities. */
export type SaidRelation = string | (Partial<HoldsStatement> & { readonly says: string });

interface Saying {
  readonly ledger: Ledger;
  readonly tools: Tools;
}

/** Writes relations into an owner's graph; who is called "me" is the owner. Answers with the lane and the statements. */
export async function sayGraph(
  { ledger, tools }: Saying,
  relations: readonly SaidRelation[],
  owner: Owner = user('ann'),
): Promise<{ readonly lane: LaneId; readonly statements: readonly Statement[] }> {
  const now = tools.now();
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, owner, now);
  const said = relations.map((one) => (typeof one === 'string' ? { says: one } : one));
  const statements = said.map(({ says, ...given }, i): HoldsStatement => {
    const [source = '', relationship = '', destination = ''] = says.split(' > ');
    const ends = { source: idOf(lane, source), relationship, destination: idOf(lane, destination) };
    const when = { saidAt: { at: now, seq: i + 1 }, recordedAt: now, validFrom: now, until: null, single: false };
    const from = { consolidationId: null, messageIds: [], memoryIds: [], quote: null };
    return { kind: 'holds', id: tools.id('sta', bitsOf(tools, owner)), ...ends, ...when, ...from, ...given };
  });
  const names = new Set(said.flatMap(({ says }) => [says.split(' > ')[0] ?? '', says.split(' > ')[2] ?? '']));
  const kind: EntityKind = 'thing';
  const entities = [...names].map((name) => ({ id: idOf(lane, name), name, kind, self: name === 'me' }));
  const written = await ledger.graph.write(DEFAULT_TENANT, lane, { entities, statements, now });
  if (written.kind !== 'written') throw new Error(`expected the graph to be written, got ${written.kind}`);
  return { lane, statements };
}

const idOf = (lane: LaneId, name: string): string => `ent_${lane}_${name}`;
