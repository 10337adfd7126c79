import type { EngineDeps } from '../deps.ts';
import { sourcesOf } from '../memories/standing.ts';
import type { LaneId, Memory } from '../words.ts';
import type { SaidById } from './found-by.ts';

/** The messages that memories of one lane came from, each with the one before it: one question to the ledger. */
export async function heard(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  lane: LaneId,
  memories: readonly Memory[],
): Promise<SaidById> {
  const ids = [...new Set(memories.flatMap(sourcesOf))];
  const said = ids.length === 0 ? [] : await ledger.speech.said(lane, ids);
  return new Map(said.map((one) => [one.message.id, one]));
}
