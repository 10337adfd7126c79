import type { EngineDeps } from '../deps.ts';
import { EngineError, type EngineErrorCode } from '../errors.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { SentCall } from '../ports/ledger/usage.ts';
import type { ChatCall } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import { economised } from '../suites/gate.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { callModel, callOfTurn, causeOf } from './call-model.ts';
import { type ChatStep, chatsOf } from './steps.ts';

/** As well the fault of a provider that is down as of an input that it cannot bear. */
const DOUBTFUL: readonly EngineErrorCode[] = ['model_unreachable', 'model_timeout', 'model_server_error'];

/** As small as a question can be: any model that is there answers it. */
export const ARE_YOU_THERE: ChatCall = {
  name: 'are_you_there',
  system: 'are_you_there\nAnswer with the JSON object {"there": true} and nothing else.',
  user: 'Are you there?\n{}',
  schema: {
    type: 'object',
    properties: { there: { type: 'boolean' } },
    required: ['there'],
    additionalProperties: false,
  },
};

/**
 * Whether a failure may say nothing of the batches, because the models are away. Asked only where the failure would
 * cost batches their last try: then a question that anything can answer distinguishes a provider that is down from an input it
 * cannot bear. `there`: now it answers; whether it did before is not known.
 */
export async function doubt(
  deps: EngineDeps,
  { turn, failure }: { turn: Turn; failure: EngineError },
  cancel: Cancellation,
): Promise<'none' | 'there' | 'away'> {
  if (!isDoubtful(failure) || !(await isLastTry(deps, turn))) return 'none';
  return (await modelsAway(deps, { turn, steps: ['extract', 'decide'] }, cancel)) ? 'away' : 'there';
}

export const isDoubtful = ({ code }: EngineError): boolean => DOUBTFUL.includes(code);

interface Doubted {
  readonly turn: Turn;
  /** What the turn asks chat models for. */
  readonly steps: readonly ChatStep[];
}

/** Whether one of the models does not even answer what anything can. */
export async function modelsAway(deps: EngineDeps, { turn, steps }: Doubted, cancel: Cancellation): Promise<boolean> {
  const rules = await economised(deps, turn, await deps.ledger.settings.get(turn.tenant));
  const chats = [...chatsOf(deps, steps, rules), ...(deps.imageModel === null ? [] : [deps.imageModel])];
  for (const chat of chats) if (await isAway(() => probe({ ...deps, chat }, turn, cancel))) return true;
  return embedderIsAway(deps, cancel);
}

/** Whether it does not even answer what any embedder can. */
export const embedderIsAway = ({ embedder }: Pick<EngineDeps, 'embedder'>, cancel: Cancellation): Promise<boolean> =>
  isAway(() => embedder.embed([ARE_YOU_THERE.user], cancel));

/** Whether it embeds what any embedder can: then what it fails on is the fault of the texts. */
export async function embedderAnswers(
  { embedder }: Pick<EngineDeps, 'embedder'>,
  cancel: Cancellation,
): Promise<boolean> {
  try {
    const { vectors } = await embedder.embed([ARE_YOU_THERE.user], cancel);
    return (vectors[0] ?? null) !== null;
  } catch {
    return false;
  }
}

/** As the ledger decides: a window has as many tries left as its least tried batch. */
export async function isLastTry({ ledger, settings }: EngineDeps, turn: Turn): Promise<boolean> {
  const batches = await Promise.all(turn.batchIds.map((id) => ledger.batches.get(turn.tenant, id)));
  return Math.min(...batches.map((batch) => batch?.attempts ?? 0)) + 1 >= settings.maxAttempts;
}

/** A model that refuses, or answers anything, is there; one that may not be asked just now may be away as well. */
async function isAway(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return false;
  } catch (error) {
    return error instanceof EngineError && (DOUBTFUL.includes(error.code) || !error.countsAsTry);
  }
}

/** What it takes to ask a model whether it is there, for nobody in particular. */
export interface Wondering extends Pick<EngineDeps, 'chat' | 'meter' | 'tools'> {
  /** null: nobody counts it. */
  readonly ledger: Pick<EngineDeps['ledger'], 'usage' | 'settings'> | null;
}

/** Asks a model whether it is there. Whoever asked it last is no more to blame than others: it is counted to the operator's tenant. */
export async function wonder({ ledger, ...deps }: Wondering, cancel: Cancellation): Promise<void> {
  if (ledger === null) {
    await callModel({ deps, turn: null, prices: {}, book: null, cancel }, ARE_YOU_THERE);
    return;
  }
  const { usage, settings } = ledger;
  const { prices } = await settings.get(DEFAULT_TENANT);
  const nobody = { tenant: DEFAULT_TENANT, lane: null, consolidationId: null, appId: null, keyId: null } as const;
  const of = { ...nobody, step: 'probe', cause: causeOf(nobody) } as const;
  const book = { of, usage, note: (call: SentCall) => usage.note(call) };
  const { call } = await callModel({ deps, turn: null, prices, book, cancel }, ARE_YOU_THERE);
  if (call !== null) await usage.settle([call]);
}

/** The question counts as any other: it is paid for. */
async function probe(deps: EngineDeps, turn: Turn, cancel: Cancellation): Promise<void> {
  const { thoughts, settings, usage } = deps.ledger;
  const book = { of: callOfTurn(turn, 'probe', deps), usage, note: (call: SentCall) => usage.note(call) };
  const { prices } = await settings.get(turn.tenant);
  const { answer, call } = await callModel({ deps, turn, prices, cancel, book }, ARE_YOU_THERE);
  const kept = { step: `probe:${turn.epoch}`, inputHash: ARE_YOU_THERE.name, ...answer, at: deps.tools.now() };
  await thoughts.storeAnswer(turn, kept, call);
}
