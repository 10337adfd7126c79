import type { EngineDeps } from '../deps.ts';
import { isWorthReading, textOfContent } from '../messages/messages.ts';
import type { Candidate, Fact, Operation, Plan } from '../plan.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { Consolidation, StoredAnswer } from '../ports/ledger/thoughts.ts';
import { messagesOf } from '../replays/lives.ts';
import {
  type Claims,
  claimsOf,
  foldedOf,
  heldAgainst,
  plainOf,
  standsIn,
  type Words,
  wordsIn,
} from '../text/claims.ts';
import { dateTextOf, dayOf, isDay } from '../text/dates.ts';
import { datesFrom } from '../text/quantities.ts';
import { once, STOP_WORDS } from '../text/terms.ts';
import { hasFacts, type Message } from '../words.ts';
import type { Figures, FiguresOfModel, Tally } from './figures.ts';

/** One consolidation, of life or of a shadow space. */
interface MeasuredConsolidation {
  /** null: it was parked, nothing was planned. */
  readonly plan: Plan | null;
  /** Those of its batches. */
  readonly messages: readonly Message[];
  readonly answers: readonly Pick<StoredAnswer, 'step'>[];
}

/** The figures of one consolidation that can be told without knowing what should have come of it. */
export function figuresOf(measured: MeasuredConsolidation): Figures {
  const { plan, answers } = measured;
  const messages = measured.messages.filter(
    (message) => !message.resent && message.role !== 'system' && isWorthReading(message),
  );
  if (plan === null) return ofAnswers(answers);
  const read = messages.map((message) => ({ message, text: textOfContent(message.content) }));
  return {
    ...ofAnswers(answers),
    ...ofMessages(plan, read),
    ...ofOperations(plan),
    ...ofFacts(plan, read),
    ...ofCalls(plan, messages.length),
  };
}

interface Read {
  readonly message: Message;
  readonly text: string;
}

const share = (all: readonly boolean[]): Tally => ({ part: all.filter(Boolean).length, of: all.length });

/** A question that was answered in a way that is of no use was asked again; where the repair was no use either, nothing came of it. */
function ofAnswers(answers: MeasuredConsolidation['answers']): Figures {
  const questions = Map.groupBy(answers, ({ step }) => step.replace(NO_USE, ''));
  const has = (mark: string): readonly boolean[] =>
    [...questions.values()].map((given) => given.some(({ step }) => step.includes(mark)));
  return { repaired: share(has(':unusable:')), unusable: share(has(':unrepaired:')) };
}

/** As models/ask.ts names them. */
const NO_USE = /:(?:unusable|unrepaired):\d+$/u;

function ofMessages({ facts, discards }: Plan, read: readonly Read[]): Figures {
  const sources = new Set(facts.flatMap(({ sourceIds }) => sourceIds));
  const users = read.filter(({ message }) => message.role === 'user');
  const heardOf = (some: readonly Read[]): Tally => share(some.map(({ message }) => sources.has(message.id)));
  const foreign = users.filter(({ text }) => !['en', null].includes(languageOf(text)));
  return {
    facts_per_message: { part: facts.length, of: read.length },
    heard: heardOf(users),
    heard_foreign: heardOf(foreign),
    discarded: { part: discards.length, of: facts.length + discards.length },
  };
}

function ofOperations({ facts, operations, held, outcomes, remarks, candidates }: Plan): Figures {
  const kinds = [...operations.map(({ event }) => event), ...held.map(({ kind }) => kind)];
  const changing = kinds.filter((kind) => kind !== 'NONE');
  const part = (kind: string): Tally => share(changing.map((one) => one === kind));
  return {
    adds: part('ADD'),
    updates: part('UPDATE'),
    deletes: part('DELETE'),
    nones: share(outcomes.map(({ outcome }) => outcome === 'NONE')),
    dropped: share(outcomes.map(({ outcome }) => outcome === 'DROPPED')),
    targets_nearest: share(operations.flatMap((operation) => isNearest(operation, candidates))),
    remarks: { part: remarks.length, of: facts.length },
  };
}

/** Whether what is changed is the memory most like the fact, of all that were shown for it; none, where it was the only one. */
function isNearest({ event, fact, memoryId }: Operation, candidates: readonly Candidate[]): readonly boolean[] {
  if (event !== 'UPDATE' && event !== 'DELETE') return [];
  const shown = candidates.flatMap((candidate) => {
    const by = candidate.recalledBy.find((one) => one.fact === fact);
    return by === undefined || candidate.standing !== 'live'
      ? []
      : [{ candidate, score: by.vector ?? by.keyword ?? 0 }];
  });
  const own = shown.filter(({ candidate }) => candidate.memoryId === memoryId).map(({ score }) => score);
  if (own.length === 0 || shown.length < 2) return [];
  return [Math.max(...own) >= Math.max(...shown.map(({ score }) => score))];
}

/** A fact with what was said of it. */
interface Said {
  readonly fact: Fact;
  readonly claims: Claims;
  readonly sources: readonly Read[];
  /** The sentences it comes from, and what they claim. */
  readonly sentence: string;
  readonly told: Claims;
  /** Its messages, and those right before them. */
  readonly around: Words;
}

function ofFacts({ facts, operations }: Plan, read: readonly Read[]): Figures {
  const wordsOf = once((text: string) => wordsIn(text));
  const places = new Map(read.map(({ message }, i) => [message.id, i]));
  const said = facts.map((fact): Said => {
    const at = fact.sourceIds.flatMap((id) => places.get(id) ?? []);
    const sources = at.flatMap((place) => read[place] ?? []);
    const around = at.flatMap((place) => read.slice(Math.max(0, place - BEFORE), place + 1)).map(({ text }) => text);
    const sentence = sentencesAround(
      fact.quote,
      sources.map(({ text }) => text),
    );
    const [claims, told] = [claimsOf(fact.text), claimsOf(sentence)];
    return { fact, claims, sources, sentence, told, around: wordsOf(around.join('\n')) };
  });
  return {
    quotes_stand: share(said.map(isQuoted)),
    quote_words: {
      part: facts.reduce((sum, { quote }) => sum + (quote?.match(WORD)?.length ?? 0), 0),
      of: facts.length,
    },
    language_kept: share(said.flatMap(keepsLanguage)),
    dates_kept: share(said.flatMap(keepsDate)),
    dates_said: share(said.flatMap(saysDate)),
    names_kept: namesKept(said, wordsOf),
    names_apart: share([
      ...said.flatMap((one) => isAboutWhomever(one, wordsOf)),
      ...operations.flatMap((one) => updatesTheSame(one, facts)),
    ]),
    negations_kept: share(said.flatMap(({ fact, sentence }) => (negates(sentence) ? [negates(fact.text)] : []))),
  };
}

/** A name may have been said a message before. */
const BEFORE = 2;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

const isQuoted = ({ fact: { quote }, sources }: Said): boolean =>
  quote !== null && sources.some(({ text }) => standsIn(quote, { plain: plainOf(text) }));

function keepsLanguage({ fact, sources }: Said): readonly boolean[] {
  const said = languageOf(sources.map(({ text }) => text).join('\n'));
  const written = languageOf(fact.text);
  return said === null || written === null ? [] : [said === written];
}

const hasDate = ({ quantities: { dates, weekdays } }: Claims): boolean => dates.length + weekdays.length > 0;

/** Facts have a date in their words, or as the day from which they hold. */
const isDated = ({ fact: { validFrom, saidAt }, claims }: Said): boolean =>
  hasDate(claims) || (isDay(validFrom) && dayOf(validFrom) !== dayOf(saidAt.at));

const keepsDate = (said: Said): readonly boolean[] => (hasDate(said.told) ? [isDated(said)] : []);

function saysDate(said: Said): readonly boolean[] {
  if (!isDated(said)) return [];
  const { fact, claims, sources, around } = said;
  const moments = sources.map(({ message: { saidAt, clock } }) => clock?.at ?? saidAt.at);
  const [year = 0, month = 0, day = 0] = dateTextOf(fact.validFrom).split('-').map(Number);
  const isSaid =
    !isDay(fact.validFrom) ||
    dayOf(fact.validFrom) === dayOf(fact.saidAt.at) ||
    // The first of a month or year stands for all of it.
    datesFrom(around.quantities, moments).has({
      year,
      month: isFirst(month, day) ? null : month,
      day: day === 1 ? null : day,
    });
  return [isSaid && heldAgainst(around, moments).hasDates(claims)];
}

const isFirst = (month: number, day: number): boolean => month === 1 && day === 1;

function namesKept(said: readonly Said[], wordsOf: (text: string) => Words): Tally {
  const all = said.flatMap(({ fact, told }) => {
    const { hasNames } = heldAgainst(wordsOf(fact.text), []);
    return [...new Set(told.names)].map((name) => hasNames({ names: [name] }));
  });
  return share(all);
}

/** Whoever a fact is about is named in its sentence, unless nobody is: then it may say "she". */
function isAboutWhomever({ fact, sentence, told }: Said, wordsOf: (text: string) => Words): readonly boolean[] {
  const subject = subjectOf(fact.text);
  if (subject === null) return [];
  return [told.names.length === 0 || heldAgainst(wordsOf(sentence), []).hasNames({ names: [subject] })];
}

/** What is updated is about the same person as the fact, or about the user as well. */
function updatesTheSame({ event, fact, before }: Operation, facts: readonly Fact[]): readonly boolean[] {
  if (event !== 'UPDATE' || before === null) return [];
  const [old, said] = [subjectOf(before), subjectOf(facts.find(({ id }) => id === fact)?.text ?? '')];
  return old === null && said === null ? [] : [old === said];
}

/** The steps that wait for a chat model. */
const THINKING = ['extract', 'decide'];

function ofCalls({ usage, cost, timings }: Plan, messages: number): Figures {
  const perMessage = (part: number): Tally => ({ part, of: messages });
  return {
    calls: perMessage(usage.calls),
    prompt_tokens: perMessage(usage.promptTokens),
    completion_tokens: perMessage(usage.completionTokens),
    thinking_ms: perMessage(THINKING.reduce((sum, step) => sum + (timings[step] ?? 0), 0)),
    ...(cost !== null && { cost: perMessage(cost) }),
  };
}

/** A consolidation as the ledger has it. What retention has removed of it cannot be measured any more. */
export async function measuredIn(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  { id, tenant, batchIds }: Pick<Consolidation, 'id' | 'tenant' | 'batchIds'>,
): Promise<MeasuredConsolidation> {
  const [plan, answers] = await Promise.all([ledger.thoughts.plan(id), ledger.thoughts.answers(id)]);
  const messages: Message[] = [];
  for (const batchId of batchIds) {
    const batch = await ledger.batches.get(tenant, batchId);
    if (batch !== null) messages.push(...(await messagesOf({ ledger }, batch)));
  }
  return { plan, messages, answers };
}

/** A turn with its plan, which is about to be applied. */
interface PlannedTurn {
  readonly turn: Pick<Turn, 'consolidationId' | 'settings'>;
  readonly plan: Plan;
  readonly messages: readonly Message[];
}

/** Facts times characters of messages: so much is measured within some milliseconds, and a turn waits no longer. */
const MEASURED_MAX = 1_000_000;

/** null: nothing was thought, or there is too much to be measured beside the work. */
export async function measuredOf(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  { turn, plan, messages }: PlannedTurn,
): Promise<FiguresOfModel | null> {
  const chars = messages.reduce((sum, { content }) => sum + textOfContent(content).length, 0);
  if (!hasFacts(turn.settings) || chars * plan.facts.length > MEASURED_MAX) return null;
  const answers = await ledger.thoughts.answers(turn.consolidationId);
  return { model: plan.models.chat, figures: figuresOf({ plan, messages, answers }) };
}

/** The sentences of messages that a quote stands in; all of them, where it stands in none. */
export function sentencesAround(quote: string | null, texts: readonly string[]): string {
  const sentences = texts.flatMap((text) => text.split(SENTENCE_ENDS)).filter((sentence) => sentence.trim() !== '');
  const wanted = quote === null ? '' : plainOf(quote).trim();
  if (wanted === '') return texts.join('\n');
  const around = sentences.filter((sentence) => {
    const plain = plainOf(sentence);
    return plain.trim() !== '' && (standsIn(quote ?? '', { plain }) || wanted.includes(plain.trim()));
  });
  return around.length === 0 ? texts.join('\n') : around.join('\n');
}

const SENTENCE_ENDS = /(?<=[.!?;])\s+|\n+|(?<=[。！？；])/u;

/** Whether a text denies something, in the languages of the prompts; words that look so in another language count as well. */
export const negates = (text: string): boolean => NEGATES.test(foldedOf(text)) || UNSPACED_NEGATES.test(text);

const NEGATES =
  /(?<!\p{L})(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|avoids?|nicht|nichts|kein\p{L}*|nie|niemals|ohne|nunca|sin|jamas|nada|pas|jamais|sans|rien|aucune?|non|mai|senza|niente|nao|sem|jamais|geen|niet|nooit|zonder|не|нет|никогда|без)(?!\p{L})|n['’]t(?!\p{L})/iu;
const UNSPACED_NEGATES = /[不没未无別别]|ない|ません|なし|않|못|없/u;

/** The language of a text, as surely as its script and its small words show it; null: it may be any. */
export function languageOf(text: string): string | null {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters === 0) return null;
  for (const { language, script } of SCRIPTS) {
    if ((text.match(script)?.length ?? 0) >= letters * OF_SCRIPT) return language;
  }
  const words = foldedOf(text.toLowerCase()).match(/[\p{L}]+/gu) ?? [];
  const found = Object.entries(SMALL_WORDS)
    .map(([language, small]) => ({ language, count: words.filter((word) => small.has(word)).length }))
    .sort((a, b) => b.count - a.count);
  const [best, next] = found;
  return best !== undefined && best.count >= 2 && best.count > (next?.count ?? 0) * 1.5 ? best.language : null;
}

/** Names and products are written in Latin letters in texts of every script. */
const OF_SCRIPT = 0.3;

/** Japanese has signs of its own beside those that Chinese has. */
const SCRIPTS: readonly { readonly language: string; readonly script: RegExp }[] = [
  { language: 'ja', script: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu },
  { language: 'zh', script: /\p{Script=Han}/gu },
  { language: 'ko', script: /\p{Script=Hangul}/gu },
  { language: 'ru', script: /\p{Script=Cyrillic}/gu },
  { language: 'ar', script: /\p{Script=Arabic}/gu },
  { language: 'he', script: /\p{Script=Hebrew}/gu },
  { language: 'el', script: /\p{Script=Greek}/gu },
  { language: 'hi', script: /\p{Script=Devanagari}/gu },
  { language: 'th', script: /\p{Script=Thai}/gu },
];

const listed = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Without accents. */
const SMALL_WORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  en: listed(
    'the is are was i my his her their and to of in at with has have user users from for that this it lives likes works wants on not does a an',
  ),
  de: listed(
    'der die das den dem ist sind war ich mein meine meinen sein seine und zu von im am mit hat habe haben nutzer nutzerin aus fur dass es wohnt mag nicht ein eine einen auf',
  ),
  es: listed(
    'el la los las es son era yo mi su sus y de en con tiene tengo usuario usuaria del para que vive gusta no un una al por le me se',
  ),
  fr: listed(
    "le la les est sont etait je mon ma mes son sa ses et de en avec a ai utilisateur utilisatrice du pour que habite aime ne pas un une au des j l d s'",
  ),
  it: listed(
    'il lo la gli e sono era io mio mia suo sua di in con ha ho utente del per che vive piace non un una al si',
  ),
  pt: listed(
    'o a os as e sao era eu meu minha seu sua de em com tem tenho usuario usuaria do da para que mora gosta nao um uma ao',
  ),
  nl: listed(
    'de het een is zijn was ik mijn haar en van in met heeft heb gebruiker uit voor dat woont houdt niet op te',
  ),
};

/** Who a fact is about, beside the user: a name that it begins with, or that whoever is the user's has. null: nobody is named. */
export function subjectOf(text: string): string | null {
  const { names } = claimsOf(text);
  if (names.length === 0) return null;
  const words = plainOf(text).trim().split(' ');
  const [first = ''] = words;
  if (names.includes(first)) return first;
  if (first !== 'user' || words[1] !== 's') return null;
  const owned = words.slice(2, 2 + OWNED_WORDS);
  const at = owned.findIndex((word) => names.includes(word));
  return at === -1 || owned.slice(0, at).some((word) => STOP_WORDS.has(word)) ? null : (owned[at] ?? null);
}

/** "User's younger sister Anna". */
const OWNED_WORDS = 4;
