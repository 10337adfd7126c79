import type { EngineDeps } from '../deps.ts';
import { requestErasure } from '../erasure/request.ts';
import { EngineError } from '../errors.ts';
import { spaceOf } from '../ids.ts';
import type { Replay } from '../ports/ledger/replays.ts';
import type { Cancellation } from '../ports/tools.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { isOutOfBudget } from '../suites/budget.ts';
import type { QuestionDeps } from '../suites/questions.ts';
import { reportOf } from '../suites/report.ts';
import { prepareCases } from '../suites/run.ts';
import type { JsonObject, Millis, TenantId } from '../words.ts';
import { changesFrom, setupOf, type Thinker, withChanges } from './in-space.ts';
import { lanesInLife } from './lives.ts';
import { hasStudiesToMake, resultOf } from './result.ts';
import { LEASE_MS, type PrepareDeps, prepareLane, prepareRules, RemovedError, WHAT_IF_MAX, workLive } from './start.ts';

/**
 * Goes on with every replay that is due, one after the other; each belongs to one worker at a time. All of their work can
 * be done again: what a worker that died has left half done, the next one ends. Answers with how many there were.
 */
export async function sweepReplays(deps: WhatIfDeps, cancel: Cancellation): Promise<number> {
  const { ledger, tools, log } = deps;
  for (let count = 0; ; count += 1) {
    const now = tools.now();
    const replay: Replay | null = cancel.aborted ? null : await ledger.replays.take(now, now + LEASE_MS);
    if (replay === null) return count;
    const work = replay.kind === 'live' ? workLive : workWhatIf;
    await work(deps, replay, cancel).catch((error: unknown) => {
      if (!cancel.aborted)
        log.warn(
          { replay: replay.id, error: String(error) },
          'a replay cannot continue; it will be retried in a few seconds',
        );
    });
  }
}

/** A space that nobody discards goes by itself after a week. */
const KEPT_MS = 7 * 24 * 60 * 60_000;
/** How often it is looked whether the copies are through. */
const LOOK_AGAIN_MS = 2_000;
/** Rows of one kind that go in one transaction. */
const SLICE = 50;
const OWNERS = 100;

type WhatIfDeps = PrepareDeps & QuestionDeps & Thinker;

/** What a worker does with a what-if or the run of a suite that is due. */
async function workWhatIf(deps: WhatIfDeps, replay: Replay, cancel: Cancellation): Promise<void> {
  switch (replay.state) {
    case 'preparing':
      return prepare(deps, replay, cancel);
    case 'running':
      return lookWhether(deps, replay, cancel);
    case 'done':
    case 'failed':
      return void (await discardSpace(deps, replay));
    case 'discarding':
      return removeSpace(deps, replay);
    case 'discarded':
      return;
  }
}

/** The space is to be removed, whatever it is doing. false: it is gone, or about to be, already. */
export async function discardSpace(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  { id, state }: Replay,
): Promise<boolean> {
  if (state === 'discarding' || state === 'discarded') return false;
  return ledger.replays.move(id, { from: state, to: 'discarding', dueAt: tools.now() });
}

async function prepare(deps: WhatIfDeps, replay: Replay, cancel: Cancellation): Promise<void> {
  const { ledger, tools } = deps;
  const go = (to: 'preparing' | 'running', dueAt: Millis): Promise<boolean> =>
    ledger.replays.move(replay.id, { from: 'preparing', to, dueAt });
  await prepareRules(deps, replay);
  // Somebody may have discarded it meanwhile.
  const goOn = async (): Promise<boolean> => !cancel.aborted && (await go('preparing', tools.now() + LEASE_MS));
  if (replay.kind === 'suite') {
    if (await prepareCases(deps, { replay, goOn })) await go('running', tools.now());
    return;
  }
  const batches = await ledger.replays.batches(replay.id, WHAT_IF_MAX);
  try {
    for (const life of await lanesInLife(deps, batches, replay.createdAt)) {
      if (!(await prepareLane(deps, { replay, life, goOn }))) return;
    }
  } catch (error) {
    if (!(error instanceof RemovedError)) throw error;
    return fail(deps, replay, { code: 'removed_by_retention', message: error.message });
  }
  await go('running', tools.now());
}

/** For good: what it would need is gone. */
async function fail(
  { ledger, tools }: WhatIfDeps,
  { id, state }: Replay,
  why: Omit<NonNullable<Replay['failure']>, 'at'>,
): Promise<void> {
  const now = tools.now();
  const expiresAt = now + KEPT_MS;
  await ledger.replays.move(id, {
    ...{ from: state, to: 'failed', dueAt: expiresAt, expiresAt, finishedAt: now, failure: { ...why, at: now } },
  });
}

async function lookWhether(deps: WhatIfDeps, replay: Replay, cancel: Cancellation): Promise<void> {
  const { ledger, tools, log } = deps;
  const { pending, consolidating } = await ledger.overview.batches(spaceFor(replay));
  const now = tools.now();
  if (replay.kind === 'suite' && consolidating > 0 && (await isOutOfBudget(deps, replay)))
    return fail(deps, replay, outOfBudget(replay));
  if (pending + consolidating > 0 || (await hasStudiesToMake(deps, spaceFor(replay)))) {
    await ledger.replays.move(replay.id, { from: 'running', to: 'running', dueAt: now + LOOK_AGAIN_MS });
    return;
  }
  const result =
    replay.kind === 'suite' ? await suiteReport(deps, replay, cancel).catch(asFinal) : await whatIfResult(deps, replay);
  if (result instanceof EngineError) return fail(deps, replay, { code: result.code, message: result.message });
  if (result === null) return fail(deps, replay, { code: 'suite_removed', message: 'its suite was removed' });
  const expiresAt = now + KEPT_MS;
  const done = { from: 'running', to: 'done', dueAt: expiresAt, expiresAt, finishedAt: now } as const;
  await ledger.replays.move(replay.id, { ...done, result: JSON.parse(JSON.stringify(result)) as JsonObject });
  log.info({ replay: replay.id }, replay.kind === 'suite' ? 'a run of a suite is done' : 'a what-if replay is done');
}

/** A model that nobody can ask ends the run; all else is tried again. */
function asFinal(error: unknown): EngineError {
  if (error instanceof EngineError && error.code === 'model_misconfigured' && !error.retryable) return error;
  throw error;
}

const whatIfResult = async (deps: WhatIfDeps, replay: Replay) =>
  resultOf(deps, replay, await deps.ledger.replays.batches(replay.id, WHAT_IF_MAX));

async function suiteReport(deps: WhatIfDeps, replay: Replay, cancel: Cancellation) {
  const suite = await deps.ledger.suites.get(replay.tenant, replay.filter.suite ?? '');
  if (suite === null) return null;
  const rules = await deps.ledger.settings.get(spaceFor(replay));
  const setup = setupOf(withChanges(deps, changesFrom(replay.changes)), rules);
  return reportOf(deps, { replay, suite, setup }, cancel);
}

const outOfBudget = ({ spent, filter }: Replay) => ({
  code: 'budget_exhausted',
  message: `${spent} of the ${filter.budget} tokens of its budget are used, and it is not finished; run it again with a higher budget`,
});

/** Every lane of it is erased as an owner's would be; when none is left, the space is gone. */
async function removeSpace(deps: WhatIfDeps, replay: Replay): Promise<void> {
  const { ledger, tools, log } = deps;
  const space = spaceFor(replay);
  const { results } = await ledger.overview.owners(space, { limit: OWNERS, cursor: null });
  if (results.length === 0) {
    await ledger.settings.put(space, DEFAULT_SETTINGS);
    await ledger.replays.move(replay.id, { from: 'discarding', to: 'discarded', dueAt: null, expiresAt: null });
    log.info({ replay: replay.id }, 'a shadow space was deleted');
    return;
  }
  for (const { owner } of results) await removeOwner(deps, space, owner);
  // Who was still setting it up may have added something: looked at once more.
  await ledger.replays.move(replay.id, { from: 'discarding', to: 'discarding', dueAt: tools.now() });
}

/** Its bytes need not be overwritten at once: what they say is said in life, too. */
async function removeOwner(
  deps: WhatIfDeps,
  space: TenantId,
  owner: Parameters<typeof requestErasure>[2],
): Promise<void> {
  const { ledger, index, tools } = deps;
  const { id, lane } = await requestErasure(deps, space, owner);
  if (lane !== null) await index.forget({ tenant: space, owner, lane });
  while ((await ledger.erasures.slice(id, SLICE)).more);
  await ledger.erasures.forgetOwner(id);
  await ledger.erasures.finish([id], { remains: [], now: tools.now() });
}

const spaceFor = ({ tenant, id }: Replay): TenantId => spaceOf({ tenant, replay: id });
