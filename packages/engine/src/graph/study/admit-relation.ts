import { maskSecrets } from '../../masking/secrets.ts';
import type { Spoken } from '../../messages/reading.ts';
import { beginOf, lastSaid } from '../../messages/said-when.ts';
import type { RawRelation } from '../../models/parse/graph.ts';
import { millisOf } from '../../text/dates.ts';
import { normaliseText } from '../../text/normalise.ts';
import type { Role } from '../../words.ts';
import { arityOf, relationshipOf } from '../relationships.ts';
import type { Told } from './values.ts';

/** Longer quotes are the message itself. In characters. */
const QUOTE_MAX = 300;
/** Whose words can state a relation. Tools report; assistants and systems do not know. */
const HEARD: ReadonlySet<Role> = new Set<Role>(['user', 'tool']);

type Find = (name: string) => number | null;

/** A relation as it will be kept, or why it is refused. */
export function tellingOf(raw: RawRelation, shown: ReadonlyMap<string, Spoken>, find: Find): Told | string {
  const relationship = relationshipOf(raw.relationship);
  if (relationship === null) return 'refused: expected a relationship of a few words';
  const sources = sourcesOf(raw, shown);
  if (sources.length === 0) return 'refused: no source message';
  if (!sources.some(({ message }) => HEARD.has(message.role))) return 'refused: the user did not say it';
  const [one, other] = [find(raw.source), find(raw.destination)];
  if (one === null || other === null) return 'refused: no message names one of its ends';
  if (one === other) return 'refused: both of its ends are the same';
  const [source, destination] = relationship.inverse ? [other, one] : [one, other];
  const arity = arityOf(relationship.name);
  const single = arity === 'one' || (arity === 'unsure' && raw.single && !relationship.inverse);
  const messageIds = sources.map(({ message }) => message.id);
  return {
    said: raw.said,
    source,
    relationship: relationship.name,
    destination,
    single,
    messageIds,
    ...timesOf(raw, sources),
    quote: quoteOf(raw, sources),
  };
}

/** The messages it names, and the one its quote stands in. */
function sourcesOf({ sourceIds, quote }: RawRelation, shown: ReadonlyMap<string, Spoken>): readonly Spoken[] {
  const named = sourceIds.flatMap((id) => shown.get(id) ?? []);
  const quoted = named.length > 0 ? [] : [...shown.values()].filter((spoken) => isIn(quote, spoken)).slice(0, 1);
  return [...new Set([...named, ...quoted])];
}

function isIn(quote: string | null, spoken: Spoken): boolean {
  const words = normaliseText(quote ?? '');
  return words !== '' && wordsOf(spoken).includes(words);
}

/** Each message is held against every quote: it is made comparable once. */
const known = new WeakMap<Spoken, string>();

function wordsOf(spoken: Spoken): string {
  const words = known.get(spoken) ?? normaliseText(spoken.text);
  known.set(spoken, words);
  return words;
}

function quoteOf({ quote }: RawRelation, sources: readonly Spoken[]): string | null {
  if (quote === null || !sources.some((spoken) => isIn(quote, spoken))) return null;
  return maskSecrets(quote).text.slice(0, QUOTE_MAX).toWellFormed();
}

/**
 * When it was said, and from when until when it held. What is over only later holds when it is said. Of an end, validFrom is
 * when it came.
 */
function timesOf(raw: RawRelation, sources: readonly Spoken[]): Pick<Told, 'saidAt' | 'validFrom' | 'until'> {
  const last = lastSaid(sources.map(({ message }) => message));
  const { saidAt } = last;
  const from = beginOf(raw.from, last);
  const until = beginOf(raw.until, last);
  if (raw.said !== 'holds') return { saidAt, validFrom: until, until: null };
  const isNamed = raw.until !== null && millisOf(raw.until) !== null;
  const over = isNamed && until <= saidAt.at ? until : null;
  return { saidAt, validFrom: Math.min(from, over ?? Number.POSITIVE_INFINITY), until: over };
}
