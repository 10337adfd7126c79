import { isWorthReading, textOfContent } from '../messages/messages.ts';
import type { Candidate, Fact, Operation, Plan } from '../plan.ts';
import type { StoredAnswer } from '../ports/ledger/thoughts.ts';
import { type Claims, claimsOf, heldAgainst, standsIn, type Words, wordsIn } from '../text/claims.ts';
import { dateTextOf, dayOf, isDay } from '../text/dates.ts';
import { datesFrom } from '../text/quantities.ts';
import { once } from '../text/terms.ts';
import type { Message } from '../words.ts';
import type { Figures, Tally } from './figures.ts';
import { languageOf, negates, sentencesAround, subjectOf } from './readings.ts';

/** One consolidation, of life or of a shadow space. */
export interface MeasuredConsolidation {
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
  /** The sentences it comes from. */
  readonly sentence: string;
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
    return { fact, claims: claimsOf(fact.text), sources, sentence, around: wordsOf(around.join('\n')) };
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
    names_apart: share([...said.flatMap(isAboutWhomever), ...operations.flatMap((one) => updatesTheSame(one, facts))]),
    negations_kept: share(said.flatMap(({ fact, sentence }) => (negates(sentence) ? [negates(fact.text)] : []))),
  };
}

/** A name may have been said a message before. */
const BEFORE = 2;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

const isQuoted = ({ fact: { quote }, sources }: Said): boolean =>
  quote !== null && sources.some(({ text }) => standsIn(quote, wordsIn(text)));

function keepsLanguage({ fact, sources }: Said): readonly boolean[] {
  const said = languageOf(sources.map(({ text }) => text).join('\n'));
  const written = languageOf(fact.text);
  return said === null || written === null ? [] : [said === written];
}

const hasDate = ({ quantities: { dates, weekdays } }: Claims): boolean => dates.length + weekdays.length > 0;

/** Facts have a date in their words, or as the day from which they hold. */
const isDated = ({ fact: { validFrom, saidAt }, claims }: Said): boolean =>
  hasDate(claims) || (isDay(validFrom) && dayOf(validFrom) !== dayOf(saidAt.at));

const keepsDate = (said: Said): readonly boolean[] => (hasDate(claimsOf(said.sentence)) ? [isDated(said)] : []);

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
  const all = said.flatMap(({ fact, sentence }) => {
    const { hasNames } = heldAgainst(wordsOf(fact.text), []);
    return [...new Set(claimsOf(sentence).names)].map((name) => hasNames({ ...claimsOf(''), names: [name] }));
  });
  return share(all);
}

/** Whoever a fact is about is named in its sentence, unless nobody is: then it may say "she". */
function isAboutWhomever({ fact, sentence }: Said): readonly boolean[] {
  const subject = subjectOf(fact.text);
  if (subject === null) return [];
  const { names } = claimsOf(sentence);
  return [names.length === 0 || heldAgainst(wordsIn(sentence), []).hasNames({ ...claimsOf(''), names: [subject] })];
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
