import type { AskCell } from '@slowwave/adapters/cells';
import type { Tools } from '@slowwave/engine';
import type { Cell, CellDirectory } from '@slowwave/engine/cells';
import type { Asked } from './request.ts';
import type { Answer, Sender } from './send.ts';
import type { Caller, Tenants } from './tenants.ts';
import type { Watched } from './watch.ts';

export interface RouteDeps {
  readonly watched: Watched;
  readonly tenants: Tenants;
  readonly sender: Sender;
  readonly directory: CellDirectory;
  /** Asks a cell as its operator. */
  readonly ask: AskCell;
  readonly tools: Pick<Tools, 'hash'>;
}

/** What the router answers: what a cell did, or what is made of what several did. */
export type Routing = Answer | Made;
export interface Made {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

/** Names the cell that a request is for. */
export const CELL_HEADER = 'x-slowwave-cell';
/** true: an answer of all cells may lack those that do not answer. */
export const PARTIAL_HEADER = 'x-slowwave-partial';

/** A request on its way. */
export interface Going extends RouteDeps {
  readonly asked: Asked;
  readonly caller: Caller;
  /** Sends it to a cell that knows what the tenant has in common. */
  to(cell: Cell, change?: Parameters<Sender['send']>[2]): Promise<Answer>;
}

export const headersOf = ({ headers }: Answer): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || name === 'content-length' ? [] : [[name, String(value)]],
    ),
  );
