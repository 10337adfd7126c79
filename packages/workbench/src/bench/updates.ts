import { type World, world } from '@slowwave/engine-testing';
import { startModelServer, startOwnServer } from '@slowwave/testkit';
import { type Api, apiAt } from '../api.ts';
import { untilQuiet } from '../fleet/quiet.ts';
import { perfectModel } from '../perfect-model.ts';
import type { Bench, Given, Progress } from './bench.ts';
import type { Found } from './report.ts';

/** The usual size: facts of one user, and how many of them change another one. */
const FACTS = 2_310;
const UPDATES = 837;
/** At the usual size so many memories may say what no longer holds. */
const STALE_MAX = 1;
/** At larger ones so many of the changes may miss the memory they change. */
const MISSED_MAX = 0.01;

const USER = 'updates';
const VERBATIM_BATCH = 100;
const WITHIN_MS = 3_600_000;
const LOOK_EVERY_MS = 2_000;

/** Whether what changes reaches the memory that it changes, however much is known of a user. */
export const updates: Bench = {
  name: 'updates',
  what: 'How many changed facts miss the memory they should change: one user, one POST per exchange, and a model that never errs about what it is shown.',
  draws: false,
  flags: {
    times: { usual: '1', help: `How often the usual size: ${FACTS} facts, of which ${UPDATES} change another one.` },
    changes: { usual: '0', help: 'How many of the changes are posted; 0: all of them.' },
    seed: { usual: '7', help: 'Seed of the generated facts.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const { times, seed } = options;
    const facts = worldOf({ seed, times });
    const model = await startModelServer({ script: perfectModel(facts) });
    try {
      const server = await startOwnServer({
        OPENAI_API_KEY: 'scripted',
        OPENAI_BASE_URL: model.baseUrl,
        SLOWWAVE_EMBEDDING_MODEL: 'builtin',
      });
      try {
        return await measure(apiAt(server.url, null), { facts, options }, progress);
      } finally {
        await server.close();
      }
    } finally {
      await model.close();
    }
  },
};

const optionsOf = (given: Given) => ({
  times: given.number('times', { max: 64 }),
  changes: given.number('changes', { min: 0, max: 1_000_000 }),
  seed: given.number('seed'),
});

type Facts = Pick<World, 'texts' | 'gold' | 'updates' | 'keyOf'>;

/** Two names of each are what others have, too: so all that is known is near what is said. */
const MIDDLE_NAMES =
  'Alder Birch Cedar Doyle Ewart Finch Grant Heath Irvin Joyce Keane Lowry Moran Nolan Odell Parry'.split(' ');

/** As many worlds as were asked for, said at the same time, of people, books and companies whose names differ by a word. */
function worldOf({ seed, times }: { readonly seed: number; readonly times: number }): Facts {
  const worlds = Array.from({ length: times }, (_, n) => ({
    told: world({ seed: seed + n, facts: FACTS, updates: UPDATES }),
    name: n === 0 ? '' : `${MIDDLE_NAMES[n % MIDDLE_NAMES.length]}${n < MIDDLE_NAMES.length ? '' : n} `,
  }));
  const keys = new Map<string, string>();
  const renamed = worlds.map(({ told, name }) => {
    const of = (text: string): string => {
      const key = told.keyOf(text);
      const subject = key.slice(key.indexOf(' of ') + ' of '.length);
      const called = text.replace(subject, subject.replace(' ', ` ${name}`));
      keys.set(called, `${name}${key}`);
      return called;
    };
    return { texts: told.texts.map(of), gold: told.gold.map(of) };
  });
  return {
    texts: Array.from({ length: FACTS }, (_, i) => renamed.flatMap(({ texts }) => texts[i] ?? [])).flat(),
    gold: renamed.flatMap(({ gold }) => gold),
    updates: UPDATES * times,
    keyOf: (text) => keys.get(text) ?? text,
  };
}

interface Measured {
  readonly facts: Facts;
  readonly options: ReturnType<typeof optionsOf>;
}

async function measure(api: Api, { facts, options }: Measured, progress: Progress): Promise<Found> {
  const { times } = options;
  const said = saidIn(facts, options);
  for (const [i, texts] of portions(said.before).entries()) {
    progress(`stored ${i * VERBATIM_BATCH} of ${said.before.length} facts`);
    const messages = texts.map((content) => ({ role: 'user', content }));
    await api.post('/v1/batches', { user_id: USER, mode: 'verbatim', messages });
  }
  await quiet(api, progress);
  // Not side by side: what is said later has to come later.
  for (const [i, text] of said.exchanges.entries()) {
    if (i % VERBATIM_BATCH === 0) progress(`posted ${i} of ${said.exchanges.length} exchanges`);
    const messages = [
      { role: 'user', content: text },
      { role: 'assistant', content: 'Thank you, I will keep that in mind.' },
    ];
    await api.post('/v1/batches', { user_id: USER, messages });
  }
  await quiet(api, progress);
  progress('reading what is remembered');
  const live = (await api.all<{ memory: string }>(`/v1/memories?user_id=${USER}`)).map(({ memory }) => memory);
  const holds = new Set(said.holds);
  const stale = live.filter((text) => !holds.has(text));
  const remembered = new Set(live);
  const lost = said.holds.filter((text) => !remembered.has(text));
  return {
    title: `updates: ${said.changes} changes of ${said.holds.length} memories of one user, one POST per exchange`,
    figures: [
      { what: 'memories that should hold', value: said.holds.length, unit: '' },
      { what: 'memories that say what no longer holds', value: stale.length, unit: '' },
      { what: 'changes that missed the memory they change', value: (100 * stale.length) / said.changes, unit: '%' },
    ],
    verdicts: [
      {
        what: 'memories that say what no longer holds',
        reached:
          times === 1 ? `${stale.length}` : `${((100 * stale.length) / said.changes).toFixed(2)}% of the changes`,
        target: times === 1 ? `at most ${STALE_MAX}` : `at most ${100 * MISSED_MAX}%`,
        passed: times === 1 ? stale.length <= STALE_MAX : stale.length <= MISSED_MAX * said.changes,
        misses: stale,
      },
      {
        what: 'memories that were lost, or are twice',
        reached: `${lost.length} and ${live.length - remembered.size}`,
        target: '0 and 0',
        passed: lost.length === 0 && live.length === remembered.size,
        misses: lost,
      },
    ],
    remarks: [
      times === 1
        ? 'Every fact is an exchange of its own.'
        : 'What is said first of anything is stored word for word before; each change is an exchange of its own.',
    ],
  };
}

async function quiet(api: Api, progress: Progress): Promise<void> {
  await api.post('/v1/flush', { user_id: USER });
  await untilQuiet(api, {
    withinMs: WITHIN_MS,
    everyMs: LOOK_EVERY_MS,
    onCounts: ({ pending, consolidating }) => progress(`${pending + consolidating} batches to consolidate`),
  });
}

interface Said {
  /** Stored without any decision. */
  readonly before: readonly string[];
  readonly exchanges: readonly string[];
  readonly changes: number;
  readonly holds: readonly string[];
}

/** At the usual size everything is an exchange. Much more of that would take hours, though the changes alone are what counts. */
function saidIn({ texts, keyOf, updates: all, gold }: Facts, { times, changes }: Measured['options']): Said {
  if (times === 1) return { before: [], exchanges: texts, changes: all, holds: gold };
  const first = new Map(texts.toReversed().map((text) => [keyOf(text), text]));
  const later = texts.filter((text) => first.get(keyOf(text)) !== text);
  const exchanges = changes === 0 ? later : later.slice(0, changes);
  const holds = new Map([...first.values(), ...exchanges].map((text) => [keyOf(text), text]));
  return { before: [...first.values()], exchanges, changes: exchanges.length, holds: [...holds.values()] };
}

const portions = (texts: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(texts.length / VERBATIM_BATCH) }, (_, i) =>
    texts.slice(i * VERBATIM_BATCH, (i + 1) * VERBATIM_BATCH),
  );
