import {
  ColdOwnerList,
  CooledView,
  ListColdQuery,
  PostCold,
  PostWaking,
  SweptView,
  WokenView,
} from '@slowwave/contracts';
import { isoOf, type Segment, type TenantId } from '@slowwave/engine';
import { notFound, problem } from '@slowwave/http';
import { type ConsoleDeps, routesOf } from './deps.ts';

const route = routesOf('cold');

/** Owners that sleep in segments outside the ledger. */
export const coldRoutes = [
  route('GET /v1/cold', {
    id: 'listCold',
    summary: 'List the sleeping owners of a tenant',
    query: ListColdQuery,
    answer: ColdOwnerList,
    asleep: 'stay',
    handle: async (deps, { query: { tenant, limit, cursor } }) => {
      const found = await coldOf(deps).list(tenant as TenantId, cursor ?? null, limit);
      return {
        results: found.map(viewOf),
        next_cursor: found.length < limit ? null : (found.at(-1)?.name ?? null),
      };
    },
  }),
  route('POST /v1/cold/cool', {
    id: 'coolOwner',
    summary: 'Put an owner to sleep now',
    description:
      'All its data is written to a segment and verified before it is removed from the ledger. Searches, contexts and the profile are ' +
      'answered from the segment; any other request for the owner wakes it.',
    body: PostCold,
    answer: CooledView,
    asleep: 'stay',
    handle: async (deps, { body: { tenant, kind, id } }) => {
      const state = await coldOf(deps).cool(tenant as TenantId, { kind, id });
      if (state === null) throw notFound(kind, id);
      return { state: state === 'kept' ? ('kept' as const) : ('asleep' as const) };
    },
  }),
  route('POST /v1/cold/wake', {
    id: 'wakeOwner',
    summary: 'Wake an owner',
    description: 'Its data is back in the ledger and the index when the response is sent.',
    body: PostWaking,
    answer: WokenView,
    asleep: 'stay',
    handle: async (deps, { body: { tenant, kind, id } }) => ({
      woken: await coldOf(deps).wakeOwner(tenant as TenantId, { kind, id }),
    }),
  }),
  route('POST /v1/cold/sweep', {
    id: 'sweepSegments',
    summary: 'Delete segments that are unknown to this ledger',
    description:
      'Such segments remain after an older backup of the ledger was restored. Segments of another installation in the same place would be ' +
      'deleted, too.',
    answer: SweptView,
    asleep: 'stay',
    handle: async (deps) => ({ deleted: [...(await coldOf(deps).deleteUnknown())] }),
  }),
];

function coldOf({ cold }: ConsoleDeps): NonNullable<ConsoleDeps['cold']> {
  if (cold !== null) return cold;
  throw problem(
    'not_configured',
    'sleeping owners are not enabled; set SLOWWAVE_COLD_DAYS (0: only owners that you name)',
  );
}

const viewOf = ({ owner, name, state, since, memories, bytes }: Segment) => ({
  ...owner,
  ...{ segment: name, since: isoOf(since), memories, bytes },
  state: state === 'cooling' || state === 'waking' ? state : ('cold' as const),
});
