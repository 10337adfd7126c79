import {
  DEFAULT_TENANT,
  type HoldsStatement,
  type Ledger,
  type NewEntity,
  projectGraph,
  type SearchIndex,
} from '@slowwave/engine';
import { seededRandom } from '../../chaos/random.ts';
import { product } from '../../product.ts';
import type { Progress } from '../bench.ts';
import { ownerAt } from './points.ts';

export interface GraphSize {
  /** Relations of each user. */
  readonly perUser: number;
}

interface MadeRelation {
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
}

/** What one user's graph is made of, the same at every run. */
export interface MadeGraph {
  readonly entities: readonly NewEntity[];
  readonly relations: readonly MadeRelation[];
}

/** Relations each entity has, on average: some have very many, most have few. */
const DEGREE = 5;
const RELATIONSHIPS = ['works_at', 'lives_in', 'sister_of', 'makes', 'likes', 'knows', 'owns', 'located_in', 'plays'];
const SYLLABLES = ['ba', 'do', 'fi', 'gu', 'ke', 'la', 'mo', 'ni', 'pa', 'ro', 'su', 'te', 'vi', 'wo', 'ze', 'shi'];

export function graphOf(user: number, { perUser }: GraphSize): MadeGraph {
  const random = seededRandom(`graph of ${user}`);
  const count = Math.max(2, Math.ceil((2 * perUser) / DEGREE));
  const name = (): string => Array.from({ length: 3 }, () => random.pick(SYLLABLES)).join('');
  const entities = Array.from(
    { length: count },
    (_, n): NewEntity => ({
      ...{ id: `ent_${user}_${n}`, name: `${name()} ${name()}`, kind: 'person', self: n === 0 },
    }),
  );
  const some = (): string => entities[Math.min(count - 1, Math.floor(count ** random.next()))]?.id ?? '';
  const any = (): string => random.pick(entities).id;
  const relations = Array.from({ length: perUser }, () => ({
    ...{ source: any(), relationship: random.pick(RELATIONSHIPS), destination: some() },
  }));
  return { entities, relations };
}

/** Statements in a transaction, and relations projected to the index in one go. */
const AT_ONCE = 250;

/** Puts the graphs of all users into a ledger, and projects them to the index. */
export async function fillGraph(
  { ledger, index }: { readonly ledger: Ledger; readonly index: SearchIndex },
  graphs: readonly MadeGraph[],
  progress: Progress,
): Promise<void> {
  const { signal: never } = new AbortController();
  const parts = { ledger: forgetful(ledger), index, embedder: product.embedder(), tools: product.tools };
  for (const [user, { entities, relations }] of graphs.entries()) {
    const now = Date.now();
    const lane = await ledger.memories.laneOf(DEFAULT_TENANT, ownerAt(user), now);
    await ledger.graph.write(DEFAULT_TENANT, lane, { entities, statements: [], now });
    for (let from = 0; from < relations.length; from += AT_ONCE) {
      const statements = relations
        .slice(from, from + AT_ONCE)
        .map((relation, i) => statementOf(relation, { id: `sta_${user}_${from + i}`, now, seq: from + i }));
      await ledger.graph.write(DEFAULT_TENANT, lane, { entities: [], statements, now });
    }
    for (let projected = AT_ONCE; projected >= AT_ONCE; ) {
      const items = await ledger.graph.unprojectedOf(lane, AT_ONCE);
      await projectGraph(parts, items, never);
      projected = items.length;
    }
    progress(`filled the graphs of ${user + 1} of ${graphs.length} users`);
  }
}

const statementOf = (
  relation: MadeRelation,
  { id, now, seq }: { readonly id: string; readonly now: number; readonly seq: number },
): HoldsStatement => ({
  ...{ kind: 'holds', id, saidAt: { at: now, seq }, recordedAt: now, validFrom: now, until: null, single: false },
  ...{ consolidationId: null, messageIds: [], memoryIds: [], quote: null },
  ...relation,
});

/** Without the vectors that a ledger keeps: nobody here asks for them, and they would be most of its file. */
const forgetful = (ledger: Ledger): Ledger => ({
  ...ledger,
  thoughts: { ...ledger.thoughts, vectors: async () => new Map(), storeVectors: async () => {} },
});
