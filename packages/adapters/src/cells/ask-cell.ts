import type { CellsView, CellView, ShareList, ShareView } from '@slowwave/contracts';
import { DAY_MS, dateTextOf, dayOf, isoOf, type TenantId } from '@slowwave/engine';
import {
  type Cell,
  type CellDirectory,
  type DirectoryBook,
  isLost,
  type ShareCells,
  type ShareOfCell,
  widthsOf,
} from '@slowwave/engine/cells';
import { Agent, request } from 'undici';

/** What is sent to a cell on its own API, as its operator. */
export interface CellCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
}

export interface CellAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Asks a cell. Throws only where there is no answer. */
export type AskCell = (cell: string, call: CellCall) => Promise<CellAnswer>;

/** Longer than any of these calls takes in a cell that lives. */
const ANSWER_LIMIT_MS = 30_000;
const CONNECT_LIMIT_MS = 5_000;

interface Asking {
  /** Where a cell answers; null: it is not known. */
  readonly urlOf: (cell: string) => Promise<string | null>;
  /** The key of the operator, the same in all cells; null: they need none. */
  readonly apiKey: string | null;
}

export interface CellAsker {
  readonly ask: AskCell;
  close(): Promise<void>;
}

/** Asks cells as their operator. */
export function cellAsker({ urlOf, apiKey }: Asking): CellAsker {
  const dispatcher = new Agent({
    ...{ connect: { timeout: CONNECT_LIMIT_MS }, headersTimeout: ANSWER_LIMIT_MS, bodyTimeout: ANSWER_LIMIT_MS },
  });
  const authorization = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  return {
    ask: async (cell, call) => {
      const base = await urlOf(cell);
      if (base === null) throw new UnansweredError(cell, 'the directory has no such cell');
      try {
        const answer = await request(urlIn(base, call), {
          ...{ method: call.method, dispatcher },
          headers: { ...authorization, ...(call.body === undefined ? {} : { 'content-type': 'application/json' }) },
          body: call.body === undefined ? null : JSON.stringify(call.body),
        });
        return { status: answer.statusCode, body: parsed(await answer.body.text()) };
      } catch (error) {
        throw new UnansweredError(cell, error instanceof Error ? error.message || error.name : String(error), error);
      }
    },
    close: () => dispatcher.close(),
  };
}

function urlIn(base: string, { path, query = {} }: CellCall): string {
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `${base.replace(/\/$/, '')}${path}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`;
}

/** A cell that cannot be reached, or that answers nothing. */
export class UnansweredError extends Error {
  readonly cell: string;

  constructor(cell: string, why: string, cause?: unknown) {
    super(`expected cell ${cell} to answer, got: ${why}`, { cause });
    this.name = 'UnansweredError';
    this.cell = cell;
  }
}

/** A cell that answers, and does not do what it was asked for. */
export class RefusedError extends Error {
  readonly answer: CellAnswer;

  constructor(cell: string, answer: CellAnswer) {
    super(`cell ${cell} refused: ${problemOf(answer).detail}`);
    this.name = 'RefusedError';
    this.answer = answer;
  }
}

export const FAILED = 400;

/** What a cell answered, unless it refused. */
export function answeredBy<Body>(cell: string, answer: CellAnswer): Body {
  if (answer.status >= FAILED) throw new RefusedError(cell, answer);
  return answer.body as Body;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What a cell says in a problem. */
export const problemOf = ({ status, body }: CellAnswer): { readonly code: string; readonly detail: string } => {
  const problem = typeof body === 'object' && body !== null ? (body as { code?: unknown; detail?: unknown }) : {};
  return { code: String(problem.code ?? `status_${status}`), detail: String(problem.detail ?? `status ${status}`) };
};

/** Shares of daily limits, as the API of cells has them. */
export function httpShares(ask: AskCell): ShareCells & { wanting(cell: string): Promise<readonly TenantId[]> } {
  const listed = async (cell: string, query: Readonly<Record<string, string>>): Promise<readonly ShareView[]> =>
    answeredBy<ShareList>(cell, await ask(cell, { method: 'GET', path: PATH, query })).results;
  return {
    read: async (cell, tenant) => {
      const [view] = await listed(cell, { tenant });
      if (view === undefined) throw new Error(`expected cell ${cell} to answer with its share of ${tenant}, got none`);
      return shareFrom(view);
    },
    tell: async (cell, tenant, { epoch, part, until, day, elsewhere, isLast }) => {
      const times = { until: isoOf(until), day: dateTextOf(day * DAY_MS) };
      const body = { tenant, epoch, part, ...times, elsewhere, is_last: isLast };
      return shareFrom(answeredBy(cell, await ask(cell, { method: 'PUT', path: PATH, body })));
    },
    wanting: async (cell) => (await listed(cell, {})).map(({ tenant }) => tenant as TenantId),
  };
}

const PATH = '/v1/cell/shares';

const shareFrom = ({ epoch, part, until, used, day, wants }: ShareView): ShareOfCell => ({
  ...{ epoch, part, used, wants },
  until: until === null ? null : Date.parse(until),
  day: dayOf(Date.parse(day)),
});

interface Seen {
  readonly directory: Pick<CellDirectory, 'moves' | 'handovers'>;
  readonly book: DirectoryBook;
  readonly ask: AskCell;
  /** How many moves are named. */
  readonly movesShown: number;
}

/** All cells with what each says of itself, who has which slots, and what is being moved. */
export async function overviewOfCells({ directory, book, ask, movesShown }: Seen): Promise<CellsView> {
  const widths = widthsOf(book.ranges(), []);
  const [cells, { counts, oldest }, handovers] = await Promise.all([
    Promise.all(
      [...book.cells(), ...book.lost()].map(async (cell) => ({
        ...{ name: cell.name, url: cell.url, state: cell.state, slots: widths.get(cell.name) ?? 0 },
        ...(isLost(cell) ? SILENT : await sizeOfCell(ask, cell)),
      })),
    ),
    directory.moves(movesShown),
    directory.handovers(),
  ]);
  return {
    cells,
    ranges: book.ranges().map(({ from, to, cell }) => ({ from, to, cell })),
    moves: {
      counts: { ...counts },
      oldest: oldest.map(({ tenant, owner, source, destination, state, tries, why }) => ({
        ...{ tenant, kind: owner.kind, id: owner.id },
        ...{ source, destination, state, tries, why },
      })),
    },
    handovers: handovers.map(({ from, to, source, destination, state, tries, why }) => ({
      ...{ from, to, source, destination, state, tries, why },
    })),
  };
}

const OK = 200;

type SizeOfCell = Pick<CellsView['cells'][number], 'answers' | 'owners' | 'memories'>;

const SILENT: SizeOfCell = { answers: false, owners: null, memories: null };

/** What a cell has, if it answers. */
export async function sizeOfCell(ask: AskCell, { name }: Pick<Cell, 'name'>): Promise<SizeOfCell> {
  const answer = await ask(name, { method: 'GET', path: '/v1/cell' }).catch(() => null);
  if (answer === null || answer.status !== OK) return SILENT;
  const { owners, memories } = answer.body as CellView;
  return { answers: true, owners, memories };
}
