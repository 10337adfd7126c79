import { setTimeout as sleep } from 'node:timers/promises';
import { read, readAll } from './api.ts';
import type { Finding } from './checks/finding.ts';
import { checkGraph } from './checks/graph.ts';
import { checkPaid, type Disturbance } from './checks/paid.ts';
import { acceptedOf, askDoctor, checkTotals } from './checks/totals.ts';
import { checkUser, isParked } from './checks/user.ts';
import type { Fault, Guest, Occasion } from './faults/fault.ts';
import { faultsOf } from './faults/index.ts';
import { type Tongue, talk } from './load.ts';
import { quiet, untilEnded, untilStudied } from './quiet.ts';
import { type Random, seededRandom } from './random.ts';
import type { Stage } from './stage.ts';
import { newStory, type Story } from './story.ts';

export interface Course {
  readonly seed: number;
  /** Ends after this many faults… */
  readonly faults: number;
  /** …or this long, whatever comes first. */
  readonly limitMs: number;
  /** Kinds of faults to take; all when empty. */
  readonly only: readonly string[];
  readonly progress: (text: string) => void;
}

/** A fault as it went. */
export interface Injected {
  readonly kind: string;
  /** From its end until everything acknowledged before was searchable. */
  readonly recoveredMs: number;
}

export interface Outcome {
  readonly injected: readonly Injected[];
  readonly findings: readonly Finding[];
  readonly rounds: number;
  readonly accepted: number;
  readonly calls: number;
  /** Questions whose answer was lost on its way, so that they were asked again. */
  readonly askedAgain: number;
  readonly elapsedMs: number;
}

interface Run {
  readonly stage: Stage;
  readonly course: Course;
  readonly random: Random;
  readonly tongue: Tongue;
  readonly stories: Story[];
  /** Of all rounds. */
  readonly guests: Guest[];
  /** Those of `stories` who talk now. */
  cast: Story[];
  readonly injected: Injected[];
  readonly findings: Finding[];
  readonly disturbances: Disturbance[];
  /** Kinds that are still to come before all of them come again. */
  deck: Fault[];
}

const USERS_AT_ONCE = 5;
/** After so many rounds others talk: lives stay short enough to be read as a whole each time. */
const ROUNDS_PER_CAST = 6;
const FAULT_WITHIN_MS = 600; // while users still talk, so that calls are there to be interrupted
const FINDINGS_MAX = 50;

/** Rounds of load and faults, each looked at when it has come to rest. */
export async function runRounds(stage: Stage, course: Course): Promise<Outcome> {
  const random = seededRandom(`${stage.mode}/${course.seed}`);
  const run: Run = {
    stage,
    course,
    random,
    tongue: { random: random.fork('tongue'), count: 0 },
    stories: [],
    guests: [],
    cast: [],
    injected: [],
    findings: [],
    disturbances: [],
    deck: [],
  };
  const began = Date.now();
  let rounds = 0;
  const goesOn = () =>
    run.injected.length < course.faults &&
    Date.now() - began < course.limitMs &&
    run.findings.length < FINDINGS_MAX &&
    !isStuck(run);
  while (goesOn()) {
    if (rounds % ROUNDS_PER_CAST === 0) cast(run, rounds);
    await round(run);
    rounds += 1;
    course.progress(
      `${stage.mode}: ${run.injected.length} of ${course.faults} faults, ${run.findings.length} findings`,
    );
  }
  await lookAtAll(run);
  const calls = stage.provider.asked().filter(({ name, answeredAt }) => name !== 'embed' && answeredAt !== null);
  return {
    injected: run.injected,
    findings: run.findings,
    rounds,
    accepted: acceptedOf(run.stories, run.guests),
    calls: calls.length,
    askedAgain: calls.length - new Set(calls.map(({ hash }) => hash)).size,
    elapsedMs: Date.now() - began,
  };
}

function cast(run: Run, rounds: number): void {
  run.cast = Array.from({ length: USERS_AT_ONCE }, (_, i) => newStory(`u${rounds}-${i}`, { graph: i % 2 === 0 }));
  run.stories.push(...run.cast);
}

async function round(run: Run): Promise<void> {
  const { stage, cast: talking, tongue, random, guests } = run;
  const faults = drawn(run);
  const invited = guests.length;
  const loads = talking.map((story) => talk(stage, tongue, story));
  const broken = faults.map((fault, i) =>
    inject(run, fault, { random: random.fork(`${run.injected.length}/${i}`), alone: faults.length === 1 }),
  );
  await Promise.all([...loads, ...broken]);
  await look(run, talking, guests.slice(invited));
}

/** One to three kinds, all kinds equally often. */
function drawn(run: Run): Fault[] {
  const left = run.course.faults - run.injected.length;
  const count = Math.min(left, run.random.pick([1, 1, 1, 2, 2, 3]));
  const faults: Fault[] = [];
  while (faults.length < count) {
    if (run.deck.length === 0) run.deck = run.random.shuffled(kindsOf(run));
    const next = run.deck.pop();
    if (next !== undefined && !faults.includes(next)) faults.push(next);
    if (kindsOf(run).length < count) break;
  }
  return faults;
}

const kindsOf = ({ stage, course }: Run): Fault[] =>
  faultsOf(stage.mode).filter(({ kind }) => course.only.length === 0 || course.only.includes(kind));

async function inject(run: Run, fault: Fault, { random, alone }: { random: Random; alone: boolean }): Promise<void> {
  const { stage, injected, disturbances, findings, tongue } = run;
  await sleep(random.between(0, FAULT_WITHIN_MS));
  let from = Date.now();
  let { kind } = fault;
  const occasion: Occasion = {
    begins: () => {
      from = Date.now();
    },
    instead: (other) => {
      kind = other;
    },
    invites: (guest) => {
      run.guests.push(guest);
      if (guest.story !== null) run.stories.push(guest.story);
    },
    tongue,
    alone,
  };
  try {
    await fault.run(stage, random, occasion);
  } catch (error) {
    findings.push({ kind: 'process', what: `${fault.kind}: ${String(error)}` });
  }
  const over = Date.now();
  const last = run.cast.flatMap(({ batches }) => batches.slice(-1).map(({ id }) => id));
  await untilEnded(stage, last);
  // A lock that was lost meanwhile is missed at its next renewal.
  const to = fault.lingers === true ? Date.now() : over + stage.takeOverMs * 2;
  if (fault.interrupts) disturbances.push({ kind, from, to });
  injected.push({ kind, recoveredMs: Date.now() - over });
}

/** Everything about those who talked, and the counts of all. */
async function look(run: Run, talking: readonly Story[], invited: readonly Guest[]): Promise<void> {
  const { stage, findings, disturbances } = run;
  const talked = [...talking, ...invited.flatMap(({ story }) => story ?? [])];
  const left = (await quiet(stage)) ?? (await untilStudied(stage, talked)) ?? (await quiet(stage));
  if (left !== null) findings.push({ kind: 'stuck', what: left });
  else await lookAtRest(run, talked, invited);
  for (const { mishaps } of stage.members) {
    for (const what of mishaps.splice(0)) findings.push({ kind: 'process', what });
  }
  findings.push(...(await paidTwice(stage, disturbances)).filter(isNewTo(findings)));
}

/** What the ledger has is read only where it matters: where a question would have been paid twice had its answer been kept. */
async function paidTwice({ provider, urls }: Stage, disturbances: readonly Disturbance[]): Promise<readonly Finding[]> {
  const suspects = checkPaid(provider.asked(), { disturbances, isKept: () => true });
  if (suspects.length === 0) return [];
  const url = `${urls.console}/v1/consolidations`;
  const kept = new Set<number>();
  for (const { id } of await readAll<{ readonly id: string }>(url)) {
    const { answers } = await read<{ readonly answers: readonly { readonly completion_tokens: number }[] }>(
      `${url}/${id}`,
    );
    for (const { completion_tokens: number } of answers) kept.add(number);
  }
  return checkPaid(provider.asked(), { disturbances, isKept: ({ number }) => kept.has(number) });
}

/** What is still under way when the time is up is slow; whether something of it is lost nobody knows yet. */
async function lookAtRest(run: Run, talked: readonly Story[], invited: readonly Guest[]): Promise<void> {
  const { stage, stories, guests, findings } = run;
  // They wait for what only they know of, an erasure: until that is over the doctor may count what is half gone.
  for (const guest of invited) findings.push(...(await guest.check(stage)));
  findings.push(...(await checkTotals(stage, stories, guests)), ...(await askDoctor(stage)));
  for (const story of talked) findings.push(...(await checkAll(stage, story)));
}

async function checkAll(stage: Stage, story: Story): Promise<Finding[]> {
  const ofUser = await checkUser(stage, story);
  return ofUser.some(isParked) ? ofUser : [...ofUser, ...(await checkGraph(stage, story))];
}

const isNewTo =
  (findings: readonly Finding[]) =>
  ({ what }: Finding): boolean =>
    !findings.some((known) => known.what === what);

const isStuck = ({ findings }: Run): boolean => findings.some(({ kind }) => kind === 'stuck');

async function lookAtAll(run: Run): Promise<void> {
  if (isStuck(run)) return;
  const known = [...run.findings];
  for (const story of run.stories) run.findings.push(...(await checkAll(run.stage, story)).filter(isNewTo(known)));
  for (const guest of run.guests) run.findings.push(...(await guest.check(run.stage)).filter(isNewTo(known)));
}
