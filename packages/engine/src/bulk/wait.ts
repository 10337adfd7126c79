import { EngineError, FencedError } from '../errors.ts';
import { checkHolds } from '../limits/holds.ts';
import type { Asking } from '../models/ask.ts';
import { callOfTurn, mayUse } from '../models/call-model.ts';
import { batched, costOfUse } from '../models/prices.ts';
import { usageStepOf } from '../ports/ledger/overview.ts';
import type { ChatCall } from '../ports/models.ts';
import { failureOf } from '../views/views.ts';

/** A provider answers a job within a day; an hour more, and the question is asked by itself. */
const UNTIL_MS = 25 * 3_600_000;

interface Waiting {
  readonly step: string;
  readonly inputHash: string;
  readonly call: ChatCall;
}

/**
 * Throws where a question of backfill waits for a job of the provider, which the batches then say, or for who is held. It returns where
 * the question is to be asked now.
 */
export async function waitForBulk(
  { deps, turn }: Pick<Asking, 'deps' | 'turn'>,
  { step, inputHash, call }: Waiting,
): Promise<void> {
  const { bulk, chat, ledger, tools } = deps;
  // A preview is of no batch.
  if (bulk === null || bulk.model !== chat.name || turn.batchIds.length === 0) return;
  const now = tools.now();
  const waits = new EngineError(
    'this backfill waits for a batch job at the model provider, which finishes within a day at a lower price; a live message takes it out of the job',
    { code: 'waits_for_batch', retryable: true, retryAfterMs: UNTIL_MS, countsAsTry: false },
  );
  const { name, system, user, schema } = call;
  const model = batched(bulk.model);
  const usage = mayUse(call);
  const rules = await ledger.settings.get(turn.tenant);
  const of = callOfTurn(turn, usageStepOf(step));
  await checkHolds(deps, { of, rules });
  const counted = { ...of, model, usage, cost: costOfUse(model, usage, rules.prices) };
  const { kind } = await ledger.bulk.ask(turn, {
    ...{
      id: tools.id('ask'),
      step,
      inputHash,
      call: { name, system, user, schema },
      counted,
      now,
      until: now + UNTIL_MS,
    },
    why: failureOf(waits, now),
  });
  if (kind === 'fenced') throw new FencedError(turn.consolidationId);
  if (kind === 'waits') throw waits;
}
