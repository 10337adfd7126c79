import type { Schemas } from '@qdrant/js-client-rest';
import {
  type Condition as Asked,
  type Field,
  type Filter,
  type IndexLane,
  type IndexQuery,
  type SaidAt,
  SHELVES,
  type Test,
  type Visibility,
} from '@slowwave/engine';
import {
  MORE_TOKENS,
  NEVER,
  ownerKey,
  type Payload,
  type Place,
  presenceToken,
  scopeKey,
  tenantKey,
  toldKey,
  valueToken,
} from './points.ts';

type ServerFilter = Schemas['Filter'];
type ServerCondition = Schemas['Condition'];
type FieldName = Exclude<keyof Payload, 'point'>;

/** What a question sees: `visible` of the engine, decided by the server. It always names the owner's lane. */
export function sightOf(query: IndexQuery): ServerFilter {
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
export const laneFilter = (of: IndexLane): ServerFilter => ({
  should: SHELVES.map((shelf) => is('owner', ownerKey({ ...of, shelf }))),
});

/** What a tenant has on one shelf. */
export const tenantFilter = (place: Place): ServerFilter => ({ must: [is('tenant', tenantKey(place))] });

/** Whatever belongs to any tenant: every point but what the collection says of itself. */
export const ANY_MEMORY: ServerFilter = { must_not: [{ is_empty: { key: 'tenant' } }] };

/** Of these points, those whose revision in the index is not above the one beside them. */
export function notNewer(revisions: ReadonlyMap<number, readonly string[]>): ServerFilter {
  return {
    should: [...revisions].map(([revision, ids]) => ({
      must: [{ has_id: [...ids] }, within('revision', { lte: revision })],
    })),
  };
}

/** The same, but of withdrawn ones only those whose revision is below. */
export function newerThanGone(revisions: ReadonlyMap<number, readonly string[]>): ServerFilter {
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

function conditionsOf(visibility: Visibility): ServerCondition[] {
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
function after(at: FieldName, seq: FieldName, said: SaidAt): ServerCondition[] {
  return [
    within(at, { gt: said.at }),
    { must: [within(at, { gte: said.at, lte: said.at }), within(seq, { gt: said.seq })] },
  ];
}

const is = (key: FieldName, value: string | boolean): ServerCondition => ({ key, match: { value } });

const within = (key: FieldName, range: Schemas['Range']): ServerCondition => ({ key, range });

const scoped = (key: FieldName, id: string | undefined): ServerCondition[] =>
  id === undefined ? [] : [is(key, scopeKey(id))];

/**
 * What a server can rule out by its indexes: a condition that is true of every point that the filter is true of, and maybe
 * of some more. The filter itself is asked of what comes back. null rules out nothing.
 *
 * Parts of texts, and what is above or below in metadata, have no index: of those only that there is a value is asked.
 */
export const conditionFor = (filter: Filter): ServerCondition | null => covering(filter, true);

/** Covers what the filter is true of, or with `wanted` false what it is false of. */
function covering(filter: Filter, wanted: boolean): ServerCondition | null {
  switch (filter.kind) {
    case 'all':
      return wanted ? every(filter.of, wanted) : some(filter.of, wanted);
    case 'any':
      return wanted ? some(filter.of, wanted) : every(filter.of, wanted);
    case 'not':
      return covering(filter.of, !wanted);
    case 'condition':
      return wanted ? near(filter) : without(filter);
  }
}

function every(of: readonly Filter[], wanted: boolean): ServerCondition | null {
  const must = of.map((one) => covering(one, wanted)).filter((condition) => condition !== null);
  return must.length === 0 ? null : { must };
}

/** An empty list of conditions would let everything through. */
function some(of: readonly Filter[], wanted: boolean): ServerCondition | null {
  const should = of.map((one) => covering(one, wanted)).filter((condition) => condition !== null);
  if (should.length < of.length) return null;
  return should.length === 0 ? { has_id: [] } : { should };
}

function near({ field, test }: Asked): ServerCondition | null {
  const exact = exactly(field, test);
  if (exact !== null) return exact;
  return hasTokens(field) ? anyToken([presenceToken(field), MORE_TOKENS]) : null;
}

/** A point that is known to be so is ruled out. */
function without({ field, test }: Asked): ServerCondition | null {
  const exact = exactly(field, test, { sure: true });
  return exact === null ? null : { must_not: [exact] };
}

/** null where no index knows. Sure: only what is so; else also what may be so. */
function exactly(field: Field, test: Test, { sure } = { sure: false }): ServerCondition | null {
  if (field.name === 'text') return null;
  const number = NUMBERS[field.name];
  if (number !== undefined && test.kind !== 'equals') return ofNumber(number, test);
  const tokens = tokensFor(field, test);
  return tokens === null ? null : anyToken(sure ? tokens : [...tokens, MORE_TOKENS]);
}

const hasTokens = ({ name }: Field): boolean => name !== 'text';

function tokensFor(field: Field, test: Test): string[] | null {
  if (test.kind === 'present') return [presenceToken(field)];
  if (test.kind === 'equals') return test.values.map((value) => valueToken(field, value));
  const isWhole = test.kind === 'contains' && !test.folded && field.name === 'category';
  return isWhole ? [valueToken(field, test.text)] : null;
}

const anyToken = (any: string[]): ServerCondition => ({ key: 'has' satisfies FieldName, match: { any } });

/** Fields of numbers: what compares, and what is there. Whether one is equal to another, tokens say. */
const NUMBERS: Readonly<Partial<Record<Field['name'], FieldName>>> = {
  confirmations: 'confirmations',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  saidAt: 'said_at',
  validFrom: 'valid_from',
  expiresAt: 'expires_at',
};

/** What never ends is as good as missing: it compares with nothing. */
function ofNumber(key: FieldName, test: Test): ServerCondition {
  const ends = { key, range: { lt: NEVER } };
  return test.kind === 'compares' ? { must: [ends, { key, range: { [test.by]: test.to } }] } : ends;
}
