import { kept, type Log, type NewReceipt, ownerBitsOfLane, type ReceiptStore, type Tools } from '@slowwave/engine';
import { writtenBeside } from './beside.ts';

/** What an answer told, as the route that gave it reports it. */
type Answered = Omit<NewReceipt, 'id' | 'at'>;

export interface Receipts {
  /** The id under which an answer will be found; null: it will not. Returns at once; never throws. */
  note(answered: Answered): string | null;
  close(): Promise<void>;
}

interface Options {
  readonly ledger: { readonly receipts: Pick<ReceiptStore, 'append'> };
  readonly tools: Tools;
  readonly log: Log;
  counted(outcome: 'written' | 'omitted' | 'lost', count: number): void;
  readonly gatherMs?: number;
}

/** The receipts of one process: gathered, and written to the ledger beside the answers they are of. */
export function receiptsOf({ ledger, tools, log, counted, gatherMs }: Options): Receipts {
  const mayKeep = rate(tools);
  const waiting = writtenBeside<NewReceipt>({
    ...{ log, counted, gatherMs, waits: 'receipts are waiting for the ledger', lost: 'receipts are lost' },
    // Not before: masking a long question takes longer than all else that an answer does for its receipt.
    append: (receipts) => ledger.receipts.append(receipts.map(kept)),
  });
  return {
    note: (answered) => {
      if (!mayKeep()) {
        counted('omitted', 1);
        return null;
      }
      const receipt = { ...answered, id: tools.id('rcp', ownerBitsOfLane(answered.lane)), at: tools.now() };
      return waiting.push(receipt) ? receipt.id : null;
    },
    close: waiting.close,
  };
}

/** Receipts a second of one process, on average: these are up to 700 MB a day. */
export const RECEIPTS_PER_SECOND = 20;
/** How many there may be at once. */
export const RECEIPTS_AT_ONCE = 200;

const SECOND_MS = 1_000;

/** Whether one more is within the rate. */
function rate({ now }: Pick<Tools, 'now'>): () => boolean {
  let left = RECEIPTS_AT_ONCE;
  let last = now();
  return () => {
    const at = now();
    // A clock that is set back brings nothing.
    left = Math.min(RECEIPTS_AT_ONCE, left + (Math.max(0, at - last) / SECOND_MS) * RECEIPTS_PER_SECOND);
    last = at;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
