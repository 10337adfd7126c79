import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AskCell, httpShares, problemOf, UnansweredError } from '@slowwave/adapters/cells';
import type { CallerView, TenantCopyView } from '@slowwave/contracts';
import type { Log, Millis, TenantId, Tools } from '@slowwave/engine';
import {
  type CellDirectory,
  type DirectoryBook,
  leaseUntil,
  renewedFrom,
  shareOut,
  type TenantPlace,
} from '@slowwave/engine/cells';
import { problem } from '@slowwave/http';
import { type Answer, type Asked, answerOrSilence, type Sender } from './send.ts';
import { type Repeated, repeatedly } from './watch.ts';

interface TenantDeps {
  readonly book: DirectoryBook;
  readonly directory: CellDirectory;
  readonly refresh: () => Promise<void>;
  readonly ask: AskCell;
  readonly sender: Sender;
  readonly log: Log;
  readonly tools: Pick<Tools, 'now' | 'id'>;
}

/** Whose requests come, and what of a tenant the cells have to know before they get one of its. */
export interface Tenants {
  /** Who sends a request; or the answer of a cell that refuses it. */
  callerOf(asked: Asked): Promise<{ readonly caller: CallerView } | { readonly refusal: Answer }>;
  /** Brings a cell up to date with what a tenant has in common. Until it is, it gets nothing of the tenant. */
  bringUpToDate(tenant: string, cell: string): Promise<void>;
  /** Changes what a tenant has in common, and then all its copies. */
  change<T>(tenant: string, work: (home: TenantPlace) => Promise<T>): Promise<T>;
  /** What a tenant has in common forgets a user who is erased. */
  forgetUser(
    home: string,
    user: { readonly tenant: string; readonly kind: string; readonly id: string },
  ): Promise<void>;
  homeOf(tenant: string): TenantPlace;
  close(): Promise<void>;
}

/** A key has one tenant for ever, and cells check its rights: this only saves asking. */
const CALLERS_KEPT_MS = 10_000;
const CALLERS_MAX = 50_000;
/** Headers by which callers are known. */
const BY = ['authorization', 'cookie', 'origin', 'sec-fetch-site', 'host'] as const;

export function openTenants(deps: TenantDeps): Tenants {
  const { book, directory, refresh, tools } = deps;
  const callers = new Map<string, { readonly caller: CallerView; readonly until: number }>();
  const shares = sharesOf(deps);
  const copies = copiesOf(deps, shares);
  const homeOf = (tenant: string): TenantPlace => {
    const place = book.homeOf(tenant as TenantId);
    if (place === null) throw noCells();
    return place;
  };
  const bringUpToDate = async (tenant: string, cell: string): Promise<void> => {
    const place = homeOf(tenant);
    // A single cell has all of everything.
    if (book.cells().length > 1) await copies.bringUpToDate(place, cell);
  };
  const keeper = keepShares(deps, shares, bringUpToDate);
  return {
    homeOf,
    bringUpToDate,
    callerOf: async (asked) => {
      const digest = createHash('sha256');
      for (const name of BY) digest.update(`${String(asked.headers[name] ?? '')}\n`);
      const key = digest.digest('base64');
      const known = callers.get(key);
      if (known !== undefined && known.until > performance.now()) return { caller: known.caller };
      const found = await lookUp(deps, asked);
      callers.delete(key);
      if ('caller' in found) callers.set(key, { ...found, until: performance.now() + CALLERS_KEPT_MS });
      const [oldest] = callers.keys();
      if (callers.size > CALLERS_MAX && oldest !== undefined) callers.delete(oldest);
      return found;
    },
    change: async (tenant, work) => {
      const id = tools.id('chg');
      const home = await begun(deps, tenant as TenantId, id);
      try {
        return await work(home);
      } finally {
        // That raises the epoch again: somebody may have copied what was there before the change.
        const place = await directory.endChange(tenant as TenantId, id);
        await refresh();
        await copies.toAll(place);
      }
    },
    forgetUser: async (home, user) => {
      const answer = await deps.ask(home, { method: 'POST', path: '/v1/cell/erasures', body: user });
      if (answer.status >= 400) throw refused(home, problemOf(answer).detail);
    },
    close: async () => {
      await keeper.close();
      copies.close();
    },
  };
}

/** Longer than a cell takes to answer any change, so that none is under way any more whose router was killed. */
const CHANGE_LEASE_MS = 150_000;
/** How long a change waits for the home of its tenant, which is on its way to another cell. */
const HOME_LIMIT_MS = 15_000;
const LOOK_EVERY_MS = 100;

async function begun({ directory, tools }: TenantDeps, tenant: TenantId, id: string): Promise<TenantPlace> {
  for (const deadline = performance.now() + HOME_LIMIT_MS; performance.now() < deadline; await sleep(LOOK_EVERY_MS)) {
    const now = tools.now();
    const home = await directory.beginChange(tenant, { id, until: now + CHANGE_LEASE_MS }, now);
    if (home !== null) return home;
  }
  throw problem('cell_unavailable', 'the home cell of the tenant is being changed; nothing was changed, retry', {
    headers: { 'retry-after': '2' },
  });
}

export const noCells = () =>
  problem('cell_unavailable', 'the directory has no cells yet; add one with slowwave cells add NAME URL');

/** Asks one cell after the other who this is: a key is known in the home cell of its tenant at least. */
async function lookUp(
  { book, sender }: TenantDeps,
  asked: Asked,
): Promise<{ readonly caller: CallerView } | { readonly refusal: Answer }> {
  let [refusal, silent]: [Answer | null, UnansweredError | null] = [null, null];
  for (const cell of book.cells()) {
    const who = { method: 'GET', url: '/v1/cell/caller', body: Buffer.alloc(0) };
    const answer = await answerOrSilence(sender.send(cell, asked, who));
    if (answer instanceof UnansweredError) {
      silent = answer;
      continue;
    }
    if (answer.statusCode === 200) {
      await refusal?.body.dump();
      return { caller: (await answer.body.json()) as CallerView };
    }
    await refusal?.body.dump();
    refusal = answer;
  }
  // One that does not answer may be the one that knows the key.
  if (silent !== null) throw silent;
  if (refusal === null) throw noCells();
  return { refusal };
}

interface KnownCopy {
  readonly epoch: number;
  /** Until then the cell has its share of what the tenant may use, as far as it could be told. */
  readonly sharedUntil: Millis;
}

const CONFLICT = 409;

/** After so long a change has usually come to its end, whatever became of the router that made it. */
const CHANGE_OVER_MS = 60_000;

/** Gives cells what tenants have in common. */
function copiesOf(
  { book, directory, refresh, ask, log, tools }: TenantDeps,
  shares: Pick<ReturnType<typeof sharesOf>, 'ensure'>,
) {
  const known = new Map<string, KnownCopy>();
  const running = new Map<string, Promise<void>>();
  /** Looks, later, whether the home still has what was copied; by tenant. */
  const checks = new Map<string, NodeJS.Timeout>();
  const versionOf = async ({ tenant, home }: TenantPlace): Promise<TenantCopyView> => {
    const answer = await ask(home, { method: 'GET', path: '/v1/cell/tenant', query: { tenant } });
    if (answer.status >= 400) throw refused(home, problemOf(answer).detail);
    return answer.body as TenantCopyView;
  };
  const newestOf = (place: TenantPlace): TenantPlace => book.homeOf(place.tenant) ?? place;
  const isCurrent = (copy: KnownCopy | undefined, place: TenantPlace): boolean =>
    copy !== undefined && copy.epoch >= place.epoch && tools.now() < copy.sharedUntil;

  async function copy(place: TenantPlace, cell: string): Promise<void> {
    const { tenant, epoch } = place;
    const confirmed = (await directory.copiesOf(tenant)).find((one) => one.cell === cell);
    if ((confirmed?.epoch ?? -1) < epoch && !(await isTaken(place, cell))) return;
    known.set(`${cell} ${tenant}`, { epoch, sharedUntil: await shares.ensure(tenant, cell) });
  }

  /** false: the cell has heard something newer, of which this router knows by now. */
  async function isTaken(place: TenantPlace, cell: string): Promise<boolean> {
    const { tenant, epoch } = place;
    const { version, copy } = await versionOf(place);
    // The home has what is copied.
    const body = { tenant, epoch, version, ...(cell === place.home ? {} : { copy }) };
    const answer = await ask(cell, { method: 'PUT', path: '/v1/cell/tenant', body });
    if (answer.status === CONFLICT) await refresh();
    if (answer.status === CONFLICT && newestOf(place).epoch > epoch) return false;
    if (answer.status >= 400) throw refused(cell, problemOf(answer).detail);
    await directory.keepCopy(tenant, { cell, epoch });
    checkLater(place, version);
    return true;
  }

  /** A router that died in the middle of a change has not raised the epoch again: if the home has something newer, this does. */
  function checkLater(place: TenantPlace, version: string): void {
    if (checks.has(place.tenant)) return;
    const check = async (): Promise<void> => {
      checks.delete(place.tenant);
      const now = book.homeOf(place.tenant);
      if (now?.epoch !== place.epoch) return;
      if ((await versionOf(now)).version !== version) await directory.raiseTenant(place.tenant);
    };
    const later = setTimeout(() => void check().catch(() => {}), CHANGE_OVER_MS);
    later.unref();
    checks.set(place.tenant, later);
  }

  const bringUpToDate = (place: TenantPlace, cell: string): Promise<void> => {
    const name = `${cell} ${place.tenant}`;
    if (isCurrent(known.get(name), place)) return Promise.resolve();
    const work = running.get(name) ?? copy(place, cell).finally(() => running.delete(name));
    running.set(name, work);
    // What runs may be of an older epoch.
    return work.then(() => (isCurrent(known.get(name), place) ? undefined : bringUpToDate(newestOf(place), cell)));
  };
  return {
    bringUpToDate,
    /** As far as cells can be reached: the others get nothing of the tenant before they are. */
    toAll: async (place: TenantPlace): Promise<void> => {
      const others = book.cells();
      const ended = await Promise.allSettled(others.map(({ name }) => bringUpToDate(place, name)));
      const failed = ended.flatMap((end, i) => (end.status === 'rejected' ? [others[i]?.name] : []));
      if (failed.length > 0)
        log.warn({ tenant: place.tenant, cells: failed }, 'some cells do not have the latest tenant settings yet');
    },
    close: () => {
      for (const later of checks.values()) clearTimeout(later);
    },
  };
}

const refused = (cell: string, detail: string) =>
  problem('cell_unavailable', `cell ${cell} cannot be updated with the latest tenant settings: ${detail}`, {
    moved: { cell },
  });

/** Divides what tenants may use on a day among cells. */
function sharesOf({ directory, ask, log, tools }: TenantDeps) {
  const cells = httpShares(ask);
  const deps = { directory, cells, tools };
  const running = new Map<TenantId, Promise<void>>();
  /** One after the other: each sees what the one before has changed. */
  const again = (tenant: TenantId, cell: string): Promise<void> => {
    const work = (running.get(tenant) ?? Promise.resolve()).catch(() => {}).then(() => shareOut(deps, tenant, cell));
    running.set(tenant, work);
    const end = (): void => void (running.get(tenant) === work && running.delete(tenant));
    work.then(end, end);
    return work;
  };
  return {
    /** Divides them again. */
    again,
    wanting: (cell: string) => cells.wanting(cell),
    /**
     * A cell hears what it may use, with a lease that is not about to end, unless something does not answer in time: no request fails for
     * that. Returns from when on to look again.
     */
    ensure: async (tenant: TenantId, cell: string): Promise<Millis> => {
      const told = async (): Promise<Millis> => {
        const until = leaseUntil(tools.now());
        const before = await cells.read(cell, tenant);
        if (before.epoch === 0 || before.until === null || before.until < until) await again(tenant, cell);
        return renewedFrom(until);
      };
      const late = sleep(WAITS_MS, null, { ref: false });
      const work = told().catch((error: unknown) => {
        log.warn({ err: error, tenant, cell }, 'could not send a cell its share of a budget');
        return null;
      });
      return (await Promise.race([work, late])) ?? tools.now() + AGAIN_MS;
    },
  };
}

/** Another cell that hangs holds nobody up for longer. */
const WAITS_MS = 1_000;
const AGAIN_MS = 5_000;

/** How often cells are asked which tenants want more. */
const WANTING_EVERY_MS = 1_000;

/** Looks for cells that run out while others have something left. `bringUpToDate`: also where nothing of the tenant has come yet. */
function keepShares(
  { book, log }: TenantDeps,
  shares: ReturnType<typeof sharesOf>,
  bringUpToDate: Tenants['bringUpToDate'],
): Repeated {
  const look = async (cell: string): Promise<void> => {
    for (const tenant of await shares.wanting(cell)) {
      await bringUpToDate(tenant, cell);
      await shares.again(tenant, cell);
    }
  };
  return repeatedly(WANTING_EVERY_MS, async () => {
    const ended = await Promise.allSettled(book.cells().map(({ name }) => look(name)));
    for (const end of ended)
      if (end.status === 'rejected') log.debug({ err: end.reason }, 'could not divide budgets among the cells');
  });
}
