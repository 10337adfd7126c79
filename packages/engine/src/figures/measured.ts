import type { EngineDeps } from '../deps.ts';
import type { Consolidation } from '../ports/ledger/thoughts.ts';
import { messagesOf } from '../replays/lives.ts';
import type { Message } from '../words.ts';
import type { MeasuredConsolidation } from './measure.ts';

/** A consolidation as the ledger has it. What retention has removed of it cannot be measured any more. */
export async function measuredIn(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  { id, tenant, batchIds }: Pick<Consolidation, 'id' | 'tenant' | 'batchIds'>,
): Promise<MeasuredConsolidation> {
  const [plan, answers] = await Promise.all([ledger.thoughts.plan(id), ledger.thoughts.answers(id)]);
  const messages: Message[] = [];
  for (const batchId of batchIds) {
    const batch = await ledger.batches.get(tenant, batchId);
    if (batch !== null) messages.push(...(await messagesOf({ ledger }, batch)));
  }
  return { plan, messages, answers };
}
