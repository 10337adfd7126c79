import {
  type BundlePage,
  DEFAULT_TENANT,
  eraseOwner,
  type LaneId,
  type Millis,
  type Owner,
  ownerBitsOf,
  ownerHashOf,
  requestErasure,
  type StoredLedger,
} from '@slowwave/engine';
import { FIRST_SUM, sealed } from '@slowwave/engine/storing';
import { createMemoryIndex, NEVER, recordingLog } from '@slowwave/engine-testing';
import { systemTools } from '../src/system/system.ts';

const tenant = DEFAULT_TENANT;

/** All lines of an owner, page after page. */
export async function linesOf({ bundles }: StoredLedger, owner: Owner, moving = false): Promise<string[]> {
  const lines: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: BundlePage = await bundles.lines(tenant, owner, { cursor, moving });
    if (page.kind !== 'page') throw new Error(`expected a page of ${owner.id}, got ${page.kind}`);
    lines.push(...page.lines);
    if (page.nextCursor === null) return lines;
    cursor = page.nextCursor;
  }
}

/** The same lines with some of their fields changed, each with the checksum that belongs to it. */
export function resealed(lines: readonly string[], change: (line: Json) => Json): string[] {
  let before = FIRST_SUM;
  return lines.map((line) => {
    const { sum: _, ...fields } = JSON.parse(line) as Json;
    const next = sealed(systemTools.hash, before, JSON.stringify(change(fields)));
    before = next.sum;
    return next.line;
  });
}

type Json = Readonly<Record<string, unknown>>;

const sumOf = (line: string | undefined): string => (JSON.parse(line ?? '{}') as { sum: string }).sum;

/** An owner with its lines, as another ledger wrote them. */
interface Travelling {
  readonly owner: Owner;
  readonly lines: readonly string[];
  readonly readAt?: Millis;
  readonly attempt?: number;
}

export const beginWith = (
  ledger: StoredLedger,
  { owner, lines, readAt = systemTools.now(), attempt = 0 }: Travelling,
) =>
  ledger.bundles.begin({
    ...{ tenant, owner, readAt, lines: lines.length, sum: sumOf(lines.at(-1)), attempt, now: systemTools.now() },
    id: systemTools.id('imp'),
    lane: systemTools.id('lane', ownerBitsOf(systemTools, { tenant, owner })) as LaneId,
    ownerHashes: [ownerHashOf(systemTools, { ledgerId: ledger.id, tenant, owner })],
  });

/** Begins to import an owner, and throws away what has arrived. Returns what removes its rows. */
export async function thrownAway(ledger: StoredLedger, of: Travelling): Promise<() => Promise<void>> {
  const begun = await beginWith(ledger, of);
  if (begun.kind !== 'import') throw new Error(`expected an import of ${of.owner.id}, got ${begun.kind}`);
  await ledger.bundles.take(begun.id, 0, of.lines.slice(0, 100));
  const { id } = await requestErasure({ ledger, tools: systemTools }, tenant, begun.hidden);
  const queue = { erase: async () => {}, forgetLane: async () => {} };
  const deps = { ledger, tools: systemTools, index: createMemoryIndex(), log: recordingLog(), queue, settleMs: 0 };
  return async () => void (await eraseOwner(deps)(id, NEVER));
}

/** Imports an owner, some lines at a time. */
export async function importLines(ledger: StoredLedger, of: Travelling, atOnce = 100): Promise<void> {
  const { owner, lines } = of;
  const begun = await beginWith(ledger, of);
  if (begun.kind !== 'import') throw new Error(`expected an import of ${owner.id}, got ${begun.kind}`);
  for (let taken = begun.taken; taken < lines.length; ) {
    const next = await ledger.bundles.take(begun.id, taken, lines.slice(taken, taken + atOnce));
    if (next.kind !== 'taken') throw new Error(`expected lines to be taken, got ${JSON.stringify(next)}`);
    taken = next.taken;
  }
  const finished = await ledger.bundles.finish(begun.id, systemTools.now());
  if (finished.kind !== 'finished') throw new Error(`expected the import to finish, got ${finished.kind}`);
}
