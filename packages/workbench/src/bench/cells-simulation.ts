import { type Hour, simulateHour } from '../simulation/hour.ts';
import { KINDS } from '../simulation/truth.ts';
import { simulateYear, type Year } from '../simulation/year.ts';
import type { Bench, Given } from './bench.ts';
import { type Found, quantile, type Verdict } from './report.ts';

const PERCENT = 100;
const PER_MILLION = 1e6;
const MINUTE_S = 60;
const SECOND_MS = 1_000;
const ROUTERS = 8;
const CARRIERS = 4;
const DIMENSIONS = 1_536;
const TERA = 1e12;
/** No cell has more than this, compared with the mean. */
const FULLEST = 1.15;
/** Bytes of an exception and of a range in the directory, indexes counted too. */
const ROW_BYTES = 150;

/** What becomes of a hundred cells when everything goes wrong, and in a year. */
export const cellsSimulation: Bench = {
  name: 'cells-simulation',
  what: 'Simulates cells, routers and their directory at the busiest time of a day, with constant moves and faults and a lost cell, then a year of growth. Uses the product’s own code for planning and moving.',
  flags: {
    cells: { usual: '100', help: 'Cells at the start.' },
    owners: { usual: '10000', help: 'Owners per cell.' },
    minutes: { usual: '30', help: 'Minutes that are simulated message by message.' },
    'per-day': { usual: '10', help: 'Exchanges per owner and day.' },
    growth: { usual: '10', help: 'New owners in a month, in percent.' },
    'fault-every': { usual: '15', help: 'Seconds between two faults, on average.' },
    seed: { usual: '1', help: 'Repeats the run with this seed.' },
  },
  draws: false,
  run: async (given, progress) => {
    const options = optionsOf(given);
    const hour = await simulateHour(options, progress);
    progress('a year');
    return found(options, hour, simulateYear({ ...options, dimensions: DIMENSIONS }));
  },
};

const optionsOf = (given: Given) => ({
  seed: String(given.number('seed')),
  cells: given.number('cells', { min: 4, max: 1_000 }),
  owners: given.number('owners', { max: 100_000 }),
  minutes: given.number('minutes', { min: 5, max: 1_440 }),
  perDay: given.number('per-day', { max: 1_000 }),
  growth: given.number('growth', { min: 0, max: 100 }) / PERCENT,
  faultEvery: given.number('fault-every'),
  ...{
    routers: ROUTERS,
    carriers: CARRIERS,
    newcomers: 2,
    few: 100,
    singles: 60,
    slotsEvery: 30,
    lost: 1e-4,
    without: null,
  },
});

function found(options: ReturnType<typeof optionsOf>, hour: Hour, year: Year): Found {
  return {
    title: `cells-simulation: ${options.cells} cells × ${options.owners.toLocaleString('en')} owners, ${options.minutes} minutes at the peak, then a year; seed ${options.seed}`,
    figures: [...figuresOfHour(options.minutes, hour), ...figuresOfYear(options, year)],
    verdicts: [...verdictsOf(hour), fullestOf(year)],
    remarks: [
      `What happened: ${[...hour.faults].map(([fault, count]) => `${count} × ${fault}`).join(', ')}.`,
      `Of ${hour.world.truth.acceptedInAll().toLocaleString('en')} batches that were accepted every one is in exactly one cell at the end.`,
      'Time is simulated: no figure depends on this machine. Work takes what docs/scale.md says; a message between two programs half a millisecond.',
      'The routers, the code that moves owners and the directory are simulated with the rules of the product itself (packages/engine/src/cells); a cell is reduced to what moves are about.',
    ],
  };
}

function figuresOfHour(minutes: number, { world, load, watched, lost, waiting }: Hour): Found['figures'] {
  const { routers, directory, truth } = world;
  const seconds = minutes * MINUTE_S;
  const gaps = truth.gaps();
  const again = load.again.cell + load.again.moving + load.again.other;
  const share = (part: number): number => (part / Math.max(1, load.requests)) * PERCENT;
  const sum = (of: (router: (typeof routers)[number]) => number): number =>
    routers.reduce((all, router) => all + of(router), 0);
  const figure = (what: string, value: number, unit = ''): Found['figures'][number] => ({ what, value, unit });
  return [
    figure('requests', load.requests / seconds, '/s'),
    figure('  answered within, median', quantile(load.took, 0.5), 'ms'),
    figure('  99 of 100', quantile(load.took, 0.99), 'ms'),
    figure('  sent again since their cell was away', share(load.again.cell), '%'),
    figure('  since their owner was on its way, or their slot changed hands', share(load.again.moving), '%'),
    figure('  since a router or a message was lost', share(again - load.again.cell - load.again.moving), '%'),
    figure('owners that moved', gaps.length),
    figure('  nobody had them for, median', quantile(gaps, 0.5), 'ms'),
    figure('  99 of 100', quantile(gaps, 0.99), 'ms'),
    figure('  at most', Math.max(0, ...gaps) / SECOND_MS, 's'),
    figure('directory: requests', directory.node.asked / seconds, '/s'),
    figure('  busy', (directory.node.busyMs / (seconds * SECOND_MS)) * PERCENT, '% of a core'),
    figure('  owners that are exceptions, at most', watched.exceptions),
    figure('  ranges of slots', watched.ranges),
    figure('  size', ((watched.exceptions + watched.ranges) * ROW_BYTES) / PER_MILLION, 'MB'),
    figure('a router: requests', sum(({ told }) => told.routed) / routers.length / seconds, '/s'),
    figure('  age of its copy of the directory, median', quantile(watched.ages, 0.5) / SECOND_MS, 's'),
    figure('  99 of 100', quantile(watched.ages, 0.99) / SECOND_MS, 's'),
    figure('  at most', Math.max(0, ...watched.ages) / SECOND_MS, 's'),
    figure('  changes it has not heard of, 99 of 100', quantile(watched.behind, 0.99)),
    figure('the lost cell took owners', lost),
    figure('  of all', (lost / world.people.count()) * PERCENT, '%'),
    figure('  moves from it or to it that wait for its return', waiting),
  ];
}

const figuresOfYear = (
  { growth, cells }: ReturnType<typeof optionsOf>,
  { months, ...year }: Year,
): Found['figures'] => {
  const last = months.at(-1);
  return [
    { what: `a year of +${growth * PERCENT}% a month: owners in the end`, value: last?.owners ?? 0, unit: '' },
    { what: '  cells added', value: (last?.cells ?? cells) - cells, unit: '' },
    { what: '  days from one added cell to the next, in the end', value: year.daysBetween, unit: '' },
    { what: '  owners that moved', value: year.owners, unit: '' },
    { what: '  for each one that came', value: year.owners / Math.max(1, year.came), unit: '' },
    { what: '  what moved', value: year.bytes / TERA, unit: 'TB' },
    { what: '  processor time of it, both cells together', value: year.cpuHours, unit: 'h' },
    { what: '  as a part of all that consolidation takes in the year', value: year.share * PERCENT, unit: '%' },
    { what: '  the fullest cell at the end of a month, compared with the mean', value: fullestIn(months), unit: '×' },
    { what: '  ranges of slots in the end', value: last?.ranges ?? 0, unit: '' },
    { what: '  owners whose slots change hands together, at most', value: year.mostAtOnce, unit: '' },
  ];
};

const fullestIn = (months: Year['months']): number =>
  Math.max(...months.map(({ fullest }) => Math.max(fullest.owners, fullest.exchanges)));

/** How it is called when it never happened. */
const NEVER: Readonly<Record<(typeof KINDS)[number], string>> = {
  'second home': 'owners that two cells had at the same time',
  'no home': 'owners that no cell had in the end',
  lost: 'accepted batches that were lost',
  doubled: 'batches that were accepted twice',
  unseen: 'searches that did not see what was acknowledged before',
  refused: 'requests that were refused again and again though their cell was there',
  stuck: 'moves that did not come to an end',
};

function verdictsOf({ world }: Hour): readonly Verdict[] {
  const findings = world.truth.findings();
  return KINDS.map((kind) => {
    const { count = 0, first = [] } = findings.find((one) => one.kind === kind) ?? {};
    return { what: NEVER[kind], reached: String(count), target: '0', passed: count === 0, misses: first };
  });
}

const fullestOf = ({ months }: Year): Verdict => ({
  what: 'the fullest cell, compared with the mean',
  reached: `${fullestIn(months).toFixed(2)} ×`,
  target: `at most ${FULLEST} ×`,
  passed: fullestIn(months) <= FULLEST,
  misses: [],
});
