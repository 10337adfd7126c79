import type { RawFact } from '../parse/facts.ts';
import type { Discard, Fact } from '../plan.ts';
import { millisOf } from '../text/iso.ts';
import { normaliseText } from '../text/normalise.ts';
import { overlap } from '../text/similarity.ts';
import { compareSaid, type Message } from '../words.ts';
import { textOfContent } from './messages.ts';

/** A text longer than this is not one fact; it is refused, and says so. Verbatim messages are stored whole. */
const FACT_MAX = 4_000;

/**
 * Makes facts of what the model wrote: sources are checked or found, times resolved, order set. What is no fact is
 * put aside with a reason; nothing vanishes.
 */
export function admit(
  raw: readonly RawFact[],
  shortIds: ReadonlyMap<string, Message>,
  inferred: boolean,
): { facts: readonly Fact[]; discards: readonly Discard[] } {
  const discards: Discard[] = [];
  const admitted: Omit<Fact, 'id'>[] = [];
  for (const candidate of raw) {
    const sources = sourcesOf(candidate, shortIds);
    const reason = refusal(candidate, sources, inferred);
    if (reason === null) admitted.push(factOf(candidate, sources));
    else discards.push({ text: candidate.text.slice(0, FACT_MAX), reason });
  }
  const order = new Map([...shortIds.values()].map((message, i) => [message.id, i]));
  const place = (fact: Omit<Fact, 'id'>): number => order.get(fact.sourceIds[0] ?? '') ?? 0;
  const facts = admitted
    .sort((a, b) => compareSaid(a.saidAt, b.saidAt) || place(a) - place(b))
    .map((fact, i) => ({ id: `f${i}`, ...fact }));
  return { facts, discards };
}

/** The messages a fact names; where it names none that exist, the one it shares the most words with. */
function sourcesOf(fact: RawFact, shortIds: ReadonlyMap<string, Message>): readonly Message[] {
  const named = fact.sourceIds.flatMap((id) => shortIds.get(id) ?? []);
  if (named.length > 0) return [...new Set(named)];
  const speakers = [...shortIds.values()].filter((message) => message.role === 'user' || message.role === 'tool');
  const asked = fact.quote ?? fact.text;
  const scored = (speakers.length > 0 ? speakers : [...shortIds.values()]).map((message) => ({
    message,
    score: overlap(asked, textOfContent(message.content)),
  }));
  const best = scored.sort((a, b) => b.score - a.score || compareSaid(b.message.saidAt, a.message.saidAt))[0];
  return best === undefined ? [] : [best.message];
}

function refusal(fact: RawFact, sources: readonly Message[], inferred: boolean): string | null {
  if (sources.length === 0) return 'no message stands behind it';
  if (!inferred) return null;
  if (fact.text.length > FACT_MAX) return `longer than ${FACT_MAX} characters: not one fact`;
  if (millisOf(fact.text) !== null) return 'a date on its own tells nothing';
  if (!/[\p{L}\p{N}]/u.test(normaliseText(fact.text))) return 'no word in it';
  const heard = sources.some((message) => message.role === 'user' || message.role === 'tool');
  if (!heard && sources.every((message) => message.role === 'system')) return 'said by the system, not by anyone';
  if (!heard && fact.about !== 'agent') return 'said by the assistant, not by the user';
  return null;
}

function factOf(fact: RawFact, sources: readonly Message[]): Omit<Fact, 'id'> {
  const [saidAt] = sources.map((message) => message.saidAt).sort((a, b) => compareSaid(b, a));
  if (saidAt === undefined) throw new Error('a fact needs a source');
  return {
    text: fact.text,
    sourceIds: sources.map((message) => message.id),
    quote: fact.quote,
    category: fact.category?.toLowerCase() ?? null,
    language: fact.language?.toLowerCase() ?? null,
    about: fact.about === 'agent' ? 'agent' : 'user',
    saidAt,
    validFrom: (fact.validFrom === null ? null : millisOf(fact.validFrom)) ?? saidAt.at,
  };
}
