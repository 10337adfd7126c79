import { DEFAULT_TENANT, EngineError, type Ledger } from '@slowwave/engine';
import { createMemoryIndex, echoExtract, engineBench, fakeChat, keyedDecide } from '@slowwave/engine-testing';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LedgerFile, ledgerFile } from './sqlite-ledger-fixture.ts';

let file: LedgerFile;
beforeEach(async () => {
  file = await ledgerFile();
});
afterEach(() => file.remove());

/** One statement on the file of a ledger that is open, as another process runs it. */
function onFile<Row>(text: string): readonly Row[] {
  const db = new Database(file.path);
  try {
    const statement = db.prepare<[], Row>(text);
    if (statement.reader) return statement.all();
    statement.run();
    return [];
  } finally {
    db.close();
  }
}

const count = (table: string): number => onFile<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]?.n ?? -1;

async function life(ledger: Ledger) {
  let asked = 0;
  const decide = keyedDecide((text) => text.split(':')[0] ?? text);
  const chat = fakeChat({
    extract_facts: (...question) => {
      asked += 1;
      return echoExtract(...question);
    },
    decide_operations: (...question) => {
      asked += 1;
      return decide(...question);
    },
  });
  const bench = await engineBench({ chat, stores: { ledger, index: createMemoryIndex() } });
  await bench.post(['pet: cat']);
  await bench.run();
  return { bench, asked: () => asked };
}

/** Each write by which what was thought becomes one value. */
const WRITES = [
  'UPDATE OF thought ON consolidations',
  'DELETE ON plans',
  'DELETE ON answers',
  'DELETE ON usage',
  'INSERT ON usage_hours',
];

it.each(WRITES)('what fails at %s leaves all as it was, and nothing is asked or counted twice', async (write) => {
  const ledger = await file.open();
  const left: number[][] = [];
  const apply: Ledger['memories']['apply'] = async (...given) => {
    if (left.length > 0) return ledger.memories.apply(...given);
    const [turn, { plan }] = given;
    if (plan !== null) await ledger.thoughts.storePlan(turn, { ...plan, round: 0 }); // as if an earlier round had been overtaken
    onFile(`CREATE TRIGGER broken BEFORE ${write} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`);
    try {
      return await ledger.memories.apply(...given);
    } catch (cause) {
      throw new EngineError('as if the process had died', { code: 'internal', retryable: true, cause });
    } finally {
      onFile('DROP TRIGGER broken');
      left.push(['plans', 'answers', 'usage', 'usage_hours', 'events'].map(count));
    }
  };
  const { bench, asked } = await life({ ...ledger, memories: { ...ledger.memories, apply } });
  expect(left).toEqual([[1, asked(), asked(), 0, 0]]);
  expect(await bench.live()).toEqual(['pet: cat']);
  expect(['plans', 'answers', 'usage'].map(count)).toEqual([0, 0, 0]);
  expect(await ledger.overview.usage(DEFAULT_TENANT)).toMatchObject({ calls: asked(), failedCalls: 0 });
  const { results } = await ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 10, cursor: null });
  const [{ id } = { id: '' }] = results;
  expect(await ledger.thoughts.answers(id)).toHaveLength(asked());
  expect(await ledger.overview.usageOf(id)).toMatchObject({ calls: asked(), failedCalls: 0 });
});

it('a memory that was shown is in the value by its id alone: its words go with its event', async () => {
  const ledger = await file.open();
  const { bench } = await life(ledger);
  const batch = await bench.post(['pet: dog']);
  await bench.run();
  expect((await bench.plan(batch)).candidates).toMatchObject([{ text: 'pet: cat', version: 1, revision: 1 }]);
  onFile("UPDATE events SET text = 'gone' WHERE text = 'pet: cat'");
  expect((await bench.plan(batch)).candidates).toMatchObject([{ text: 'gone', version: 1, revision: 1 }]);
});
