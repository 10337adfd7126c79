import type { EngineDeps } from '../deps.ts';
import { type Interval, wilson } from '../figures/compare.ts';
import { measuredIn } from '../figures/measure.ts';
import { spaceOf } from '../ids.ts';
import { isWorthReading, textOfContent } from '../messages/messages.ts';
import type { Plan } from '../plan.ts';
import { allOf } from '../ports/ledger/ledger.ts';
import type { Assessment, Replay } from '../ports/ledger/replays.ts';
import type { Consolidation } from '../ports/ledger/thoughts.ts';
import { type Message, type Owner, ownerOf } from '../words.ts';

/** A message of a run with what was made of it, for people to assess. */
export interface SampledMessage {
  readonly id: string;
  readonly owner: Owner;
  /** What was said right before it; null: it is the first of its window. */
  readonly before: string | null;
  readonly text: string;
  readonly facts: readonly SampledFact[];
}

interface SampledFact {
  readonly id: string;
  readonly text: string;
  readonly outcome: Plan['outcomes'][number]['outcome'];
  /** What it replaced or ended. */
  readonly replaced: string | null;
}

/** Messages of users in a run, by consolidations chosen by hash: everybody has the same ones. Empty once its space is gone. */
export async function sampleOf(
  deps: Pick<EngineDeps, 'ledger' | 'tools'>,
  run: Replay,
  size: number,
): Promise<readonly SampledMessage[]> {
  const { ledger, tools } = deps;
  const space = spaceOf({ tenant: run.tenant, replay: run.id });
  const all = await allOf((page) => ledger.thoughts.list(space, {}, page));
  const chosen = all
    .filter(({ state }) => state === 'applied')
    .map((one) => ({ one, by: tools.hash(JSON.stringify([run.id, one.id])) }))
    .sort((a, b) => (a.by < b.by ? -1 : 1));
  const messages: SampledMessage[] = [];
  for (const { one } of chosen) {
    if (messages.length >= size) break;
    messages.push(...(await messagesWithFacts(deps, one)));
  }
  return messages.slice(0, size);
}

async function messagesWithFacts(
  deps: Pick<EngineDeps, 'ledger'>,
  one: Consolidation,
): Promise<readonly SampledMessage[]> {
  const { plan, messages } = await measuredIn(deps, one);
  const isAsked = (message: Message): boolean => message.role === 'user' && isWorthReading(message) && !message.resent;
  const asked = new Set(messages.filter(isAsked).map(({ id }) => id));
  return messages.flatMap((message, i) => {
    if (!asked.has(message.id)) return [];
    const before = messages[i - 1];
    const own = plan?.facts.filter(({ sourceIds }) => sourceIds.find((id) => asked.has(id)) === message.id) ?? [];
    return {
      id: message.id,
      owner: ownerOf(one.scope),
      before: before === undefined ? null : textOfContent(before.content),
      text: textOfContent(message.content),
      facts: own.map(({ id, text }) => ({
        id: `${one.id}/${id}`,
        text,
        outcome: plan?.outcomes.find(({ fact }) => fact === id)?.outcome ?? 'DROPPED',
        replaced: plan?.operations.find(({ fact, before: was }) => fact === id && was !== null)?.before ?? null,
      })),
    };
  });
}

/** What people think of a run: of facts whether they are right, of messages whether all of them was found. */
interface Assessed {
  readonly assessors: readonly Assessor[];
  /** Of two people each. */
  readonly pairs: readonly Pair[];
}

interface Assessor {
  readonly by: string;
  readonly right: Share | null;
  readonly complete: Share | null;
}

interface Share extends Interval {
  readonly of: number;
}

interface Pair {
  readonly by: readonly [string, string];
  readonly facts: Agreement | null;
  readonly messages: Agreement | null;
}

interface Agreement {
  /** Items that both have assessed. */
  readonly of: number;
  readonly same: number;
  /** Cohen's kappa: 0 is what chance alone would make of it, 1 is all alike. null: both always say the same, or there is nothing. */
  readonly kappa: number | null;
}

const OF_FACTS = ['agree', 'wrong'] as const;
const OF_MESSAGES = ['complete', 'missing'] as const;
/** Of a normal distribution, as the width of 99 in 100. */
const WIDTH = 2.576;

export function assessmentsOf(assessments: readonly Assessment[]): Assessed {
  const byAssessor = [...Map.groupBy(assessments, ({ by }) => by)].sort(([a], [b]) => (a < b ? -1 : 1));
  const assessors = byAssessor.map(([by, own]) => ({
    by,
    right: shareOf(own, OF_FACTS),
    complete: shareOf(own, OF_MESSAGES),
  }));
  const pairs = byAssessor.flatMap(([a, ofA], i) =>
    byAssessor.slice(i + 1).map(([b, ofB]): Pair => {
      const both = { a: ofA, b: ofB };
      return { by: [a, b], facts: agreementOf(both, OF_FACTS), messages: agreementOf(both, OF_MESSAGES) };
    }),
  );
  return { assessors, pairs };
}

type Verdicts = readonly [good: Assessment['verdict'], bad: Assessment['verdict']];

function shareOf(own: readonly Assessment[], [good, bad]: Verdicts): Share | null {
  const [part, rest] = [good, bad].map((verdict) => own.filter((one) => one.verdict === verdict).length);
  const of = (part ?? 0) + (rest ?? 0);
  return of === 0 ? null : { ...wilson((part ?? 0) / of, of, WIDTH), of };
}

function agreementOf(
  { a, b }: { readonly a: readonly Assessment[]; readonly b: readonly Assessment[] },
  verdicts: Verdicts,
): Agreement | null {
  const other = new Map(b.map(({ item, verdict }) => [item, verdict]));
  const both = a
    .map(({ item, verdict }) => [verdict, other.get(item)] as const)
    .filter(([one, two]) => verdicts.includes(one) && two !== undefined && verdicts.includes(two));
  const of = both.length;
  if (of === 0) return null;
  const same = both.filter(([one, two]) => one === two).length;
  const [good] = verdicts;
  const [first, second] = [0, 1].map((side) => both.filter((pair) => pair[side] === good).length / of) as [
    number,
    number,
  ];
  const byChance = first * second + (1 - first) * (1 - second);
  return { of, same, kappa: byChance === 1 ? null : (same / of - byChance) / (1 - byChance) };
}
