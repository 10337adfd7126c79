import { PostRecall, RecallResult } from '@slowwave/contracts';
import {
  type Asker,
  type Filter,
  inquire,
  localIsoOf,
  ownerOf,
  scopeOf,
  type TenantId,
  type Told,
  writtenOffset,
  zoneClock,
} from '@slowwave/engine';
import { ownApp, problem, waitSignal } from '@slowwave/http';
import type { z } from 'zod';
import { routesOf, type SearchDeps } from '../deps.ts';
import { askerOf, type Deadline, deadlineOf, emptyQuery, filterOf, livingLane } from '../question.ts';
import { receiptFor, refuseUntraced } from '../receipts.ts';
import { libraryOf, type OwnLibrary } from './library.ts';

const route = routesOf('search');

export const postRecall = route('POST /v1/recall', {
  id: 'recall',
  summary: 'Answer a question from memories, with citations',
  description:
    'A chat model searches the memories and messages of one owner several times, reads the context of what it ' +
    'finds, and answers only from that. trail lists what it searched for and read. Without a chat model, the ' +
    'answer is the best matching memories.',
  body: PostRecall,
  answer: RecallResult,
  bounds: { by: 'body', apps: true },
  handle: async (deps, { tenant, body, request, reply }) => {
    if (body.query.trim() === '') throw emptyQuery();
    refuseUntraced(request, body);
    const where = filterOf(body.filters);
    const asker = askerOf(request, body);
    return recall(deps, { tenant, body, where, app: ownApp(request), asker, cancel: waitSignal(reply) });
  },
});

interface Asked {
  readonly tenant: TenantId;
  readonly body: PostRecall;
  /** The parsed filter of the body. */
  readonly where: Filter | null;
  /** The app that the key is bound to; null: none. */
  readonly app: string | null;
  readonly asker: Asker;
  /** Aborts when the caller disconnects. */
  readonly cancel: AbortSignal;
}

type Result = z.infer<typeof RecallResult>;

/** Answers a question from the memories of one owner: searches, reads around the results, and cites its sources. */
async function recall(deps: SearchDeps, asked: Asked): Promise<Result> {
  const began = performance.now();
  const deadline = deadlineOf(asked.body.timeout_ms, asked.cancel);
  try {
    return { ...(await answered(deps, asked, deadline)), took_ms: Math.round(performance.now() - began) };
  } catch (error) {
    throw deadline.signal.aborted ? tooLate(asked.body) : error;
  } finally {
    deadline.end();
  }
}

async function answered(deps: SearchDeps, { tenant, body, where, app, asker }: Asked, deadline: Deadline) {
  const { signal } = deadline;
  const lane = await livingLane(deps, { tenant, body });
  const library = libraryOf(deps, { tenant, body, where, app, lane: lane?.id ?? null, asker, cancel: signal });
  const reader = deps.reader && { deps: deps.reader, tenant, owner: ownerOf(scopeOf(body)), cancel: signal, asker };
  const { timezone } = await deps.ledger.settings.get(tenant);
  const inquired = await inquire({
    question: body.query,
    library,
    thinking: reader && { reader, tokensMax: body.max_tokens, now: () => nowShown(deps, { body, timezone, library }) },
    stepsMax: body.max_steps,
  });
  if (!(await library.stands())) throw erasedMeanwhile();
  const { answer, citations, trail, calls, usage, remarks } = inquired;
  const degraded = [...inquired.degraded, ...library.missing()];
  const cited = citations.flatMap(({ key }) => library.citationOf(key) ?? []);
  const asking = { route: 'recall', tenant, body, question: body.query, app, lane } as const;
  return {
    answer,
    citations: cited,
    receipt_id: receiptFor(deps, asking, cited.map(toldCitation)),
    trail: trail.map(({ found, ...look }) => ({ ...look, found: [...found] })),
    usage: { calls, prompt_tokens: usage.promptTokens, completion_tokens: usage.completionTokens },
    ...(remarks.length > 0 && { remarks: [...remarks] }),
    ...(degraded.length > 0 && { degraded }),
  };
}

const toldCitation = (of: Result['citations'][number]): Told =>
  of.kind === 'memory' ? { kind: 'memory', id: of.id, version: of.version } : { kind: 'message', id: of.message_id };

interface Now {
  readonly body: PostRecall;
  readonly timezone: string | null;
  readonly library: Pick<OwnLibrary, 'lastClock'>;
}

/**
 * The time of the question in the owner's time zone: the given offset, else that of the owner's last text, else the
 * tenant's time zone. If the last text fits the tenant's zone, that zone is used, because of daylight saving time.
 */
function nowShown({ tools }: Pick<SearchDeps, 'tools'>, { body: { as_of }, timezone, library }: Now): string {
  if (as_of !== undefined && writtenOffset(as_of) !== null) return as_of;
  const at = as_of === undefined ? tools.now() : Date.parse(as_of);
  const zone = timezone === null ? null : zoneClock(timezone);
  const last = library.lastClock();
  const isInZone = zone !== null && (last === null || zone(last.at) === last.offset);
  return localIsoOf(at, isInZone ? zone(at) : last?.offset);
}

const erasedMeanwhile = () =>
  problem('conflict', 'the owner was erased or created while the question was being answered; retry');

const tooLate = ({ timeout_ms }: PostRecall) =>
  problem('timed_out', `nothing was found within timeout_ms (${timeout_ms}); increase timeout_ms`);
