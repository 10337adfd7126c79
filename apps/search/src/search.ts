import type { PostSearch, SearchResult } from '@slowwave/contracts';
import {
  asEngineError,
  type FusedHit,
  fuse,
  type IndexQuery,
  ownerOf,
  scopeOf,
  type TenantId,
  terms,
} from '@slowwave/engine';
import type { z } from 'zod';
import type { SearchDeps } from './deps.ts';
import { hitView, sourceView } from './views.ts';

/** Each leg brings more than is shown, so that what is second in one leg and fifth in the other is not missed. */
const LEG_FACTOR = 3;
const LEG_MIN = 50;

export interface Question {
  readonly tenant: TenantId;
  readonly body: PostSearch;
}

type Result = z.infer<typeof SearchResult>;

/** Asks the index, ranks what both legs found, and adds what was asked for. */
export async function search(deps: SearchDeps, question: Question): Promise<Result> {
  const began = performance.now();
  const { body } = question;
  const [legs, state] = await Promise.all([legsOf(deps, body), deps.indexState()]);
  const [hits = []] = await deps.index.search([indexQuery(deps, question, legs)]);
  const best = fuse(hits, body.mode).filter(({ score }) => score >= (body.threshold ?? 0));
  const results = await shown(deps, question, best.slice(0, body.top_k));
  const degraded = [state, legs.missing].filter((reason) => reason !== null);
  return { results, took_ms: tenths(performance.now() - began), ...(degraded.length > 0 && { degraded }) };
}

interface Legs {
  readonly vector: Float32Array | null;
  readonly terms: readonly string[] | null;
  /** Why a leg that was wanted is missing. */
  readonly missing: string | null;
}

/** A hybrid search whose model is away still has its words; a pure vector search has nothing, and fails. */
async function legsOf(deps: SearchDeps, { query, mode }: PostSearch): Promise<Legs> {
  const words = mode === 'vector' ? null : terms(query);
  if (mode === 'keyword') return { vector: null, terms: words, missing: null };
  try {
    return { vector: await deps.embedQuery(query), terms: words, missing: null };
  } catch (error) {
    if (mode === 'vector') throw error;
    const { code } = asEngineError(error);
    deps.log.warn({ err: error }, 'a query was not embedded; searched by keyword only');
    return {
      vector: null,
      terms: words,
      missing: `the query could not be embedded (${code}): searched by keyword only`,
    };
  }
}

function indexQuery(deps: SearchDeps, { tenant, body }: Question, legs: Legs): IndexQuery {
  const owner = ownerOf(scopeOf(body));
  return {
    tenant,
    owner,
    shelf: 'memories',
    filter: {
      ...(owner.kind === 'user' && body.agent_id !== undefined && { agentId: body.agent_id }),
      ...(owner.kind !== 'run' && body.run_id !== undefined && { runId: body.run_id }),
      ...(body.app_id !== undefined && { appId: body.app_id }),
    },
    visibility:
      body.as_of === undefined
        ? { kind: 'live', now: deps.tools.now() }
        : { kind: 'as_of', at: Date.parse(body.as_of) },
    vector: legs.vector,
    terms: legs.terms,
    where: null,
    wide: false,
    limit: Math.max(LEG_MIN, body.top_k * LEG_FACTOR),
  };
}

async function shown(
  deps: SearchDeps,
  { tenant, body }: Question,
  best: readonly FusedHit[],
): Promise<Result['results']> {
  const hits = best.map(({ hit, score }) => ({
    ...hitView(hit.point),
    score,
    ...(body.include.includes('scores') && { scores: { vector: hit.vectorScore, keyword: hit.keywordScore } }),
  }));
  if (!body.include.includes('sources')) return hits;
  const ids = [...new Set(best.flatMap(({ hit }) => hit.point.sourceIds))];
  const messages = await deps.ledger.memories.messages(tenant, ids);
  return hits.map((view, i) => ({
    ...view,
    sources: (best[i]?.hit.point.sourceIds ?? []).flatMap((id) => {
      const message = messages.get(id);
      return message === undefined ? [] : [sourceView(message, true)];
    }),
  }));
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;
