import { DEFAULT_TENANT, memoryWriter, type UndoReport, type UndoResult, undoer } from '@slowwave/engine';
import { type BenchOptions, type EngineBench, engineBench, NEVER } from './engine-bench.ts';
import { fakeChat } from './fake-models.ts';
import { echoExtract, keyedDecide } from './scripts.ts';
import { stateHash } from './state-hash.ts';

const TENANT = DEFAULT_TENANT;
/** "home: Oslo" is about "home". */
const keyOf = (text: string): string => text.split(':')[0] ?? text;
const keyedChat = fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) });

/** The report of what was done. */
export function done(result: UndoResult): UndoReport {
  if (result.kind === 'done') return result.report;
  throw new Error(`expected it to be done, got ${JSON.stringify(result)}`);
}

/** One user whose every word is a fact, and everything that can be taken back. */
export async function undoBench(given: Partial<BenchOptions> = {}) {
  const engine: EngineBench = await engineBench({ chat: keyedChat, ...given });
  return {
    engine,
    ann: { kind: 'user', id: 'ann' } as const,
    undoer: undoer(engine.deps),
    writer: memoryWriter(engine.deps),
    hash: async () => stateHash(await engine.memories()),
    /** Answers with the consolidation. */
    say: async (...texts: readonly string[]) => {
      engine.tools.advance(1_000);
      const batch = await engine.post(texts);
      await engine.run();
      engine.tools.advance(1_000);
      return (await engine.deps.ledger.batches.get(TENANT, batch))?.consolidationId ?? '';
    },
    /** What a search by words finds now. */
    found: async (word: string) => {
      const vector = (await engine.deps.embedder.embed([word], NEVER)).vectors[0] ?? null;
      const owner = { kind: 'user', id: 'ann' } as const;
      const lane = await engine.deps.ledger.memories.laneOf(TENANT, owner, engine.tools.now());
      const [hits] = await engine.deps.index.search([
        {
          tenant: TENANT,
          ...{ owner, lane },
          shelf: 'memories',
          filter: {},
          visibility: { kind: 'live', now: engine.tools.now() },
          vector,
          terms: null,
          where: null,
          wide: false,
          limit: 10,
        },
      ]);
      return (hits ?? []).map(({ point }) => point.text);
    },
  };
}

export type UndoBench = Awaited<ReturnType<typeof undoBench>>;
