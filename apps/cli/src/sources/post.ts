import { createHash } from 'node:crypto';
import type { Call } from '../command.ts';
import type { Fact } from './found.ts';
import type { Origin } from './readers.ts';

/** Posts batches one after the other. Returns how many an earlier run had posted. */
export async function postAll(
  { cancel, ask }: Pick<Call, 'cancel' | 'ask'>,
  batches: readonly object[],
  step: (done: number) => void,
): Promise<number> {
  let known = 0;
  for (const [i, batch] of batches.entries()) {
    cancel.throwIfAborted();
    const { state } = await ask<{ state: string }>('POST', '/v1/batches', batch);
    if (state !== 'pending') known += 1;
    step(i + 1);
  }
  return known;
}

/** A fact word for word, said when it came to hold where it comes from. */
export const factBatch = (origin: Origin, fact: Fact): object => ({
  ...fact.ids,
  mode: 'verbatim',
  priority: 'backfill',
  messages: [{ role: 'user', content: fact.text, ...(fact.at !== null && { timestamp: fact.at }) }],
  metadata: origin === 'mem0' ? fact.metadata : withOrigin(origin, fact),
  ...(fact.expiresAt !== null && { expires_at: fact.expiresAt }),
  idempotency_key: keyOf(origin, [fact.id, fact.ids, fact.at, fact.text]),
});

const withOrigin = (origin: Origin, { id, metadata }: Fact): object => ({
  ...Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null)),
  ...{ origin, origin_id: id },
});

/** Follows from what is posted, so that it is stored once however often it is sent. */
export const keyOf = (origin: Origin, value: unknown): string =>
  `${origin}:${createHash('sha256').update(JSON.stringify(value)).digest('hex')}`;
