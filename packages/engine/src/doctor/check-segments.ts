import type { ColdStore } from '../ports/ledger/owners-away.ts';
import { slicesOf } from '../ports/ledger/ledger.ts';
import type { SegmentObject, SegmentStore } from '../ports/segments.ts';
import type { Cancellation } from '../ports/tools.ts';
import { type Checked, EXAMPLES_MAX, type Examining, type Finding } from './findings.ts';

/** Where owners sleep. */
export interface Sleeping {
  readonly cold: Pick<ColdStore, 'names'>;
  readonly segments: Pick<SegmentStore, 'list'>;
}

/** Segments whose object may be missing: it is not written yet, or just being deleted. */
const WITHOUT_OBJECT: readonly string[] = ['written', 'dropped'];

/** Each owner that sleeps has its object, and each object is one that the ledger knows. */
export async function checkSegments({ deps: { sleeping }, cancel }: Examining): Promise<Checked> {
  if (sleeping === undefined) return { looked: 0, findings: [] };
  const { looked, missing, unknown } = await compared(sleeping, cancel);
  // Some are awake again, and their objects deleted, since the objects were listed.
  const lost: string[] = [];
  for (const name of missing) if (await isNeeded(sleeping, name)) lost.push(name);
  return { looked, findings: [...found(lost, LOST), ...found(unknown, STRAY)] };
}

/** Objects that the ledger does not know. */
export const unknownSegments = async (sleeping: Sleeping, cancel: Cancellation): Promise<readonly string[]> =>
  (await compared(sleeping, cancel)).unknown;

async function compared({ cold, segments }: Sleeping, cancel: Cancellation) {
  // First: what is written from here on has its row already.
  const objects = new Set<string>();
  for await (const page of slicesOf((last: SegmentObject | null, limit) => segments.list(last?.name ?? null, limit))) {
    if (cancel.aborted) break;
    for (const { name } of page) objects.add(name);
  }
  const missing: string[] = [];
  let looked = 0;
  for await (const page of slicesOf((last: Row | null, limit) => cold.names(last?.name ?? null, limit))) {
    looked += page.length;
    for (const { name, state } of page) {
      const isThere = objects.delete(name);
      if (!(isThere || WITHOUT_OBJECT.includes(state))) missing.push(name);
    }
  }
  return { looked, missing, unknown: [...objects] };
}

type Row = Awaited<ReturnType<ColdStore['names']>>[number];

async function isNeeded({ cold, segments }: Sleeping, name: string): Promise<boolean> {
  const [row] = (await cold.names(before(name), 1)).filter((one) => one.name === name);
  if (row === undefined || WITHOUT_OBJECT.includes(row.state)) return false;
  return !(await segments.list(before(name), 1)).some((object) => object.name === name);
}

/** The last text that comes before a name. */
const before = (name: string): string => name.slice(0, -1) + String.fromCharCode(name.charCodeAt(name.length - 1) - 1);

const LOST = {
  severity: 'error',
  what: 'sleeping owners have no segment in SLOWWAVE_COLD_STORE',
  remedy:
    'check SLOWWAVE_COLD_STORE, and copy these objects there from the backup of the segments; where there is none, the owners are ' +
    'lost: erase them (slowwave cold list names them)',
} as const;

const STRAY = {
  severity: 'warning',
  what: 'segments are unknown to this ledger: left over after restoring an older backup, or of another installation',
  remedy: 'if no other installation uses the same place, delete them: slowwave cold sweep --yes',
} as const;

const found = (names: readonly string[], finding: Pick<Finding, 'severity' | 'what' | 'remedy'>): readonly Finding[] =>
  names.length === 0
    ? []
    : [{ ...finding, check: 'segments', count: names.length, examples: names.slice(0, EXAMPLES_MAX) }];
