import { setTimeout as sleep } from 'node:timers/promises';
import { overviewOfCells, UnansweredError } from '@slowwave/adapters/cells';
import { type CallerView, TenantName } from '@slowwave/contracts';
import { type Owner, ownerBitsIn, ownerKeyOf, type TenantId } from '@slowwave/engine';
import { type Cell, isLost } from '@slowwave/engine/cells';
import { operatorsOnly, problem } from '@slowwave/http';
import { answerOfAll } from './all.ts';
import {
  entityIn,
  namedLoosely,
  OF_CELLS,
  ownerIn,
  type RouteClass,
  type Routed,
  routeOf,
  tenantIn,
} from './classes.ts';
import {
  type Answer,
  type Asked,
  answerOrSilence,
  CELL_HEADER,
  type Going,
  headersOf,
  type Made,
  type RouteDeps,
  type Routing,
  type Sender,
} from './send.ts';
import { noCells } from './tenants.ts';
import type { Watched } from './watch.ts';

/** Finds the cell of a request and returns its answer. */
export async function routed(deps: RouteDeps, asked: Asked): Promise<Routing> {
  const { path } = asked;
  if (!(path.startsWith('/v1/') || path.startsWith('/mem0/') || path === '/mcp')) return toPages(deps, asked);
  const found = await deps.tenants.callerOf(asked);
  if ('refusal' in found) return found.refusal;
  const { caller } = found;
  const sender = OF_ONE_CELL.test(path) && deps.watched.book.cells().length > 1 ? naming(deps.sender) : deps.sender;
  const to: Going['to'] = async (cell, change) => {
    await deps.tenants.bringUpToDate(caller.tenant, cell.name);
    return sender.send(cell, asked, change);
  };
  const going: Going = { ...deps, sender, asked, caller, to };
  const named = asked.headers[CELL_HEADER];
  if (named !== undefined) return to(cellNamed(deps, String(named)));
  if (path === OF_CELLS || path.startsWith(`${OF_CELLS}/`)) throw onlyNamed(path);
  if (!path.startsWith('/v1/')) return loosely(going);
  const route = routeOf(asked.method, path);
  // What there is no route for is told best by a cell.
  return route === null ? to(first(deps)) : byClass(going, route);
}

/** What works on the users of one cell says of which. A list of what-ifs is that of all. */
const OF_ONE_CELL = /^\/v1\/(?:suites|canaries)(?:\/|$)|^\/v1\/replays\/./;
const ONLY_CELL_HEADER = 'x-slowwave-only-cell';

const naming = (sender: Sender): Sender => ({
  ...sender,
  send: async (cell, ...rest) => {
    const answer = await sender.send(cell, ...rest);
    answer.headers[ONLY_CELL_HEADER] = cell.name;
    return answer;
  },
});

const onlyNamed = (path: string) =>
  problem(
    'invalid_request',
    `${path} applies to one cell; name it in the header ${CELL_HEADER}, or send the request to the cell itself`,
  );

function cellNamed({ watched }: RouteDeps, name: string): Cell {
  const cell = watched.book.cell(name);
  if (cell !== null) return living(cell);
  const known = watched.book.cells().map((one) => one.name);
  throw problem('invalid_request', `expected ${CELL_HEADER} to be one of ${known.join(', ')}, got "${name}"`);
}

function first({ watched }: RouteDeps): Cell {
  const [cell] = watched.book.cells();
  if (cell === undefined) throw noCells();
  return cell;
}

/** Pages, and what describes the API: the same everywhere, so that any cell that answers will do. */
async function toPages(deps: RouteDeps, asked: Asked): Promise<Answer> {
  const named = asked.headers[CELL_HEADER];
  if (named !== undefined) return deps.sender.send(cellNamed(deps, String(named)), asked);
  let silent: UnansweredError | null = null;
  for (const cell of deps.watched.book.cells()) {
    const answer = await answerOrSilence(deps.sender.send(cell, asked));
    if (!(answer instanceof UnansweredError)) return answer;
    silent = answer;
  }
  throw silent ?? noCells();
}

function byClass(going: Going, { route, params }: Routed): Promise<Routing> {
  switch (route.to) {
    case 'owner': {
      const owner = ownerIn(route.named, { asked: going.asked, params }) ?? ofBoundKey(going.caller);
      if (owner !== null && route.erases === true) return erased(going, owner);
      if (owner !== null) return toOwner(going, owner, tenantOfBundle(going, route));
      return route.else === 'all' ? answerOfAll(going, 'list') : going.to(homeOf(going, going.caller.tenant));
    }
    case 'id': {
      const id = route.in === undefined ? (params.id ?? '') : (going.asked.query.get(route.in.query) ?? '');
      return toOwnerOfId(going, decodeURIComponent(id));
    }
    case 'home':
      return toHome(going, tenantIn(route.tenant, { asked: going.asked, params }) ?? going.caller.tenant);
    case 'all':
      return answerOfAll(going, route.merge);
    case 'found':
      return toWhoKnows(going, going.watched.book.cells());
    case 'cell':
      return going.to(first(going));
    case 'none':
      return cellsOf(going);
  }
}

/** More than anybody reads at once. */
const MOVES_SHOWN = 100;

async function cellsOf({ caller, watched, directory, ask }: Going): Promise<Made> {
  if (!caller.operator) throw operatorsOnly();
  const view = await overviewOfCells({ directory, book: watched.book, ask, movesShown: MOVES_SHOWN });
  return {
    statusCode: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    text: JSON.stringify(view),
  };
}

const ofBoundKey = ({ user_id }: CallerView): Owner | null => (user_id === null ? null : { kind: 'user', id: user_id });

const tenantOfBundle = (going: Going, route: RouteClass): string =>
  route.to === 'owner' && route.named === 'bundled' ? (tenantNamed(going) ?? 'default') : going.caller.tenant;

const tenantNamed = ({ asked }: Going): string | null =>
  tenantIn('query', { asked, params: {} }) ?? tenantIn('body', { asked, params: {} });

/** mem0's API and tools for models are translations of ours: they name owners and ids in ways of their own. */
function loosely(going: Going): Promise<Routing> {
  const { owner, id } = namedLoosely(going.asked);
  const erases = going.asked.method === 'DELETE' && entityIn(going.asked)?.kind === 'user';
  if (owner !== null && erases) return erased(going, owner);
  if (owner !== null) return toOwner(going, owner, going.caller.tenant);
  if (id !== null) return toOwnerOfId(going, id);
  // No tool changes what tenants have in common.
  return going.asked.path === '/mcp'
    ? going.to(homeOf(going, going.caller.tenant))
    : toHome(going, going.caller.tenant);
}

/** How long a request waits for an owner that is between two cells. */
const MOVING_LIMIT_MS = 15_000;
const FIRST_PAUSE_MS = 10;
const PAUSE_MAX_MS = 250;

const MOVED = 421;
const NOT_FOUND = 404;

/**
 * Sends a request until a cell takes it: one that does not have the owner any more says so, and the directory knows who does. `refused` hears
 * of each refusal first, with the epoch of the directory that the request was sent by.
 */
async function untilTaken(
  going: Going,
  send: () => Promise<Answer>,
  refused: (epoch: number) => Promise<void> = async () => {},
): Promise<Answer> {
  const { watched, asked } = going;
  const deadline = performance.now() + MOVING_LIMIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2)) {
    const before = watched.book.epoch();
    const answer = await send();
    if (answer.statusCode !== MOVED) return answer;
    await answer.body.dump();
    await refused(before);
    await watched.refresh();
    if (performance.now() > deadline) throw onItsWay();
    // Nothing new: it is on its way.
    if (watched.book.epoch() === before) await sleep(pauseMs, undefined, { signal: asked.signal });
  }
}

const onItsWay = () =>
  problem('cell_unavailable', 'the owner is moving to another cell, which is taking longer than usual; retry', {
    headers: { 'retry-after': '2' },
  });

function toOwner(going: Going, owner: Owner, tenant: string): Promise<Answer> {
  const { watched, tools, directory, ask } = going;
  const key = ownerKeyOf(tools, { tenant: tenant as TenantId, owner });
  let [cell, refusedBy] = ['', ''];
  const send = (): Promise<Answer> => {
    cell = watched.book.cellOf(key);
    return going.to(existing(watched, cell));
  };
  return untilTaken(going, send, async (epoch) => {
    // Usually the router was behind, or the owner is on its way for a moment.
    if (refusedBy !== cell) {
      refusedBy = cell;
      return;
    }
    // It may have refused for somebody else's sake: only who is not there can be nowhere.
    const named = { tenant, kind: owner.kind, id: owner.id };
    const there = await ask(cell, { method: 'POST', path: '/v1/cell/leaving', body: { ...named, ms: 0 } });
    if (there.status !== NOT_FOUND || (await directory.vacate(cell, [key], epoch)) === 0) return;
    // Who was moved, and was erased there, begins anew where the slot is: no cell leads elsewhere any more.
    await ask(cell, { method: 'DELETE', path: '/v1/cell/departures', query: named });
  });
}

/**
 * Keys, links and webhooks of a user are the tenant's: the home forgets them once the user's cell has accepted the erasure, and all copies
 * with it. Whoever gets no answer sends the request again.
 */
function erased(going: Going, owner: Owner): Promise<Routing> {
  const { tenants, watched, caller } = going;
  if (watched.book.cells().length === 1) return toOwner(going, owner, caller.tenant);
  return tenants.change(caller.tenant, async ({ home }) => {
    const answer = await toOwner(going, owner, caller.tenant);
    const made = await readWhole(answer);
    const { tenant } = caller;
    if (answer.statusCode < REFUSED) await tenants.forgetUser(home, { tenant, kind: owner.kind, id: owner.id });
    return made;
  });
}

const REFUSED = 300;

/** A cell that the directory names has an address, and answers unless it is lost. */
const existing = (watched: Watched, name: string): Cell => living(known(watched, name));

function known({ book }: Watched, name: string): Cell {
  const cell = book.cell(name);
  if (cell === null) throw new Error(`expected the directory to have an address for the cell ${name}, got none`);
  return cell;
}

function living(cell: Cell): Cell {
  if (isLost(cell)) throw lost(cell.name);
  return cell;
}

const lost = (cell: string) =>
  problem(
    'cell_lost',
    `cell ${cell} is lost with its owners; they cannot be served until the operator lets them start over (slowwave cells lost ${cell} --begin-anew)`,
    {
      moved: { cell },
    },
  );

/** The bits of an id lead to the cell of its slot; owners of that slot may be elsewhere, too. */
function toOwnerOfId(going: Going, id: string): Promise<Answer> {
  const bits = ownerBitsIn(id);
  if (bits === null) return going.to(first(going));
  const { watched } = going;
  return untilTaken(going, () =>
    toWhoKnows(
      going,
      watched.book.cellsOf(bits).map((name) => known(watched, name)),
    ),
  );
}

/** Asks one cell after the other until one knows what is meant. The last says that nobody does, unless one that cannot be asked may. */
async function toWhoKnows(going: Going, cells: readonly Cell[]): Promise<Answer> {
  const gone = cells.find(isLost);
  let [unknown, silent]: [Answer | null, unknown] = [null, gone === undefined ? null : lost(gone.name)];
  for (const cell of cells) {
    if (isLost(cell)) continue;
    const answer = await answerOrSilence(going.to(cell));
    if (answer instanceof UnansweredError) {
      silent = answer;
      continue;
    }
    const isElsewhere = answer.statusCode === NOT_FOUND || answer.statusCode === MOVED;
    if (!isElsewhere) {
      await unknown?.body.dump();
      return answer;
    }
    // Who says that it moved knows more than who does not know it.
    if (unknown?.statusCode === MOVED) await answer.body.dump();
    else {
      await unknown?.body.dump();
      unknown = answer;
    }
  }
  if (silent !== null) {
    await unknown?.body.dump();
    throw silent;
  }
  if (unknown === null) throw noCells();
  return unknown;
}

/** What only reads does not change what the other cells have to know. */
async function toHome(going: Going, tenant: string): Promise<Routing> {
  const { tenants, watched, asked, caller, sender } = going;
  // Whoever may not name another tenant changes nothing of it, and a cell says so.
  if (tenant !== caller.tenant && !(caller.operator && TenantName.safeParse(tenant).success))
    return going.to(homeOf(going, caller.tenant));
  const isRead = asked.method === 'GET' || asked.method === 'HEAD';
  if (isRead || watched.book.cells().length === 1 || caresFor(going)) return going.to(homeOf(going, tenant));
  return tenants.change(tenant, async ({ home: name }) => {
    const cell = existing(watched, name);
    await tenants.bringUpToDate(going.caller.tenant, cell.name);
    return readWhole(await sender.send(cell, asked));
  });
}

const homeOf = ({ tenants, watched }: Going, tenant: string): Cell => existing(watched, tenants.homeOf(tenant).home);

/** Read to its end before copies are made: a caller who reads it knows that they are. */
const readWhole = async (answer: Answer): Promise<Made> => ({
  statusCode: answer.statusCode,
  headers: headersOf(answer),
  text: await answer.body.text(),
});

/** A key that only says again who it is changes nothing; a link that is opened does. */
const caresFor = ({ asked }: Going): boolean =>
  asked.path === '/v1/session' && !String(asked.headers.authorization ?? '').includes('sw_lnk_');
