import type { Schemas } from '@qdrant/js-client-rest';
import { type IndexLane, type IndexQuery, type SaidAt, SHELVES, type Visibility } from '@slowwave/engine';
import { ownerKey, type Payload, type Place, scopeKey, tenantKey, toldKey } from './points.ts';
import { conditionFor } from './where.ts';

type Filter = Schemas['Filter'];
type Condition = Schemas['Condition'];
type Field = Exclude<keyof Payload, 'point'>;

/** What a question sees: `visible` of the engine, decided by the server. It always names the owner's lane. */
export function sightOf(query: IndexQuery): Filter {
  const { filter, visibility, where } = query;
  const asked = where === null ? null : conditionFor(where);
  return {
    must: [
      is('owner', ownerKey(query)),
      ...conditionsOf(visibility),
      ...scoped('agent', filter.agentId),
      ...scoped('run', filter.runId),
      ...scoped('app', filter.appId),
      ...(asked === null ? [] : [asked]),
    ],
  };
}

/** What a lane has on all shelves. */
export const laneFilter = (of: IndexLane): Filter => ({
  should: SHELVES.map((shelf) => is('owner', ownerKey({ ...of, shelf }))),
});

/** What a tenant has on one shelf. */
export const tenantFilter = (place: Place): Filter => ({ must: [is('tenant', tenantKey(place))] });

/** Whatever belongs to any tenant: every point but what the collection says of itself. */
export const ANY_MEMORY: Filter = { must_not: [{ is_empty: { key: 'tenant' } }] };

/** Of these points, those whose revision in the index is not above the one beside them. */
export function notNewer(revisions: ReadonlyMap<number, readonly string[]>): Filter {
  return {
    should: [...revisions].map(([revision, ids]) => ({
      must: [{ has_id: [...ids] }, within('revision', { lte: revision })],
    })),
  };
}

/** The same, but of withdrawn ones only those whose revision is below. */
export function newerThanGone(revisions: ReadonlyMap<number, readonly string[]>): Filter {
  return {
    should: [...revisions].map(([revision, ids]) => ({
      must: [
        { has_id: [...ids] },
        within('revision', { lte: revision }),
        { should: [ANY_MEMORY, within('revision', { lt: revision })] },
      ],
    })),
  };
}

function conditionsOf(visibility: Visibility): Condition[] {
  switch (visibility.kind) {
    case 'live':
      return [
        is('live', true),
        within('shown_from', { lte: visibility.now }),
        within('invalid_at', { gt: visibility.now }),
        within('expires_at', { gt: visibility.now }),
      ];
    case 'as_of':
      return [
        within('held_from', { lte: visibility.at }),
        within('invalid_at', { gt: visibility.at }),
        within('expires_at', { gt: visibility.at }),
      ];
    case 'every':
      return visibility.begunBy === null ? [] : [within('valid_from', { lte: visibility.begunBy })];
    case 'told_last':
      return [is('told_last', toldKey(visibility.among, visibility.appId))];
    case 'live_or_said_after':
      return [
        {
          should: [
            is('live', true),
            ...after('said_at', 'said_seq', visibility.after),
            ...after('deleted_at', 'deleted_seq', visibility.after),
          ],
        },
      ];
  }
}

/** Later by moment, or at the same moment by order of arrival; any of these conditions says so. */
function after(at: Field, seq: Field, said: SaidAt): Condition[] {
  return [
    within(at, { gt: said.at }),
    { must: [within(at, { gte: said.at, lte: said.at }), within(seq, { gt: said.seq })] },
  ];
}

const is = (key: Field, value: string | boolean): Condition => ({ key, match: { value } });

const within = (key: Field, range: Schemas['Range']): Condition => ({ key, range });

const scoped = (key: Field, id: string | undefined): Condition[] => (id === undefined ? [] : [is(key, scopeKey(id))]);
