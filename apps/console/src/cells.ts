import {
  ArrivalsEnded,
  ArrivalsQuery,
  CallerView,
  CellErasureView,
  CellOwnerList,
  CellOwnerQuery,
  CellsView,
  CellView,
  DepartureView,
  GetTenantCopyQuery,
  LeavingView,
  ListCellOwnersQuery,
  ListSharesQuery,
  LossView,
  PostCellErasure,
  PostDeparture,
  PostLeaving,
  PostLoss,
  PutShare,
  PutSlots,
  PutTenantCopy,
  ShareList,
  ShareView,
  SlotsView,
  TenantCopied,
  TenantCopyView,
} from '@slowwave/contracts';
import {
  type ClosedSlots,
  type CopiedRows,
  DAY_MS,
  type Departure,
  dateTextOf,
  dayOf,
  isoOf,
  type LaneId,
  ownerBitsOf,
  ownerHashOf,
  requestErasure,
  type TenantId,
} from '@slowwave/engine';
import { type ShareOfCell, shareHere, takeShare } from '@slowwave/engine/cells';
import { concerns, isOperator, notFound, type ProblemError, principalOf, problem } from '@slowwave/http';
import { type ConsoleDeps, routesOf } from './deps.ts';

const route = routesOf('cells');

/** Whose key it is: routers ask with the key of their caller, and know nothing of keys. */
export const callerRoute = route('GET /v1/cell/caller', {
  id: 'getCaller',
  summary: 'Get the owner of the key in a request',
  description: 'For routers; the cells enforce the permissions.',
  answer: CallerView,
  handle: async (_deps, { request }) => {
    const principal = principalOf(request);
    const { tenant, scopes, userId, appId } = principal;
    return { tenant, scopes: [...scopes], user_id: userId, app_id: appId, operator: isOperator(principal) };
  },
});

/** What the directory tells a cell, what tenants have in common with others, and how owners come and go. */
export const cellRoutes = [
  route('GET /v1/cells', {
    id: 'listCells',
    summary: 'List all cells, what each has, and what is being moved',
    description: 'The router answers from the directory. Without a router there are no cells, and all lists are empty.',
    answer: CellsView,
    audited: false,
    handle: async () => ({ cells: [], ranges: [], moves: { counts: NO_MOVES, oldest: [] }, handovers: [] }),
  }),
  route('GET /v1/cell', {
    id: 'getCell',
    summary: 'Get the state and size of a cell',
    answer: CellView,
    audited: false,
    handle: async (deps) => {
      const name = nameOf(deps);
      const { departures, id } = deps.ledger;
      const [slots, sizes, away] = await Promise.all([departures.slots(), departures.sizes(), departures.count()]);
      const givenUpAt = await departures.givenUpAt();
      const given_up_at = givenUpAt === null ? null : isoOf(givenUpAt);
      return { name, ledger_id: id, ...slotsView(slots), ...sizes, away, given_up_at };
    },
  }),
  route('PUT /v1/cell/slots', {
    id: 'putSlots',
    summary: 'Set the slots in which a cell accepts no new owners',
    description:
      'New owners in these slots are refused with moved; owners being created have been created when the response is sent. 409: the cell ' +
      'knows a later epoch.',
    body: PutSlots,
    answer: SlotsView,
    handle: async (deps, { body: { epoch, closed } }) => {
      nameOf(deps);
      const ranges = closed.map(({ from, to }) => ({ first: from, last: to }));
      const taken = await deps.ledger.departures.closeSlots({ epoch, closed: ranges });
      if (taken !== null) return slotsView(taken);
      const { epoch: later } = await deps.ledger.departures.slots();
      throw problem('conflict', `expected an epoch of ${later} or later, got ${epoch}; read the directory again`);
    },
  }),
  route('POST /v1/cell/losses', {
    id: 'postLoss',
    summary: 'Tell a cell that a cell is permanently lost',
    description:
      'If the lost cell is this one, it accepts no new owners, starts no work, and answers cell_lost to ' +
      'all requests except reads by operators. This cannot be undone. Repeating the request changes nothing.',
    body: PostLoss,
    answer: LossView,
    handle: async (deps, { request, body: { cell, anew } }) => {
      const name = nameOf(deps);
      const { departures } = deps.ledger;
      concerns(request, { kind: 'cell', id: cell });
      if (cell === name) await departures.giveUp(deps.tools.now());
      const forgotten = anew && cell !== name ? await departures.forgetCell(cell) : 0;
      return { cell, given_up: cell === name, forgotten };
    },
  }),
  route('GET /v1/cell/owners', {
    id: 'listCellOwners',
    summary: 'List the users, agents and runs of all tenants that are in a cell, with their slots',
    description:
      'A page may have fewer results than limit, or none, although there are more: continue while next_cursor is set.',
    query: ListCellOwnersQuery,
    answer: CellOwnerList,
    handle: async (deps, { query: { from, to, limit, cursor } }) => {
      const found = await deps.ledger.departures.owners((cursor ?? null) as LaneId | null, limit);
      const results = found
        .map(({ tenant, owner }) => ({ tenant, ...owner, slot: ownerBitsOf(deps.tools, { tenant, owner }) }))
        .filter(({ slot }) => from <= slot && slot <= to);
      return { results, next_cursor: found.length < limit ? null : (found.at(-1)?.lane ?? null) };
    },
  }),
  route('POST /v1/cell/leaving', {
    id: 'postLeaving',
    summary: 'Hold back new work of an owner that is about to move',
    description:
      'No consolidation, study or night of the owner starts during that time; posts, writes and searches continue. The hold ends automatically.',
    body: PostLeaving,
    answer: LeavingView,
    handle: async (deps, { body: { tenant, kind, id, ms } }) => {
      nameOf(deps);
      await deps.cold?.wakeOwner(tenant as TenantId, { kind, id });
      const now = deps.tools.now();
      const until = ms === 0 ? 0 : now + ms;
      const waitsFor = await deps.ledger.departures.leave(tenant as TenantId, { kind, id }, { until, now });
      if (waitsFor === null) throw notFound(kind, id);
      return { until: ms === 0 ? null : isoOf(until), waits_for: [...waitsFor] };
    },
  }),
  route('POST /v1/cell/departures', {
    id: 'postDeparture',
    summary: 'Release an owner to another cell',
    description:
      'In one transaction: if nothing was written since its lines were read with moving=true, the owner leaves this cell, and ' +
      'requests for it get moved. 409 conflict: something was written; read the lines again. 409 owner_busy: ' +
      'other work has to finish first. Repeating the request changes nothing.',
    body: PostDeparture,
    answer: DepartureView,
    handle: async (deps, { body }) => {
      nameOf(deps);
      const { ledger, tools } = deps;
      const { kind, id } = body;
      const owned = { tenant: body.tenant as TenantId, owner: { kind, id } };
      const departed = await ledger.departures.depart(owned.tenant, owned.owner, {
        ...{ id: tools.id('dep'), to: { cell: body.to, epoch: body.epoch }, stamp: body.stamp },
        ...{ ownerHash: ownerHashOf(tools, { ledgerId: ledger.id, ...owned }), bits: ownerBitsOf(tools, owned) },
        ...{ until: Date.parse(body.until), now: tools.now() },
      });
      if (departed.kind === 'gone') throw notFound(kind, id);
      if (departed.kind === 'changed') throw changed(kind, id);
      if (departed.kind === 'busy')
        throw problem('owner_busy', `${kind} ${id} cannot leave yet: ${departed.waitsFor.join('; ')}`);
      if (departed.kind === 'elsewhere') throw elsewhere(kind, id);
      return departureView(departed, { kind, id });
    },
  }),
  route('GET /v1/cell/departures', {
    id: 'getDeparture',
    summary: 'Get the cell an owner moved to',
    query: CellOwnerQuery,
    answer: DepartureView,
    handle: async ({ ledger }, { query: { tenant, kind, id } }) => {
      const departure = await ledger.departures.find(tenant as TenantId, { kind, id });
      if (departure === null) throw notFound(`departed ${kind}`, id);
      return departureView(departure, { kind, id });
    },
  }),
  route('DELETE /v1/cell/departures', {
    id: 'deleteDeparture',
    summary: 'Forget where an owner moved to',
    description: 'For routers: the owner was erased in the cell it moved to, and can start over here.',
    query: CellOwnerQuery,
    answer: DepartureView,
    handle: async ({ ledger }, { query: { tenant, kind, id } }) => {
      const departure = await ledger.departures.forget(tenant as TenantId, { kind, id });
      if (departure === null) throw notFound(`departed ${kind}`, id);
      return departureView(departure, { kind, id });
    },
  }),
  route('DELETE /v1/cell/arrivals', {
    id: 'deleteArrivals',
    summary: 'Discard the unfinished import of an owner',
    description: 'The owner stays in its current cell. A finished import stays, too.',
    query: ArrivalsQuery,
    answer: ArrivalsEnded,
    handle: async (deps, { query: { tenant, kind, id, attempt } }) => {
      const found = await deps.bundles.arriving(tenant as TenantId, { kind, id }, attempt);
      for (const arriving of found) await requestErasure(deps, arriving.tenant, arriving.hidden);
      return { thrown_away: found.length };
    },
  }),
  route('POST /v1/cell/erasures', {
    id: 'postCellErasure',
    summary: 'Remove a user erased in another cell from keys, links and webhooks',
    description: 'For the home cell of the tenant. Other data of that user in this cell is removed, too.',
    body: PostCellErasure,
    answer: CellErasureView,
    handle: async (deps, { body: { tenant, kind, id } }) => {
      nameOf(deps);
      const { id: erasureId } = await requestErasure(deps, tenant as TenantId, { kind, id });
      return { erasure_id: erasureId };
    },
  }),
  route('GET /v1/cell/tenant', {
    id: 'getTenantCopy',
    summary: 'Get the tenant-wide data of a tenant, for other cells',
    description:
      'Settings, ceilings, keys as digests, links, webhooks with their secrets, suites, and digests of erasures.',
    query: GetTenantCopyQuery,
    answer: TenantCopyView,
    audited: true,
    handle: async ({ ledger, copies }, { query }) => {
      const tenant = query.tenant as TenantId;
      const { version, rows } = await copies.read(tenant);
      return { tenant, ledger_id: ledger.id, version, copy: shownRows(rows) };
    },
  }),
  route('PUT /v1/cell/tenant', {
    id: 'putTenantCopy',
    summary: 'Replace the tenant-wide data of a tenant with a copy from its home cell',
    description:
      'Data that is not in the copy is removed. 409: the cell has a copy with a later epoch. Until the cell gets its ' +
      'share of the daily limits, it calls no model for the tenant.',
    body: PutTenantCopy,
    answer: TenantCopied,
    handle: async (deps, { body }) => {
      nameOf(deps);
      const { tenant, epoch, version, copy } = body;
      const taken = await deps.copies.take(
        tenant as TenantId,
        { epoch, version },
        (copy as CopiedRows | undefined) ?? null,
      );
      if (typeof taken === 'string') throw problem('invalid_request', `the copy cannot be used: ${taken}`);
      if (taken !== null) return { tenant, ...taken };
      throw problem('conflict', `expected a copy with a later epoch, got ${epoch}; read the home cell again`);
    },
  }),
  route('GET /v1/cell/shares', {
    id: 'listShares',
    summary:
      'Get this cell’s share and usage of a tenant’s daily limits, or those of all tenants for which it wants more',
    query: ListSharesQuery,
    answer: ShareList,
    audited: false,
    handle: async (deps, { query: { tenant, limit } }) => {
      nameOf(deps);
      const tenants = tenant === undefined ? await deps.ledger.shares.wanting(limit) : [tenant as TenantId];
      const purse = purseOf(deps);
      return { results: await Promise.all(tenants.map(async (one) => shareView(one, await shareHere(purse, one)))) };
    },
  }),
  route('PUT /v1/cell/shares', {
    id: 'putShare',
    summary: 'Set this cell’s share of a tenant’s daily limits',
    description:
      'Applies to budgets and ceilings of the whole tenant. Returns the share from now on: the one sent, or what the cell has already ' +
      'used, if that is more, or a later share.',
    body: PutShare,
    answer: ShareView,
    audited: false,
    handle: async (deps, { body }) => {
      nameOf(deps);
      const { epoch, part, until, day, elsewhere, is_last: isLast } = body;
      const tenant = body.tenant as TenantId;
      const told = { epoch, part, until: Date.parse(until), day: dayOf(Date.parse(day)), elsewhere, isLast };
      return shareView(tenant, await takeShare(purseOf(deps), tenant, told));
    },
  }),
];

const NO_MOVES = { copying: 0, departing: 0, arriving: 0, leaving_off: 0, recalling: 0, given_up: 0 };

const purseOf = ({ ledger, tools, ceilings }: ConsoleDeps) => ({ ledger, tools, settings: { ceilings } });

const shareView = (tenant: TenantId, { until, day, ...share }: ShareOfCell): ShareView => ({
  ...{ tenant, ...share },
  until: until === null ? null : isoOf(until),
  day: dateTextOf(day * DAY_MS),
});

/** Only what is a cell has anything to do with a directory. */
function nameOf({ cell }: ConsoleDeps): string {
  if (cell !== null) return cell;
  throw problem('not_configured', 'this server is not a cell; set SLOWWAVE_CELL to its name in the directory');
}

const slotsView = ({ epoch, closed }: ClosedSlots): SlotsView => ({
  epoch,
  closed: closed.map(({ first, last }) => ({ from: first, to: last })),
});

const departureView = (
  { tenant, to, departedAt, until }: Departure,
  owner: Pick<DepartureView, 'kind' | 'id'>,
): DepartureView => ({
  ...{ tenant, ...owner, departed_at: isoOf(departedAt), until: isoOf(until) },
  ...{ to: to.cell, epoch: to.epoch },
});

const shownRows = (rows: CopiedRows): TenantCopyView['copy'] =>
  Object.fromEntries(
    Object.entries(rows).map(([kind, of]) => [kind, of.map((row) => ({ ...row }))]),
  ) as TenantCopyView['copy'];

const changed = (kind: string, id: string): ProblemError =>
  problem('conflict', `something was written to ${kind} ${id} since its lines were read; read them again`);

const elsewhere = (kind: string, id: string): ProblemError =>
  problem(
    'conflict',
    `${kind} ${id} has already departed, to another cell or at another epoch; read the directory again`,
  );
