import { isMasked, maskOf, maskSecrets, type SecretKind, secretIn, suspectsAmong } from '../../masking/secrets.ts';
import { beginOf, clockText, lastSaid, leastOf, type Spoken, trustOf } from '../../messages/messages.ts';
import { saysLiterally } from '../../models/parse/answer.ts';
import { firstOfEach, type RawFact } from '../../models/parse/listed.ts';
import type { Discard, Fact, Remark } from '../../plan.ts';
import { atOnce, type Sliced } from '../../ports/tools.ts';
import { factTerms } from '../../text/claims.ts';
import { withoutStamp } from '../../text/dates.ts';
import { normaliseText, Wording } from '../../text/normalise.ts';
import { once, termSet } from '../../text/terms.ts';
import { compareSaid, type Message, type Role, type Trust } from '../../words.ts';
import { groundingIn, lineageIn, lookingIn } from './grounding.ts';
import {
  asksToForget,
  FACT_MAX,
  FORGET_CATEGORY,
  HEARD,
  isOwnWish,
  junkReason,
  secretReason,
  type Window,
  windowOf,
} from './rules.ts';

/** What one call found, and the messages it was shown under its own ids. */
export interface Found {
  readonly raw: readonly RawFact[];
  /** What of its answer could not be read, or was too much. */
  readonly unread?: readonly Discard[];
  /** The answer it stands in, where that is JSON, with its secrets masked. */
  readonly json?: string | null;
  readonly shown: ReadonlyMap<string, Spoken>;
}

interface Admission {
  /** Facts of a model are checked; what is stored as it is only has its secrets masked. */
  readonly inferred: boolean;
  /** The scope names an agent, so that facts about it have somebody to belong to. */
  readonly agent: boolean;
  readonly categories: readonly string[];
  /** Nothing is made of what is external. */
  readonly ownOnly: boolean;
  /** What a model was shown from before the window. */
  readonly before: readonly Spoken[];
  readonly summary?: string | null;
  readonly summaryTrust?: Trust | null;
  readonly instructions?: string | null;
  /** The settings ask for facts in a language of their own. */
  readonly isTranslated?: boolean;
}

export interface Admitted {
  readonly facts: readonly Fact[];
  readonly discards: readonly Discard[];
  /** What was made of facts that nobody said so. */
  readonly remarks: readonly Remark[];
}

/**
 * Makes facts of what the model wrote: sources are checked or found, times resolved, order set. What is no fact is
 * put aside with a reason; nothing vanishes.
 */
export function* admitting(found: readonly Found[], admission: Admission): Sliced<Admitted> {
  const window = found.flatMap(({ shown }) => [...shown.values()]);
  // Most models name their sources: then no message has to be taken apart.
  const attribute = found.some(leavesOpen) ? yield* attributing(window) : NOBODY;
  const judging: Judging = { ...admission, window, attribute, heard: heardIn(window) };
  const { sourcedOf, judgedPlainly, judged } = comparing(judging);
  const settled: Settled = { discards: [], remarks: [], admitted: [], isNew: newAmong(found, attribute) };
  for (const { raw, unread = [], json = null, shown } of found) {
    settled.discards.push(...unread);
    const suspects = yield* suspectsAmong(alteredTexts(raw, json));
    const suspecting = { ...admission, suspects };
    for (const written of raw) {
      yield;
      const candidate = candidateOf(written, sourcedOf(written, shown), suspecting);
      settle(written, judgedPlainly(candidate) ?? (yield* judged(candidate)), settled);
    }
  }
  const { admitted, discards, remarks } = settled;
  return { facts: inOrder(admitted, window).map(factOf), discards, remarks };
}

/** What has become of the facts so far. */
interface Settled {
  readonly discards: Discard[];
  readonly remarks: Remark[];
  readonly admitted: Candidate[];
  readonly isNew: (candidate: Candidate) => boolean;
}

function settle(raw: RawFact, { kept, reason }: Judged, { discards, remarks, admitted, isNew }: Settled): void {
  if (kept === null) discards.push(discardOf(raw, reason ?? ''));
  else if (isNew(kept)) admitted.push(kept);
  if (kept !== null && reason !== null) remarks.push(remarkOn(raw, reason));
}

/**
 * Slices of one message overlap: what stands in two of them counts once. An answer alone was looked through when it was read,
 * and names each message in one way.
 */
function newAmong(found: readonly Found[], attribute: Attribute): (candidate: Candidate) => boolean {
  if (found.length === 1 && attribute === NOBODY) return () => true;
  return firstOfEach(({ raw, sourceIds }: Candidate) => ({ words: raw.words, from: sourceIds }));
}

/** Facts of a model are held against what was said: whose word they are, and whether anybody said them. */
function comparing(judging: Judging) {
  const { inferred, window, before, summary = null, summaryTrust } = judging;
  const looking = lookingIn(window, before);
  const lineage = lineageIn({ window, before, summary: summaryTrust === 'external' ? summary : null }, looking);
  const grounding = groundingIn({ summary: null, instructions: null, isTranslated: false, ...judging }, looking);
  return {
    sourcedOf: (raw: RawFact, shown: ReadonlyMap<string, Spoken>): Sourced => {
      const sources = sourcesOf(raw, shown, judging);
      if (!inferred) return { sources, isExact: false, trust: leastOf(sources.map(trustOf)) };
      const isExact = looking.saidIn(sources, raw.quote ?? '');
      return { sources, isExact, trust: lineage({ texts: [raw.text], quote: raw.quote, sources, isExact }) };
    },
    /** Nearly every fact is judged by this alone. */
    judgedPlainly: (candidate: Candidate): Judged | null => {
      const refused = refusal(candidate, judging);
      if (refused !== null) return { kept: null, reason: refused };
      // A wish to forget is held against the user's own words instead.
      const isPlain = !inferred || candidate.category === FORGET_CATEGORY || grounding.isPlain(candidate);
      return isPlain ? { kept: candidate, reason: null } : null;
    },
    judged: function* (written: Candidate): Sliced<Judged> {
      const candidate = unstamped(written);
      const reason = yield* grounding.whyUnsaid(candidate);
      if (reason === null) return { kept: candidate, reason: candidate === written ? null : UNSTAMPED };
      const kept = quotedOf(candidate, grounding.inQuotesWords(candidate), judging);
      return { kept, reason: kept === null ? reason : `used the words of its quote instead, because ${reason}` };
    },
  };
}

interface Judged {
  /** The fact, or what was said in its place; null: neither is kept. */
  readonly kept: Candidate | null;
  /** Why it is not kept, or what was done to it before. */
  readonly reason: string | null;
}

/** What a user said, in place of what a model made of it; null where that is worth no memory. */
function quotedOf(candidate: Candidate, text: string | null, judging: Judging): Candidate | null {
  if (text === null || /[?？]$/u.test(text) || asksToForget(text)) return null;
  // When it holds from is the model's word, too.
  const raw = { ...candidate.raw, text, words: new Wording(text), composed: true, validFrom: null };
  const said = { ...candidate, raw, secret: secretIn(text) };
  return refusal(said, judging) === null ? said : null;
}

const remarkOn = (raw: RawFact, reason: string): Remark => ({
  asked: discardOf(raw, reason).text,
  did: `repaired: ${reason}`,
});

/** Without the time of one of its messages, which some models put before or behind a fact. */
function unstamped(candidate: Candidate): Candidate {
  const { raw, sources } = candidate;
  const text = withoutStamp(raw.text, sources.map(clockText));
  return text === raw.text
    ? candidate
    : { ...candidate, raw: { ...raw, text, words: new Wording(text), composed: true } };
}

const UNSTAMPED = 'removed the time of the message from the text';

const textsOf = ({ text, quote }: RawFact): readonly string[] => (quote === null ? [text] : [text, quote]);

/** Those that do not stand in the answer just so, or have a mask. */
function alteredTexts(raw: readonly RawFact[], json: string | null): readonly string[] {
  if (json === null || !saysLiterally(json)) return raw.flatMap(textsOf);
  const composed = raw.filter((one) => one.composed).flatMap(textsOf);
  if (!isMasked(json) && !json.includes('\\')) return composed;
  return [...composed, ...raw.flatMap(textsOf).filter((text) => isMasked(text) || ESCAPED.test(text))];
}

/** What JSON puts a backslash before. */
const ESCAPED = /["\\\p{Cc}]/u;

/** Whether a fact names no message that exists. */
const leavesOpen = ({ raw, shown }: Found): boolean =>
  raw.some(({ sourceIds }) => !sourceIds.some((id) => shown.has(id)));

const NOBODY: Attribute = () => [];

/** The same at once. */
export const admit = (found: readonly Found[], admission: Admission): Admitted => atOnce(admitting(found, admission));

interface Judging extends Admission {
  readonly window: readonly Spoken[];
  readonly attribute: Attribute;
  readonly heard: Window;
}

interface Suspecting extends Admission {
  /** The texts that may hold secrets. */
  readonly suspects: ReadonlySet<string>;
}

interface Sourced {
  readonly sources: readonly Message[];
  /** Its quote stands in one of them as it is. */
  readonly isExact: boolean;
  readonly trust: Trust;
}

interface Candidate extends Sourced {
  readonly raw: RawFact;
  readonly sourceIds: readonly string[];
  readonly about: Fact['about'];
  readonly category: string | null;
  /** What its text gives away. */
  readonly secret: SecretKind | null;
  /** Its quote without secrets. */
  readonly quote: string | null;
}

const heardIn = (window: readonly Spoken[]): Window => {
  const saidBy = (isMeant: (role: Role) => boolean): string[] =>
    window.flatMap(({ message, text }) => (isMeant(message.role) ? [text] : []));
  return windowOf(
    saidBy((role) => role === 'system'),
    saidBy((role) => HEARD.has(role)),
  );
};

/** The messages a fact names; where it names none that exist, the one it most likely came from. */
function sourcesOf(raw: RawFact, shown: ReadonlyMap<string, Spoken>, { attribute }: Judging): readonly Message[] {
  const alone = raw.sourceIds.length === 1 ? shown.get(raw.sourceIds[0] ?? '')?.message : undefined;
  if (alone !== undefined) return [alone];
  const named = new Set<Message>();
  for (const id of raw.sourceIds) {
    const message = shown.get(id)?.message;
    if (message !== undefined) named.add(message);
  }
  if (named.size > 0) return [...named];
  const all = [...shown.values()];
  const speakers = all.filter(({ message: { role } }) =>
    raw.about === 'agent' ? role === 'assistant' : HEARD.has(role),
  );
  const [likeliest] = attribute(raw, speakers.length > 0 ? speakers : all);
  return likeliest === undefined ? [] : [likeliest.message];
}

/** What the model calls the agent's own is the user's where only the user said it. */
function candidateOf(raw: RawFact, { sources, isExact, trust }: Sourced, judging: Suspecting): Candidate {
  const { agent, inferred, categories, suspects } = judging;
  const { text, quote } = raw;
  // Nearly always there is none: then no text has to be looked up.
  const isSuspect = (one: string): boolean => suspects.size > 0 && suspects.has(one);
  const bySelf = sources.some(({ role }) => role === 'assistant');
  return {
    raw,
    sources,
    isExact,
    trust,
    sourceIds: sources.map(({ id }) => id),
    about: raw.about === 'agent' && (bySelf || !agent) ? 'agent' : 'user',
    category: inferred ? categoryOf(raw.category, categories) : raw.category,
    secret: isSuspect(text) ? secretIn(text) : null,
    quote: quote !== null && isSuspect(quote) ? maskSecrets(quote).text : quote,
  };
}

function refusal(candidate: Candidate, judging: Judging): string | null {
  const { sources, trust } = candidate;
  const { inferred, ownOnly } = judging;
  if (sources.length === 0) return 'no source message';
  if (trust === 'external' && ownOnly) return 'external content, which the settings exclude';
  return inferred ? refusalOfModel(candidate, judging) : null;
}

/** What a model has found is no fact for saying so. */
function refusalOfModel(candidate: Candidate, judging: Judging): string | null {
  const { raw, sources, about, secret } = candidate;
  const { agent, heard } = judging;
  if (secret !== null) return secretReason(secret); // before all others: none of them may show one
  const junk = junkReason(raw, heard);
  if (junk !== null) return junk;
  if (sources.every(({ role }) => role === 'system')) return 'said by the system, not by anyone';
  if (isMadeUpWish(candidate, judging)) return "a wish to forget that is not in the user's own words";
  if (about === 'agent') return agent ? null : 'about the agent, but no agent_id was given';
  return sources.some(({ role }) => HEARD.has(role)) ? null : 'said by the assistant, not by the user';
}

/** A wish to forget deletes what others have said: a model's word for it is not enough. */
const isMadeUpWish = ({ raw, sourceIds, category }: Candidate, { window }: Judging): boolean =>
  category === FORGET_CATEGORY && !isOwnWish({ quote: raw.quote, sourceIds }, window);

/** A secret is counted, never shown: not even the words around it. */
function discardOf({ text }: RawFact, reason: string): Discard {
  const kind = secretIn(text);
  if (kind !== null && reason === secretReason(kind)) return { text: maskOf(kind), reason };
  return { text: maskSecrets(text.slice(0, FACT_MAX)).text, reason };
}

interface Placed {
  readonly one: Candidate;
  readonly last: Message;
  /** Of its first source. */
  readonly place: number;
}

/** As they were said, whatever the order of the answer. Few messages say much: they are put in order, not all that they say. */
function inOrder(candidates: readonly Candidate[], window: readonly Spoken[]): readonly Placed[] {
  const places = new Map(window.map(({ message }, i) => [message.id, i]));
  const byLast = new Map<Message, Placed[]>();
  for (const one of candidates) {
    const last = lastSaid(one.sources);
    const placed = { one, last, place: places.get(one.sourceIds[0] ?? '') ?? 0 };
    const others = byLast.get(last);
    if (others === undefined) byLast.set(last, [placed]);
    else others.push(placed);
  }
  return [...byLast]
    .sort(([a], [b]) => compareSaid(a.saidAt, b.saidAt))
    .flatMap(([, placed]) => placed.sort((a, b) => a.place - b.place));
}

function factOf({ one, last }: Placed, place: number): Fact {
  const { raw, sourceIds, about, trust, category, quote } = one;
  return {
    id: `f${place}`,
    text: raw.text,
    sourceIds,
    quote,
    category,
    language: raw.language?.toLowerCase() ?? null,
    about,
    trust,
    saidAt: last.saidAt,
    validFrom: beginOf(raw.validFrom, last),
    ...(last.clock !== undefined && { utcOffset: last.clock.offset }),
  };
}

/** A category the tenant has, in its own spelling, or the mark of a wish to forget; else misc, where there is such a one. */
function categoryOf(given: string | null, categories: readonly string[]): string | null {
  if (given === null) return null;
  const known = spelling.get(categories) ?? spellingOf(categories);
  return known.get(given) ?? known.get(plain(given)) ?? known.get('misc') ?? null;
}

/** Every fact is asked for its category: how each is spelt is worked out once for each list of them. */
const spelling = new WeakMap<readonly string[], ReadonlyMap<string, string>>();

function spellingOf(categories: readonly string[]): ReadonlyMap<string, string> {
  const all = [...categories, FORGET_CATEGORY].map((category) => [plain(category), category] as const);
  const known = new Map(all.reverse()); // of two that are spelt alike the first counts
  for (const category of categories) known.set(category, known.get(plain(category)) ?? category); // as most models write it
  spelling.set(categories, known);
  return known;
}

const plain = (category: string): string =>
  category
    .normalize('NFKC')
    .toLowerCase()
    .trim()
    .replaceAll(/[\s_-]+/gu, '_');

/** What is known of where a fact came from. */
interface Clue {
  readonly text: string;
  readonly quote: string | null;
}

/** Messages by how likely a fact came from them, likeliest first. */
type Attribute = (clue: Clue, pool: readonly Spoken[]) => readonly Spoken[];

/** How much the words of the message before count: an answer is understood by its question. */
const BEFORE_WEIGHT = 0.3;
/** A question seldom says anything of who asks it. */
const QUESTION_WEIGHT = 0.8;
/** Facts begin with what is known ("User lives in…") and end with what is new: their last word counts twice their first. */
const END_WEIGHT = 2;
/**
 * Finds the source of a fact that names none, among the messages of a window. Words that few messages have weigh most;
 * of two alike the later one comes first, because the last word on a matter is the one that counts.
 */
export function* attributing(window: readonly Spoken[]): Sliced<Attribute> {
  const heard = yield* wordsHeard(window);
  const rarities = yield* raritiesIn([...heard.values()]);
  const wordsOf = once((spoken: Spoken) => normaliseText(spoken.text));
  return (clue, pool) => {
    const asked = weighed(clue, rarities);
    const quote = normaliseText(clue.quote ?? '');
    const scored = pool.map((spoken) => ({
      spoken,
      quoted: quote !== '' && wordsOf(spoken).includes(quote),
      score: scoreOf(asked, heard.get(spoken)),
    }));
    return scored.toSorted(likeliest).map(({ spoken }) => spoken);
  };
}

/** What is looked for, with how much it counts; what no message says is not. */
function weighed({ text, quote }: Clue, rarities: ReadonlyMap<string, number>): readonly Weighed[] {
  const words = [...factTerms(text)];
  const weights = new Map([...termSet(quote ?? '')].map((term) => [term, 1]));
  for (const [i, term] of words.entries()) weights.set(term, 1 + ((END_WEIGHT - 1) * i) / words.length);
  return [...weights].flatMap(([term, weight]) => {
    const rarity = rarities.get(term);
    return rarity === undefined ? [] : [{ term, weight: weight * rarity }];
  });
}

interface Weighed {
  readonly term: string;
  readonly weight: number;
}

/** The words of a message, and those of the one before it that it does not have itself. */
interface Heard {
  readonly own: ReadonlySet<string>;
  readonly before: ReadonlySet<string>;
  readonly weight: number;
}

function* wordsHeard(window: readonly Spoken[]): Sliced<ReadonlyMap<Spoken, Heard>> {
  const heard = new Map<Spoken, Heard>();
  let before = NO_WORDS;
  for (const spoken of window) {
    yield;
    const own = termSet(spoken.text);
    heard.set(spoken, { own, before, weight: /[?？]$/u.test(spoken.text.trimEnd()) ? QUESTION_WEIGHT : 1 });
    before = own;
  }
  return heard;
}

const NO_WORDS: ReadonlySet<string> = new Set();

function* raritiesIn(heard: readonly Heard[]): Sliced<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { own } of heard) {
    yield;
    for (const term of own) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return new Map(
    [...counts].map(([term, found]) => [term, Math.log(1 + (heard.length - found + 0.5) / (found + 0.5))]),
  );
}

function scoreOf(asked: readonly Weighed[], heard: Heard | undefined): number {
  if (heard === undefined) return 0;
  let score = 0;
  for (const { term, weight } of asked) {
    if (heard.own.has(term)) score += weight;
    else if (heard.before.has(term)) score += BEFORE_WEIGHT * weight;
  }
  return score * heard.weight;
}

interface Scored {
  readonly spoken: Spoken;
  readonly quoted: boolean;
  readonly score: number;
}

const likeliest = (a: Scored, b: Scored): number =>
  Number(b.quoted) - Number(a.quoted) ||
  b.score - a.score ||
  compareSaid(b.spoken.message.saidAt, a.spoken.message.saidAt);
