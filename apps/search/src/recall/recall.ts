import type { PostRecall, RecallResult } from '@slowwave/contracts';
import { type Filter, inquire, isoOf, ownerOf, scopeOf, type TenantId } from '@slowwave/engine';
import { problem } from '@slowwave/http';
import type { z } from 'zod';
import { type Deadline, deadlineOf } from '../deadline.ts';
import type { SearchDeps } from '../deps.ts';
import { livingLane } from '../search.ts';
import { libraryOf } from './library.ts';

interface Asked {
  readonly tenant: TenantId;
  readonly body: PostRecall;
  /** The filter of the body, as it was read. */
  readonly where: Filter | null;
  /** Aborts when who asks is gone. */
  readonly cancel: AbortSignal;
}

type Result = z.infer<typeof RecallResult>;

/** Answers a question from the memories of one owner: searches, reads around what it finds, and says where it has it from. */
export async function recall(deps: SearchDeps, asked: Asked): Promise<Result> {
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

async function answered(deps: SearchDeps, { tenant, body, where }: Asked, deadline: Deadline) {
  const { signal } = deadline;
  const lane = await livingLane(deps, { tenant, body });
  const library = libraryOf(deps, { tenant, body, where, lane, cancel: signal });
  const reader = deps.reader && { deps: deps.reader, tenant, owner: ownerOf(scopeOf(body)), cancel: signal };
  const now = isoOf(deps.tools.now());
  const inquired = await inquire({
    question: body.query,
    library,
    thinking: reader && { reader, tokensMax: body.max_tokens, now: body.as_of ?? now },
    stepsMax: body.max_steps,
  });
  if (!(await library.stands())) throw erasedMeanwhile();
  const { answer, citations, trail, calls, usage, remarks } = inquired;
  const degraded = [...inquired.degraded, ...library.missing()];
  return {
    answer,
    citations: citations.flatMap(({ key }) => library.citationOf(key) ?? []),
    trail: trail.map(({ found, ...look }) => ({ ...look, found: [...found] })),
    usage: { calls, prompt_tokens: usage.promptTokens, completion_tokens: usage.completionTokens },
    ...(remarks.length > 0 && { remarks: [...remarks] }),
    ...(degraded.length > 0 && { degraded }),
  };
}

const erasedMeanwhile = () =>
  problem('conflict', 'who was asked about was erased, or created, while the answer was being made; ask again');

const tooLate = ({ timeout_ms }: PostRecall) =>
  problem('timed_out', `nothing was found within timeout_ms: ${timeout_ms}; allow more time`);
