import type { EngineDeps } from '../deps.ts';
import type { Batch } from '../ports/ledger/batches.ts';
import { type Message, ownerOf } from '../words.ts';

/** The messages of a batch, as a turn of it alone would gather them. */
export async function messagesOf({ ledger }: Pick<EngineDeps, 'ledger'>, batch: Batch): Promise<readonly Message[]> {
  const turn = {
    ...{ tenant: batch.tenant, lane: batch.lane, owner: ownerOf(batch.scope), scope: batch.scope },
    ...{ settings: batch.settings, batchIds: [batch.id], consolidationId: batch.consolidationId ?? '' },
    ...{ generation: 0, epoch: 0, attempts: 0, claimedAt: batch.acceptedAt },
  };
  return (await ledger.thoughts.gather(turn, 0)).messages;
}
