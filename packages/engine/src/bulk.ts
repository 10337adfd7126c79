import type { EngineDeps } from './deps.ts';
import { asEngineError } from './errors.ts';
import { maskSecrets } from './masking/secrets.ts';
import { failedStep } from './models/ask.ts';
import { batched, costOfUse } from './models/limits.ts';
import { readAnswer } from './models/parse/answer.ts';
import { factsIn } from './models/parse/listed.ts';
import type { BulkAnswered, BulkJob, BulkQuestion, BulkState } from './ports/ledger/thoughts.ts';
import type { SettledCall } from './ports/ledger/usage.ts';
import type { BulkProvider, ChatAnswer } from './ports/models.ts';
import type { Nudge } from './ports/schedule.ts';
import type { Cancellation } from './ports/tools.ts';
import type { JsonObject, Millis } from './words.ts';

interface BulkDeps extends Pick<EngineDeps, 'bulk' | 'ledger' | 'tools' | 'log' | 'meter'> {
  nudge(nudges: readonly Nudge[]): Promise<void>;
}

/** For so long questions are gathered for one job. */
const GATHER_MS = 5_000;
/** Of one job; a provider takes a hundred times as many. */
const QUESTIONS_MAX = 500;
const CHARS_MAX = 2_000_000;
/** Longer than one step takes: a worker that dies in the middle keeps others away so long. */
const LEASE_MS = 60_000;
/** Windows that are taken back, and jobs that are worked on, in one pass. */
const AT_ONCE = 200;
const JOBS_AT_ONCE = 20;

/**
 * Gives questions that wait to the provider, looks what became of them, keeps what was answered and takes back what somebody has
 * begun to wait for. All state is the ledger's: any worker goes on where another one stopped.
 */
export function bulkSweep(deps: BulkDeps): (cancel: Cancellation) => Promise<void> {
  const { bulk: provider } = deps;
  return provider === null ? abandoning(deps) : (cancel) => sweep({ deps, provider, cancel });
}

/** Without a provider nothing begins to wait: once nothing does, there is nothing to look for. */
function abandoning(deps: BulkDeps): () => Promise<void> {
  const { ledger, tools } = deps;
  let mayWait = true;
  return async () => {
    if (!mayWait) return;
    const nudges = await ledger.bulk.abandon(tools.now(), AT_ONCE);
    await nudgeNow(deps, nudges);
    mayWait = nudges.length > 0;
  };
}

async function sweep(working: Working): Promise<void> {
  const { deps, cancel } = working;
  const { ledger, tools } = deps;
  await nudgeNow(deps, await ledger.bulk.takeBack(tools.now(), AT_ONCE));
  const now = tools.now();
  const gathering = { before: now - GATHER_MS, limit: QUESTIONS_MAX, charsMax: CHARS_MAX, now };
  await ledger.bulk.gather({ id: tools.id('blk'), ...gathering });
  for (let worked = 0; worked < JOBS_AT_ONCE && !cancel.aborted; worked += 1) {
    const job = await ledger.bulk.take(tools.now(), tools.now() + LEASE_MS);
    if (job === null) return;
    await workOn(working, job);
  }
}

interface Working {
  readonly deps: BulkDeps;
  readonly provider: BulkProvider;
  readonly cancel: Cancellation;
}

/** What comes of one step of a job: where it stands then, and when it is looked at again. null: it is over. */
type Stepped = { readonly state: BulkState; readonly remote: JsonObject | null; readonly waitMs: Millis } | null;

async function workOn(working: Working, job: BulkJob): Promise<void> {
  const { deps, cancel } = working;
  const { ledger, tools, log } = deps;
  try {
    const next = await STEPS[job.state](working, job);
    const step = next && { state: next.state, remote: next.remote, tries: 0, dueAt: tools.now() + next.waitMs };
    await ledger.bulk.move(job, step);
    if (next?.state !== job.state)
      log.info({ job: job.id, from: job.state, to: next?.state ?? 'over' }, 'a batch job made progress');
  } catch (error) {
    const failure = asEngineError(error);
    if (cancel.aborted) return;
    log.warn(
      { job: job.id, state: job.state, code: failure.code, error: failure.message },
      'a batch job could not continue',
    );
    await putOff(working, job, failure.retryable);
  }
}

/** A job that the provider does not take is given up soon, and its questions are asked one by one. */
const TRIES_MAX = 8;
const AGAIN_MS = 5_000;
const AGAIN_MAX_MS = 300_000;

async function putOff({ deps }: Working, job: BulkJob, retryable: boolean): Promise<void> {
  const { ledger, tools } = deps;
  const tries = job.tries + 1;
  const isLost = job.state === 'created' && (!retryable || tries >= TRIES_MAX);
  if (isLost) await giveUp(deps, job);
  const dueAt = tools.now() + Math.min(AGAIN_MS * 2 ** job.tries, AGAIN_MAX_MS);
  await ledger.bulk.move(job, { ...job, state: isLost ? 'cancelling' : job.state, tries, dueAt });
}

const STEPS: Readonly<Record<BulkState, (working: Working, job: BulkJob) => Promise<Stepped>>> = {
  created: async ({ deps, provider, cancel }, job) => {
    const { id } = job;
    const questions = await deps.ledger.bulk.open(id);
    if (questions.length === 0) return { state: 'cancelling', remote: null, waitMs: 0 };
    for (const question of questions) await deps.ledger.usage.note({ ...question.counted, ...sentIn(job, question) });
    const remote = await provider.submit({ id, questions }, cancel);
    return { state: 'submitted', remote, waitMs: POLL_MIN_MS };
  },
  submitted: async (working, job) => {
    const { deps, provider, cancel } = working;
    const isWanted = (await deps.ledger.bulk.open(job.id)).length > 0;
    if (!isWanted) return { state: 'cancelling', remote: job.remote, waitMs: 0 };
    const { remote, isOver } = await provider.look(job.remote ?? {}, cancel);
    return isOver ? collected(working, job, remote) : { state: 'submitted', remote, waitMs: pollMs(deps, job) };
  },
  cancelling: async (working, job) => {
    const { provider, cancel } = working;
    // Whoever submitted it may have died before it could be noted.
    const known = job.remote ?? (await provider.find(job.id, cancel));
    if (known === null) {
      await giveUp(working.deps, job);
      return null;
    }
    await provider.cancel(known, cancel);
    const { remote, isOver } = await provider.look(known, cancel);
    return isOver
      ? collected(working, job, remote)
      : { state: 'cancelling', remote, waitMs: pollMs(working.deps, job) };
  },
  cleaning: async ({ provider, cancel }, { remote }) => {
    await provider.remove(remote ?? {}, cancel);
    return null;
  },
};

const POLL_MIN_MS = 2_000;
const POLL_MAX_MS = 300_000;
/** Of a job's age: a day old one is looked at every few minutes. */
const POLL_SHARE = 0.1;

const pollMs = ({ tools }: BulkDeps, { createdAt }: BulkJob): Millis =>
  Math.min(Math.max((tools.now() - createdAt) * POLL_SHARE, POLL_MIN_MS), POLL_MAX_MS);

/** Every answer is kept, also one that comes late; what has none is asked by itself. */
async function collected({ deps, provider, cancel }: Working, job: BulkJob, remote: JsonObject): Promise<Stepped> {
  const { ledger, tools, log } = deps;
  const answers = await provider.answers(remote, cancel);
  const byId = new Map(answers.map(({ id, answer }) => [id, answer]));
  const asked = await ledger.bulk.asked(job.id);
  for (const question of asked) {
    const answer = byId.get(question.id) ?? null;
    if (answer === null) continue;
    const answered = await answeredAs(deps, job, { question, answer });
    await nudgeNow(deps, [await ledger.bulk.answer(question.id, answered, tools.now())]);
    await tools.breathe();
  }
  const answered = answers.filter(({ answer }) => answer !== null).length;
  log.info({ job: job.id, questions: asked.length, answered }, 'the answers of a batch job are stored');
  await giveUp(deps, job, byId);
  return { state: 'cleaning', remote, waitMs: 0 };
}

interface Answered {
  readonly question: BulkQuestion;
  readonly answer: ChatAnswer;
}

/** Under the name that whoever asks by itself would keep it under: where it is of no use, as such. */
async function answeredAs(deps: BulkDeps, job: BulkJob, { question, answer }: Answered): Promise<BulkAnswered> {
  const { ledger, tools, meter } = deps;
  const { step, inputHash, attempts, counted } = question;
  const { prices } = await ledger.settings.get(counted.tenant);
  const text = maskSecrets(answer.text).text;
  const isUsable = readAnswer(text, factsIn)?.complete === true;
  const { usage, truncated } = answer;
  const used = { model: batched(answer.model), usage, cost: costOfUse(batched(answer.model), usage, prices) };
  meter.call(null, {
    ...{ kind: question.call.name, model: counted.model, cause: counted.cause, failure: null, usage },
    ...{ cost: used.cost ?? 0, startedAt: job.createdAt, endedAt: tools.now() },
  });
  return {
    answer: {
      ...{ inputHash, text, usage, truncated, model: used.model, at: tools.now() },
      step: isUsable ? step : failedStep(step, attempts),
    },
    call: settled(job, question, { ...used, outcome: 'answered' }),
  };
}

/** Counted to the time at which the job was made, whenever it goes out and is over. */
const sentIn = ({ createdAt: at }: BulkJob, { id }: BulkQuestion) => ({ id, at });

function settled(
  job: BulkJob,
  question: BulkQuestion,
  how: Pick<SettledCall, 'model' | 'usage' | 'cost' | 'outcome'>,
): SettledCall {
  const { model, usage, cost } = question.counted;
  return { ...question.counted, ...sentIn(job, question), ...how, noted: { model, usage, cost }, tookMs: 0 };
}

/** What a provider does not answer in a batch it does not bill. */
const UNBILLED = { usage: { promptTokens: 0, completionTokens: 0 }, cost: 0, outcome: 'refused' } as const;

/** What is still open is asked by itself. */
async function giveUp(
  deps: BulkDeps,
  job: BulkJob,
  answered: ReadonlyMap<string, ChatAnswer | null> = new Map(),
): Promise<void> {
  const { ledger, tools } = deps;
  const left = (await ledger.bulk.asked(job.id)).filter((question) => (answered.get(question.id) ?? null) === null);
  const calls = left.map((question) => settled(job, question, { model: question.counted.model, ...UNBILLED }));
  if (calls.length > 0) await ledger.usage.settle(calls);
  for (const question of left) await nudgeNow(deps, [await ledger.bulk.answer(question.id, null, tools.now())]);
}

/** A lost nudge is made up for by the sweep of lanes. */
async function nudgeNow({ nudge, log }: BulkDeps, nudges: readonly (Nudge | null)[]): Promise<void> {
  const those = nudges.filter((one) => one !== null);
  if (those.length === 0) return;
  await nudge(those).catch((error: unknown) => {
    log.warn({ error: String(error), turns: those.length }, 'could not schedule turns; the sweep will do it');
  });
}
