import type { JsonObject } from '@slowwave/engine';
import { datedEnglish, dayOf, dayTold } from '../extract/dates.ts';
import { extractFacts } from '../extract/extract.ts';
import { type Sentence, sentencesOf } from '../extract/sentences.ts';
import { listOf, objectOf, textOf } from '../input.ts';
import {
  type KnownAs,
  type Named,
  predicatedInChinese,
  type Sayings,
  sayingsOf,
  sayingsOfChinese,
  type Triple,
  USER,
  withSource,
} from './sayings.ts';

/** A relation with where it was said. */
interface Said extends Triple {
  readonly message: string;
  readonly quote: string;
  readonly day: string | null;
  readonly at: string;
}

/**
 * Relations that users state: of themselves and of those near them by what the facts of the same messages say, of others by
 * plain sentences that begin with their name.
 */
export function extractGraph(input: JsonObject): JsonObject {
  const knownAs = knownIn(input);
  const timestamps = new Map(
    listOf(input.messages)
      .map(objectOf)
      .map(({ id, timestamp }) => [textOf(id), textOf(timestamp)]),
  );
  const said: Said[] = [];
  const names: string[] = [];
  const keep = (sayings: Sayings, where: Pick<Said, 'message' | 'quote' | 'day'>): void => {
    names.push(...sayings.userNames);
    said.push(...sayings.triples.map((triple) => ({ ...triple, ...where, at: timestamps.get(where.message) ?? '' })));
  };
  for (const fact of listOf(extractFacts(input).facts).map(objectOf)) {
    const text = textOf(fact.text);
    const [message] = listOf(fact.source_ids);
    keep(isHan(text) ? sayingsOfChinese(text, knownAs) : sayingsOf(withoutDay(text), knownAs), {
      message: textOf(message),
      quote: textOf(fact.quote),
      day: typeof fact.valid_from === 'string' ? fact.valid_from : null,
    });
  }
  for (const message of listOf(input.messages).map(objectOf))
    readOthers(message, { knownAs, said, keep, known: namesIn(input) });
  const relations = withoutRepeats(said);
  return { entities: entitiesOf(relations, names), relations: relations.map(written) };
}

const isHan = (text: string): boolean => /\p{Script=Han}/u.test(text);

/** Facts name their day in words at the end, which is no part of a name. */
const withoutDay = (text: string): string =>
  text.replace(/ (?:in|on|around|since)(?: \d{1,2})?(?: [A-Z][a-z]+)? \d{4}$/u, '');

/** "User has_sister Eva", where there is one such. */
function knownIn(input: JsonObject): KnownAs {
  const lines = listOf(objectOf(input.known).relations).map(textOf);
  return (relationship) => {
    const names = lines.flatMap((line) =>
      line.startsWith(`User ${relationship} `) ? [line.slice(`User ${relationship} `.length)] : [],
    );
    return names.length === 1 ? (names[0] ?? null) : null;
  };
}

const namesIn = (input: JsonObject): readonly string[] =>
  listOf(objectOf(input.known).entities)
    .map(objectOf)
    .flatMap(({ name, aliases }) => [textOf(name), ...listOf(aliases).map(textOf)]);

interface DatedSayings extends Sayings {
  readonly day: string | null;
}

interface Reading {
  readonly knownAs: KnownAs;
  readonly known: readonly string[];
  readonly said: readonly Said[];
  readonly keep: (sayings: Sayings, where: Pick<Said, 'message' | 'quote' | 'day'>) => void;
}

/** Sentences about others: "Eva works at Hydro. She lives in Oslo." */
function readOthers(message: JsonObject, { known, said, keep, knownAs }: Reading): void {
  if (message.role !== 'user') return;
  const id = textOf(message.id);
  let last: Named | null = null;
  for (const sentence of sentencesOf(textOf(message.content)).filter(({ question }) => !question)) {
    const people = [...known, ...said.flatMap(({ source, destination }) => [source.name, destination.name])];
    const mine = said.findLast(
      (one) => one.message === id && one.quote === sentence.text && one.destination.kind === 'person',
    );
    const sayings: DatedSayings = isHan(sentence.text)
      ? ofKnown(sentence.text, people)
      : ofOther(sentence, { last, knownAs, at: textOf(message.timestamp) });
    keep(sayings, { message: id, quote: sentence.text, day: sayings.day });
    last = sayings.triples[0]?.source ?? mine?.destination ?? last;
  }
}

const PRONOUN = /^(?:She|He|It) (?=[a-z])/u;
const OF_SELF = /^(?:I|I'm|I've|My|We|Our|You|Your|The|This|That|There|It|Yes|No|Oh|And|But)\b/u;

function ofOther(
  { text }: Sentence,
  { last, knownAs, at }: { last: Named | null; knownAs: KnownAs; at: string },
): DatedSayings {
  const named = last === null || last === USER ? text : text.replace(PRONOUN, `${last.name} `);
  if (OF_SELF.test(named)) return { triples: [], userNames: [], day: null };
  const { without, validFrom } = datedEnglish(named, dayTold(at) ?? dayOf(new Date(0)));
  const first = without.replace(/,? (?:and|but|because|who|which|so)\b.*$/u, '');
  return { ...sayingsOf(first, knownAs), day: validFrom };
}

/** A Chinese sentence has no capitals to know a name by: only those that are known already are. */
function ofKnown(text: string, people: readonly string[]): DatedSayings {
  const name = people.filter((one) => one !== '' && text.startsWith(one)).sort((a, b) => b.length - a.length)[0];
  if (name === undefined) return { triples: [], userNames: [], day: null };
  return {
    triples: withSource({ name, kind: 'person' }, predicatedInChinese(text.slice(name.length))),
    userNames: [],
    day: null,
  };
}

/** The same from a fact and from its sentence is one. */
function withoutRepeats(said: readonly Said[]): readonly Said[] {
  const seen = new Set<string>();
  return said.filter(({ source, relationship, destination, message }) => {
    const key = [source.name, relationship, destination.name, message].join('\n').toLowerCase();
    return !seen.has(key) && seen.add(key);
  });
}

function entitiesOf(relations: readonly Said[], names: readonly string[]): JsonObject[] {
  const all = new Map<string, Named>();
  for (const named of relations.flatMap(({ source, destination }) => [source, destination])) {
    const before = all.get(named.name.toLowerCase());
    if (named !== USER && (before === undefined || before.kind === 'thing')) all.set(named.name.toLowerCase(), named);
  }
  const user = names.length === 0 ? [] : [{ name: 'user', kind: 'person', known: null, aliases: [...new Set(names)] }];
  return [...user, ...[...all.values()].map(({ name, kind }) => ({ name, kind, known: null, aliases: [] }))];
}

const written = ({ source, relationship, destination, said, past, message, quote, day, at }: Said): JsonObject => ({
  source: source.name,
  relationship,
  destination: destination.name,
  said,
  from: said === 'holds' && past !== true ? day : null,
  until: said === 'ended' ? day : past === true ? (day ?? at) : null,
  single: false,
  source_ids: [message],
  quote,
});

/** What somebody usually has one of at a time, though not always. */
const USUALLY_ONE = new Set(['works_at', 'works_as', 'studies_at', 'dating', 'partner_of']);
const COUPLES = new Set(['married_to', 'engaged_to', 'dating', 'partner_of']);

/** Of what somebody usually has one of, the last said holds; what is said to be over is. It cannot know whether two names are of one. */
export function decideGraph(input: JsonObject): JsonObject {
  const fresh = listOf(input.new).map(objectOf);
  const known = listOf(input.known).map(objectOf);
  const ends = fresh.flatMap((one) =>
    [...known, ...fresh].flatMap((other) => {
      if (one === other || !clashes(one, other)) return [];
      const [first, last] = textOf(other.said_at) <= textOf(one.said_at) ? [other, one] : [one, other];
      return [
        {
          relation: textOf(first.id),
          by: textOf(last.id),
          reason: one.said === 'ended' ? 'said to be over' : 'said later',
        },
      ];
    }),
  );
  return { ends: unique(ends), pairs: [] };
}

function clashes(one: JsonObject, other: JsonObject): boolean {
  if (one.source !== other.source) return false;
  if (one.said === 'ended') return one.destination === other.destination;
  const [a, b] = [textOf(one.relationship), textOf(other.relationship)];
  if (COUPLES.has(a) && COUPLES.has(b)) return one.destination !== other.destination || a !== b;
  return a === b && USUALLY_ONE.has(a) && one.destination !== other.destination;
}

function unique(ends: readonly { relation: string; by: string; reason: string }[]) {
  return [...new Map(ends.map((end) => [end.relation, end])).values()];
}
