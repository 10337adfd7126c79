import { setTimeout as sleep } from 'node:timers/promises';
import type {
  BundleLines,
  BundleView,
  CellOwnerList,
  ImportView,
  LeavingView,
  LossView,
  SlotsView,
} from '@slowwave/contracts';
import { isoOf, ownerKeyOf, type TenantId, type Tools } from '@slowwave/engine';
import {
  CARRY_LEASE_MS,
  type CarryDeps,
  type CellPeers,
  carryHandover,
  carryMove,
  type MoveOutcome,
  type OwnerMove,
  type PlacedOwner,
  promisedBy,
} from '@slowwave/engine/cells';
import type { z } from 'zod';
import {
  type AskCell,
  answeredBy,
  type CellAnswer,
  type CellCall,
  FAILED,
  problemOf,
  RefusedError,
} from './ask-cell.ts';

/** How long work of an owner is kept back: it is copied well within that, or work goes on and it is copied again. */
const HOLD_MS = 60_000;
/** How long a cell answers that an owner has moved: longer than keys of requests are kept, or a router can be left behind. */
const AWAY_MS = 30 * 86_400_000;

/** Characters of an owner that are kept while it is copied. One that has more is read twice. */
const KEPT_CHARACTERS = 64_000_000;
const LINES_AT_ONCE = 2_000;
const CHARACTERS_AT_ONCE = 1_000_000;
const OWNERS_AT_ONCE = 1_000;

/** The cells as their API has them. */
export function httpPeers(ask: AskCell, tools: Pick<Tools, 'now' | 'hash'>): CellPeers {
  const asked = async <Body>(cell: string, call: CellCall): Promise<Body> => {
    return answeredBy<Body>(cell, await ask(cell, call));
  };
  return {
    copy: (move) => copied(asked, move),
    depart: async (move) => {
      const until = isoOf(tools.now() + AWAY_MS);
      const whole = move.copy?.stamp ?? '';
      const stamp = move.tries < WAITS_FOR_RECEIPTS ? whole : promisedBy(whole);
      const body = { ...named(move), to: move.destination, epoch: move.epoch, stamp, until };
      const answer = await ask(move.source, { method: 'POST', path: '/v1/cell/departures', body });
      return answer.status < FAILED ? { kind: 'departed' } : outcomeOf(move.source, answer);
    },
    finish: async (move) => {
      const path = `/v1/bundle/imports/${move.copy?.importId ?? ''}/finish`;
      const answer = await ask(move.destination, { method: 'POST', path });
      if (answer.status < FAILED) return { kind: 'arrived' };
      if (problemOf(answer).code === 'owner_erased') return { kind: 'absent' };
      throw new RefusedError(move.destination, answer);
    },
    throwAway: async (move) => {
      const query = { ...named(move), attempt: attemptOf(move) };
      await asked(move.destination, { method: 'DELETE', path: '/v1/cell/arrivals', query });
      // Work of the owner goes on at once, if it is still there.
      const body = { ...named(move), ms: 0 };
      const left = await ask(move.source, { method: 'POST', path: '/v1/cell/leaving', body }).catch(() => null);
      return { kind: left?.status === NOT_FOUND ? 'absent' : 'thrown_away' };
    },
    recall: async (move) => {
      const body = { ...named(move), ms: 0 };
      const answer = await ask(move.source, { method: 'POST', path: '/v1/cell/leaving', body });
      if (answer.status < FAILED) return { kind: 'thrown_away' };
      if (answer.status !== NOT_FOUND) throw new RefusedError(move.source, answer);
      const gone = await ask(move.source, { method: 'GET', path: '/v1/cell/departures', query: named(move) });
      if (gone.status < FAILED) return { kind: 'departed' };
      return outcomeOf(move.source, gone);
    },
    tellLoss: async (cell, { lost, anew }) => {
      const body = { cell: lost, anew };
      return (await asked<z.infer<typeof LossView>>(cell, { method: 'POST', path: '/v1/cell/losses', body })).forgotten;
    },
    tellSlots: async (cell, { epoch, closed }) => {
      const answer = await ask(cell, { method: 'PUT', path: '/v1/cell/slots', body: { epoch, closed } });
      if (answer.status < FAILED) return;
      // It has heard something newer, which knows of this, too.
      const now = await ask(cell, { method: 'GET', path: '/v1/cell' });
      if (now.status >= FAILED || (now.body as z.infer<typeof SlotsView>).epoch < epoch)
        throw new RefusedError(cell, answer);
    },
    ownersIn: async (cell, { from, to }) => {
      const owners: PlacedOwner[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query = { from, to, limit: OWNERS_AT_ONCE, ...(cursor === '' ? {} : { cursor }) };
        const page: z.infer<typeof CellOwnerList> = await asked(cell, {
          method: 'GET',
          path: '/v1/cell/owners',
          query,
        });
        for (const { tenant, kind, id } of page.results) {
          const owned = { tenant: tenant as TenantId, owner: { kind, id } };
          owners.push({ ...owned, key: ownerKeyOf(tools, owned) });
        }
        cursor = page.next_cursor;
      }
      return owners;
    },
  };
}

type Asked = <Body>(cell: string, call: CellCall) => Promise<Body>;

/** After so many tries an owner departs without receipts of answers that were given while it was copied. */
const WAITS_FOR_RECEIPTS = 5;

const NOT_FOUND = 404;

/** More than anybody tries to move an owner before it is asked for anew. */
const ATTEMPTS = 65_536;

/** Goes up with each claim of a move, and from one move of an owner to the next. */
const attemptOf = ({ epoch, attempt }: OwnerMove): number => epoch * ATTEMPTS + attempt;

const named = ({ tenant, owner }: OwnerMove) => ({ tenant, kind: owner.kind, id: owner.id });

/** A refusal that says something about the owner. Others are failures. */
function outcomeOf(cell: string, answer: CellAnswer): MoveOutcome {
  const { code, detail } = problemOf(answer);
  if (answer.status === NOT_FOUND) return { kind: 'absent' };
  if (code === 'conflict') return { kind: 'changed' };
  if (code === 'owner_busy') return { kind: 'waits', why: detail };
  throw new RefusedError(cell, answer);
}

/** Takes all lines of the owner over at the destination, where nobody sees them yet. */
async function copied(asked: Asked, move: OwnerMove): Promise<MoveOutcome> {
  const { source, destination } = move;
  try {
    // Who sleeps has no lines. A cell whose owners never sleep says that it is not set up for that.
    await asked(source, { method: 'POST', path: '/v1/cold/wake', body: named(move) }).catch(unlessNotConfigured);
    const held = await asked<LeavingView>(source, {
      ...{ method: 'POST', path: '/v1/cell/leaving', body: { ...named(move), ms: HOLD_MS } },
    });
    if (held.waits_for.length > 0) return { kind: 'waits', why: held.waits_for.join('; ') };
    const read = await allLines(asked, move);
    const { format, ledger_id } = await asked<BundleView>(source, {
      ...{ method: 'GET', path: '/v1/bundle', query: { tenant: move.tenant } },
    });
    const { import_id, taken } = await asked<ImportView>(destination, {
      ...{ method: 'POST', path: '/v1/bundle/imports' },
      body: {
        ...named(move),
        format,
        ledger_id,
        read_at: read.readAt,
        lines: read.count,
        sum: read.sum,
        attempt: attemptOf(move),
      },
    });
    const isWhole = await sendLines(asked, { move, importId: import_id, taken, read });
    return isWhole ? { kind: 'copied', importId: import_id, stamp: read.stamp } : { kind: 'changed' };
  } catch (error) {
    if (error instanceof RefusedError) return outcomeOf(source, error.answer);
    throw error;
  }
}

function unlessNotConfigured(error: unknown): void {
  if (!(error instanceof RefusedError && problemOf(error.answer).code === 'not_configured')) throw error;
}

interface ReadOwner {
  readonly readAt: string;
  readonly count: number;
  /** The checksum of the last line. */
  readonly sum: string;
  readonly stamp: string;
  /** null: too many to be kept. */
  readonly lines: readonly string[] | null;
}

async function allLines(asked: Asked, move: OwnerMove): Promise<ReadOwner> {
  let [readAt, count, last, stamp, characters] = ['', 0, '', '', 0];
  let lines: string[] | null = [];
  for await (const page of pagesOf(asked, move)) {
    readAt ||= page.read_at;
    stamp = page.stamp ?? '';
    count += page.lines.length;
    last = page.lines.at(-1) ?? last;
    characters += page.lines.reduce((sum, line) => sum + line.length, 0);
    if (characters > KEPT_CHARACTERS) lines = null;
    lines?.push(...page.lines);
  }
  return { readAt, count, sum: (JSON.parse(last) as { sum: string }).sum, stamp, lines };
}

async function* pagesOf(asked: Asked, move: OwnerMove): AsyncGenerator<BundleLines> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = { ...named(move), moving: true, ...(cursor === '' ? {} : { cursor }) };
    const page: BundleLines = await asked(move.source, { method: 'GET', path: '/v1/bundle/lines', query });
    yield page;
    cursor = page.next_cursor;
  }
}

interface Sending {
  readonly move: OwnerMove;
  readonly importId: string;
  /** How many lines an earlier attempt has sent. */
  readonly taken: number;
  readonly read: ReadOwner;
}

/** Returns whether all of them were the ones that were read first. */
async function sendLines(asked: Asked, { move, importId, taken, read }: Sending): Promise<boolean> {
  let from = taken;
  let part: string[] = [];
  let characters = 0;
  const send = async (): Promise<void> => {
    const path = `/v1/bundle/imports/${importId}/lines`;
    if (part.length > 0) await asked(move.destination, { method: 'POST', path, body: { from, lines: part } });
    from += part.length;
    [part, characters] = [[], 0];
  };
  let number = 0;
  for await (const lines of read.lines === null ? linesAgain(asked, move) : [read.lines]) {
    for (const line of lines) {
      number += 1;
      if (number <= taken) continue;
      part.push(line);
      characters += line.length;
      if (part.length === LINES_AT_ONCE || characters > CHARACTERS_AT_ONCE) await send();
    }
  }
  await send();
  return number === read.count;
}

async function* linesAgain(asked: Asked, move: OwnerMove): AsyncGenerator<readonly string[]> {
  for await (const page of pagesOf(asked, move)) yield page.lines;
}

interface MoverOptions extends CarryDeps {
  /** Owners that are moved at a time. */
  readonly concurrency: number;
  /** How often the directory is asked for work while there is none. */
  readonly idleMs: number;
}

interface Mover {
  /** Stops taking work, and resolves when what was taken has come to rest. */
  close(): Promise<void>;
}

/**
 * Carries moves of owners and handovers of slots that are due. Any number of movers share the work by leases in the directory; what
 * one that is killed has taken is taken up by another when its lease is over.
 */
export function startMover(options: MoverOptions): Mover {
  const stopping = new AbortController();
  const running = Promise.all([
    loop(options, stopping.signal, () => moveSome(options, stopping.signal)),
    loop(options, stopping.signal, () => handOverSome(options, stopping.signal)),
  ]);
  return {
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Works until there is nothing to do, waits, and looks again. */
async function loop({ idleMs, log }: MoverOptions, stop: AbortSignal, work: () => Promise<boolean>): Promise<void> {
  while (!stop.aborted) {
    const found = await work().catch((error: unknown) => {
      log.warn({ err: error }, 'could not read moves from the directory of cells');
      return false;
    });
    if (!found) await sleep(idleMs, undefined, { signal: stop }).catch(() => {});
  }
}

/** Each of a few carriers takes the next move when it is done with one, so that no slow one holds up the others. */
async function moveSome(options: MoverOptions, stop: AbortSignal): Promise<boolean> {
  const { directory, tools, concurrency } = options;
  let found = false;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (!stop.aborted) {
        const [move] = await directory.takeMoves({ now: tools.now(), leaseMs: CARRY_LEASE_MS, limit: 1 });
        if (move === undefined) return;
        found = true;
        await carryMove(options, move, stop);
      }
    }),
  );
  return found;
}

/** One after the other: each moves owners, which is where the work is. */
async function handOverSome(options: MoverOptions, stop: AbortSignal): Promise<boolean> {
  const { directory, tools } = options;
  const claim = { now: tools.now(), leaseMs: CARRY_LEASE_MS, limit: 1 };
  const [handover] = await directory.takeHandovers(claim);
  if (handover === undefined) return false;
  await carryHandover(options, handover, stop);
  return true;
}
