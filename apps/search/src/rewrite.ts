import { type PostSearch, textOf } from '@slowwave/contracts';
import {
  asEngineError,
  type LeaningQuestion,
  ownerOf,
  type Reader,
  rewriteQuestion,
  scopeOf,
  type Tools,
} from '@slowwave/engine';
import { problem } from '@slowwave/http';
import { type Deadline, LATE, lateNote } from './deadline.ts';
import type { SearchDeps } from './deps.ts';
import { flights, lately } from './once.ts';
import type { Question } from './question.ts';

/** Makes a question stand on its own. Throws EngineError if the model cannot be asked. */
export type Rewrite = (
  asked: LeaningQuestion & Pick<Reader, 'tenant' | 'owner' | 'asker'>,
  cancel: AbortSignal,
) => Promise<string>;

/** A client that repeats a turn pays once. */
const KEPT_MAX = 500;

/** Asks the chat model, about the same only once, also if it is asked several times at once. */
export function rewriting(deps: Reader['deps'] & { readonly tools: Pick<Tools, 'hash'> }): Rewrite {
  const kept = lately<string>(KEPT_MAX);
  const fly = flights<string>();
  return async ({ tenant, owner, asker, ...asked }, cancel) => {
    const key = deps.tools.hash(JSON.stringify([tenant, owner, asked]));
    const ask = async (signal: AbortSignal): Promise<string> => {
      const rewritten = await rewriteQuestion({ deps, tenant, owner, asker, cancel: signal }, asked);
      kept.put(key, rewritten);
      return rewritten;
    };
    return kept.get(key) ?? fly(key, cancel, ask);
  };
}

/** The time limit of rewriting, also for searches without a time limit: nothing is searched for meanwhile. */
const LIMIT_MS = 10_000;

interface Rewritten {
  readonly question: Question;
  /** What is searched for, where that was asked for and done. */
  readonly query?: string;
  /** Why it was not. */
  readonly missing: readonly string[];
}

/** The question as it is searched for. If rewriting fails or is late, that is the question as it stands. */
export async function rewritten(deps: SearchDeps, question: Question, deadline: Deadline): Promise<Rewritten> {
  const { tenant, body, asker } = question;
  const { rewrite } = deps;
  if (body.rewrite !== true || rewrite === null) return { question, missing: [] };
  const said = (body.messages ?? []).map(({ role, content }) => ({ role, text: textOf(content) }));
  const asked = { tenant, owner: ownerOf(scopeOf(body)), asker, question: body.query, said };
  try {
    const query = await deadline.within((signal) =>
      rewrite(asked, AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)])),
    );
    if (query === LATE) return { question, missing: [lateNote('rewriting the query')] };
    return { question: { ...question, body: { ...body, query } }, query, missing: [] };
  } catch (error) {
    deps.log.warn({ err: error }, 'could not rewrite a query');
    return { question, missing: [`the query was not rewritten (${asEngineError(error).code})`] };
  }
}

/** Refuses a request to rewrite where nothing can. */
export function refuseWithoutRewriter({ rewrite }: SearchDeps, body: Pick<PostSearch, 'rewrite'>): void {
  if (body.rewrite !== true || rewrite !== null) return;
  throw problem(
    'not_configured',
    'no chat model is configured to rewrite the query; set SLOWWAVE_CHAT_MODEL (the builtin model cannot do it), or remove rewrite',
    { errors: [{ path: 'rewrite', message: 'no chat model is configured' }] },
  );
}
