import { GraphMatches, type KnownEntity as KnownBody, PostGraphQuery } from '@slowwave/contracts';
import {
  entityView,
  type GraphMatch,
  type KnownEntity,
  type PatternAsked,
  queryGraph,
  relationView,
  type TermAsked,
} from '@slowwave/engine';
import { routesOf } from '../deps.ts';
import { graphAsked } from './asked.ts';

const route = routesOf('graph');

export const postGraphQuery = route('POST /v1/graph/query', {
  id: 'queryGraph',
  summary: 'Find relations that match patterns, or paths between two entities',
  description:
    'match: finds relations that match all patterns; a variable like "?who" stands for the same entity everywhere. ' +
    'path: finds paths from one entity to another, shortest first. No model is used.',
  body: PostGraphQuery,
  answer: GraphMatches,
  bounds: { by: 'body', apps: false },
  handle: async (deps, { body, request }) => {
    const { limit, cursor } = body;
    const asked = await graphAsked(deps, request, body);
    if (asked === null) return { results: [], next_cursor: null, truncated: false };
    const what = whatOf(body);
    const answer = await queryGraph(deps, { ...asked, what, limit, cursor: cursor ?? null });
    const { matches, nextCursor, truncated } = answer;
    return { results: matches.map(matchView), next_cursor: nextCursor, truncated };
  },
});

type What = Parameters<typeof queryGraph>[1]['what'];

function whatOf({ match = [], path }: PostGraphQuery): What {
  if (path === undefined) return { kind: 'match', patterns: match.map(patternOf) };
  return { kind: 'path', from: knownOf(path.from), to: knownOf(path.to), maxHops: path.max_hops };
}

type Pattern = NonNullable<PostGraphQuery['match']>[number];

const patternOf = ({ source, relationship, destination }: Pattern): PatternAsked => ({
  source: termOf(source),
  relationship: relationship ?? null,
  destination: termOf(destination),
});

function termOf(term: Pattern['source']): TermAsked {
  if (term === undefined) return null;
  return typeof term === 'string' ? { kind: 'variable', name: term.slice(1) } : knownOf(term);
}

function knownOf({ id, name }: KnownBody): KnownEntity {
  if (id !== undefined) return { kind: 'id', id };
  return name === undefined ? { kind: 'self' } : { kind: 'name', name };
}

const matchView = ({ entities, relations }: GraphMatch) => ({
  entities: Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, entityView(entity)])),
  relations: relations.map(relationView),
});
