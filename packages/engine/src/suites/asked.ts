import type { EngineDeps } from '../deps.ts';
import { liveVersion } from '../memories/evolve.ts';
import type { Receipt } from '../ports/ledger/feedback.ts';
import { claimsOf, plainOf } from '../text/claims.ts';
import { normaliseText } from '../text/normalise.ts';
import { terms } from '../text/terms.ts';
import type { LaneId, TenantId } from '../words.ts';
import type { CaseContent, CaseQuestion } from './content.ts';

/** Questions of a case that have an answer, and those that have none. */
const ANSWERED = 8;
const UNANSWERED = 2;
/** The newest questions of all tenants that are looked through. */
const RECEIPTS = 5_000;
/** With fewer words than these nothing in particular is asked. */
const TERMS_MIN = 2;

/** What people have asked lately, by lane, newest first. Those of one app, of another moment, or with filters saw something else. */
export async function receiptsByLane(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  tenant: TenantId,
): Promise<ReadonlyMap<LaneId, readonly Receipt[]>> {
  const receipts = await ledger.receipts.asked(RECEIPTS);
  const plain = receipts.filter(
    (one) => one.tenant === tenant && one.question !== null && !one.ownApp && one.asOf === null && one.filters === null,
  );
  return Map.groupBy(plain, ({ lane }) => lane);
}

/**
 * Questions that memories of a case answer: first those that somebody asked, with what was told first, or all that was where it was
 * said to be good; then those that follow from facts that still hold, in the words of their quotes. And some that nothing answers.
 */
export async function questionsOf(
  deps: Pick<EngineDeps, 'ledger'>,
  { tenant, receipts }: { readonly tenant: TenantId; readonly receipts: readonly Receipt[] },
  { stored, said }: { readonly stored: NonNullable<CaseContent['stored']>; readonly said: readonly string[] },
): Promise<readonly CaseQuestion[]> {
  const asked = await askedByPeople(deps, { tenant, receipts }, stored.live);
  const live = new Set(stored.live.map(normaliseText));
  const made = stored.facts
    .filter(({ text }) => live.has(normaliseText(text)))
    .map(({ text, quote }) => ({ query: withoutAnswer(quote ?? text), expects: [text] }));
  const once = new Map([...asked, ...made].map((one) => [normaliseText(one.query), one] as const));
  const answered = [...once.values()].filter(({ query }) => terms(query).length >= TERMS_MIN).slice(0, ANSWERED);
  return [...answered, ...unansweredBy(said)];
}

async function askedByPeople(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  { tenant, receipts }: { readonly tenant: TenantId; readonly receipts: readonly Receipt[] },
  live: readonly string[],
): Promise<readonly CaseQuestion[]> {
  const questions: CaseQuestion[] = [];
  for (const { question, told, outcome } of receipts) {
    if (questions.length === ANSWERED) break;
    const ids = told.flatMap((one) => (one.kind === 'memory' ? [one.id] : []));
    const memories = await ledger.memories.many(tenant, [...new Set(outcome === 'good' ? ids : ids.slice(0, 1))]);
    const expects = memories.flatMap((memory) => liveVersion(memory)?.text ?? []).filter((text) => live.includes(text));
    if (question !== null && expects.length > 0) questions.push({ query: question, expects });
  }
  return questions;
}

/** Names and numbers are mostly what a fact answers: they are left out, as long as enough is left to ask with. */
function withoutAnswer(quote: string): string {
  const { names, quantities } = claimsOf(quote);
  const answers = new Set([...names, ...quantities.numbers.map(({ whole }) => String(whole))]);
  const asked = quote
    .split(/\s+/u)
    .filter((word) => !answers.has(plainOf(word).trim()))
    .join(' ');
  return terms(asked).length >= TERMS_MIN ? asked : quote;
}

/** Of things that few people tell; never of what another owner said, which would outlive that owner's erasure. */
const SELDOM_KNOWN = [
  'What is the licence plate of the car?',
  'Which blood group was found at the hospital?',
  'Who is the landlord of the flat?',
  'What is the number of the insurance policy?',
  'Which dentist was recommended?',
  'What shoe size fits best?',
  'Where was the passport issued?',
  'Which lottery ticket won?',
];

/** Questions about which nothing in a case says anything: they should find nothing. */
function unansweredBy(texts: readonly string[]): readonly CaseQuestion[] {
  const known = new Set(texts.flatMap((text) => terms(text)));
  return SELDOM_KNOWN.filter((query) => !terms(query).some((term) => known.has(term)))
    .slice(0, UNANSWERED)
    .map((query) => ({ query, expects: [] }));
}
