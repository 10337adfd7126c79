import { kept, type Log, type NewReceipt, ownerBitsOfLane, type ReceiptStore, type Tools } from '@slowwave/engine';
import { writtenBeside } from './beside.ts';
import { besideRate } from './limits/beside-rate.ts';

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
  const mayKeep = besideRate(tools);
  const waiting = writtenBeside<NewReceipt>({
    ...{ log, counted, gatherMs, waits: 'receipts are waiting for the ledger', lost: 'receipts are lost' },
    append: (receipts) => ledger.receipts.append(receipts),
    groupOf: ({ lane }) => lane,
  });
  return {
    note: (answered) => {
      if (!mayKeep()) {
        counted('omitted', 1);
        return null;
      }
      // Before it waits: of questions as they were asked a full queue would hold hundreds of MB.
      const receipt = { ...kept(answered), id: tools.id('rcp', ownerBitsOfLane(answered.lane)), at: tools.now() };
      return waiting.push(receipt) ? receipt.id : null;
    },
    close: waiting.close,
  };
}
