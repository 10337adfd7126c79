import { SUMMARY_EVERY } from '../consolidation/consolidate.ts';
import type { EngineDeps } from '../deps.ts';
import { maskSecrets } from '../masking/secrets.ts';
import { clockText, isWorthReading, leastOf, textOfContent, trustOf } from '../messages/messages.ts';
import { type Apart, askUncounted } from '../models/ask.ts';
import { economised } from '../models/economised.ts';
import { afford, type Purse } from '../models/limits.ts';
import { isObject, textOfString } from '../models/parse/listed.ts';
import { SUMMARIZE, type SummarizeInput } from '../models/prompts/consolidation.ts';
import { forStep } from '../models/steps.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { RefreshedSummary, SummaryBasis } from '../ports/ledger/summaries.ts';
import type { FollowUps, SummaryHandler, SummaryRefresh } from '../ports/schedule.ts';
import { cleanText, estimateTokens, shorten } from '../text/normalise.ts';
import type { Json, Message, Trust } from '../words.ts';

/** More than there is room for in one call; older ones live on in the memories. */
const MESSAGES_MAX = 200;
/** Twice the 200 words that are asked for: every later extraction pays for it. */
const SUMMARY_TOKENS_MAX = 600;

interface Due {
  readonly turn: Turn;
  readonly refresh: SummaryRefresh;
}

/** Asks for a refresh that is due. Whoever calls does not wait, and nothing here fails a turn. */
export async function askForSummary(
  { followUps, log }: Pick<EngineDeps, 'log'> & { readonly followUps: FollowUps },
  { turn, refresh }: Due,
): Promise<void> {
  try {
    await followUps.summarize(refresh);
  } catch (error) {
    const fields = { lane: turn.lane, consolidation: turn.consolidationId, error: String(error) };
    log.warn(fields, 'could not queue a summary refresh; the next consolidation will do it');
  }
}

type SummaryDeps = Purse & Pick<EngineDeps, 'chat' | 'chats' | 'otherChat' | 'log' | 'meter'>;

/**
 * What a worker does with one refresh: one model call, from the summary before and what was said since. It reads what
 * is there when it begins, so that a refresh asked for twice is made once.
 */
export const refreshSummary =
  (deps: SummaryDeps): SummaryHandler =>
  async (refresh, cancel) => {
    const { summaries } = deps.ledger;
    const basis = await summaries.read(refresh, { every: SUMMARY_EVERY, limit: MESSAGES_MAX });
    if (basis === null) return;
    const { tenant, upTo, revision } = basis;
    const { rung } = await afford(deps, { tenant, account: { lane: refresh.lane }, terms: basis, isExtra: true });
    const input: SummarizeInput = { summary: basis.summary, messages: toSummarize(basis.messages) };
    const apart = {
      deps: forStep(deps, 'summary', await economised(deps, { tenant, rung }, basis.rules)),
      tenant,
      account: { lane: refresh.lane },
      rules: basis.rules,
      cancel,
      purpose: 'summary' as const,
    };
    const made = input.messages.length === 0 ? { summary: basis.summary } : await summarize(apart, input);
    const refreshed = { tenant, ...made, ...extentOf(basis, made.summary), trust: trustIn(basis), upTo, revision };
    const { kind } = await summaries.store(refresh, refreshed);
    deps.log.info({ lane: refresh.lane, scope: refresh.scope, upTo, outcome: kind }, 'refreshed a summary');
  };

/** From the first message of the summary before, if there was one. */
function extentOf({ from, count, messages }: SummaryBasis, summary: string | null) {
  const first = from ?? messages[0]?.saidAt.seq ?? null;
  return summary === null ? { from: null, count: 0 } : { from: first, count: count + messages.length };
}

function trustIn({ trust, messages }: SummaryBasis): Trust | null {
  const trusts = [...(trust === null ? [] : [trust]), ...messages.filter(isTold).map(trustOf)];
  return trusts.length === 0 ? null : leastOf(trusts);
}

/** Asks, and once more for an answer of which nothing can be used or that broke off. A summary of null: nothing to say. */
async function summarize(apart: Apart, input: SummarizeInput): Promise<Pick<RefreshedSummary, 'summary' | 'call'>> {
  const question = { prompt: SUMMARIZE, ask: 'Refresh the summary.', input, shape: summaryIn };
  const { value, call } = await askUncounted(apart, question);
  return {
    summary: value === '' ? null : shorten(maskSecrets(value).text, SUMMARY_TOKENS_MAX),
    ...(call !== null && { call }),
  };
}

function summaryIn(value: Json): string | null {
  return isObject(value) && typeof value.summary === 'string' ? (textOfString(value.summary) ?? '') : null;
}

/** Of one message: a paragraph or three. Who sends more sends a document, whose beginning says what it is. */
const MESSAGE_TOKENS_MAX = 300;
/** Of all of them together: twenty long messages, and still a cheap call. */
const MESSAGES_TOKENS_MAX = 6_000;

type Shown = SummarizeInput['messages'][number];

/** What a summary call reads of the messages: the newest ones there is room for, each cut where it is huge. */
export function toSummarize(messages: readonly Message[]): readonly Shown[] {
  let room = MESSAGES_TOKENS_MAX;
  const shown: Shown[] = [];
  for (const message of messages.filter(isTold).reverse()) {
    const said = cleanText(textOfContent(message.content)).trim();
    // Masked before it is cut: half a secret is not recognised.
    const content = shorten(maskSecrets(said).text, MESSAGE_TOKENS_MAX);
    room -= estimateTokens(content);
    if (room < 0) break;
    shown.push({ role: message.role, content, timestamp: clockText(message) });
  }
  return shown.reverse();
}

/** System messages are the product's words, not the conversation's. */
const isTold = (message: Message): boolean => message.role !== 'system' && isWorthReading(message);
