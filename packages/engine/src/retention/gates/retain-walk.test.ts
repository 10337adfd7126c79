import { expectTrue, NEVER, seeded, type UndoBench, undoBench } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import { examine } from '../../doctor/examine.ts';
import { REMOVED } from '../../ports/ledger/erasures.ts';
import { DEFAULT_SETTINGS } from '../../settings.ts';
import { DAY_MS } from '../../text/dates.ts';
import { DEFAULT_TENANT } from '../../words.ts';
import { sweepRetention } from '../retain.ts';

const TENANT = DEFAULT_TENANT;
const STEPS = 40;
const ALL = { limit: 1_000, cursor: null };
const HISTORY_DAYS = 10;

it.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'a random life is no other for losing its past, and never says it is lost (%i)',
  async (seed) => {
    const b = await undoBench();
    const { deps, tools } = b.engine;
    const { ledger } = deps;
    const retention = { messagesDays: null, plansDays: null, historyDays: HISTORY_DAYS, forgottenDays: null };
    await ledger.settings.put(TENANT, { ...DEFAULT_SETTINGS, retention });
    const random = seeded(seed);
    const one = oneOf(random);
    const steps = stepsOf(b, random);
    for (let i = 0; i < STEPS; i += 1) {
      tools.advance(Math.floor(random() * 5) * DAY_MS + 1_000);
      await one(steps)?.();
      const before = await b.engine.live();
      expect(before).not.toContain(REMOVED);
      await sweepRetention(deps, NEVER);
      expect(await b.engine.live()).toEqual(before);
      const points = (await deps.index.page(null, 10_000)).points.filter(({ shelf }) => shelf === 'memories');
      expect(
        points
          .filter((point) => point.live)
          .map((point) => point.text)
          .sort(),
      ).toEqual(before);
      expect(points.map((point) => point.text)).not.toContain(REMOVED);
    }
    await expectTrue(ledger);
    expect((await examine(deps, { depth: 'full', cancel: NEVER })).findings).toEqual([]);
    const versions = (await b.engine.memories()).flatMap((each) => each.versions);
    expect(versions.some((version) => version.text === REMOVED)).toBe(true);
  },
);

type Random = () => number;

const oneOf =
  (random: Random) =>
  <T>(list: readonly T[]): T | undefined =>
    list[Math.floor(random() * Math.max(1, list.length))];

/** Talk, also of earlier days, explicit writes, and everything that takes something back. */
function stepsOf(b: UndoBench, random: Random): readonly (() => Promise<unknown>)[] {
  const { ledger, tools } = b.engine.deps;
  const dice = (limit: number): number => Math.floor(random() * limit);
  const one = oneOf(random);
  const text = (): string => `${one(['home', 'pet', 'tea'])}: ${dice(4)}`;
  const memory = async (): Promise<string> => one(await b.engine.memories())?.id ?? 'mem_none';
  return [
    () => b.say(text()),
    () => b.say(text(), text()),
    async () => {
      await b.engine.post([{ content: text(), at: tools.now() - dice(20) * DAY_MS }]);
      await b.engine.run();
    },
    async () => b.writer.change(TENANT, await memory(), { text: text() }),
    async () => b.writer.remove(TENANT, await memory()),
    async () => b.writer.restore(TENANT, await memory(), 1 + dice(3)),
    async () => {
      const { results } = await ledger.thoughts.list(TENANT, { state: 'applied' }, ALL);
      await b.undoer.undo(TENANT, one(results)?.id ?? 'con_none', { cascade: true, dryRun: false });
    },
    async () => {
      const { results } = await ledger.undos.list(TENANT, {}, ALL);
      await b.undoer.redo(TENANT, one(results)?.id ?? 'und_none', { dryRun: false });
    },
    () => b.undoer.rollback(TENANT, b.ann, { to: tools.now() - dice(15) * DAY_MS, dryRun: false }),
  ];
}
