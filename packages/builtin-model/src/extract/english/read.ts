import type { Day } from '../calendar.ts';
import type { Dated, Found } from '../found.ts';
import type { Sentence } from '../sentences.ts';
import type { Clause } from './carry.ts';
import { clausesOf } from './clauses.ts';
import { datedEnglish } from './dates.ts';
import { type Denial, denied, tidy } from './grammar.ts';
import { firstTold, type Rule } from './rule.ts';
import { DOING } from './rules-doing.ts';
import { MINE } from './rules-mine.ts';
import { PERSON } from './rules-person.ts';
import { TASTE } from './rules-taste.ts';
import { WORK } from './rules-work.ts';
import { fromGerund } from './verbs.ts';

const SELF: readonly Rule[] = [...WORK, ...TASTE, ...PERSON, ...DOING];

/** What an English sentence says about its speaker. */
export function readEnglish(sentence: Sentence, today: Day): readonly Found[] {
  return clausesOf(sentence.text, sentence.question).flatMap((clause) => readClause(clause, today));
}

function readClause({ text, subject }: Clause, today: Day): readonly Found[] {
  if (subject === 'other') return favourite(text);
  const dated = datedEnglish(text, today);
  if (subject === 'mine')
    return firstTold(
      MINE,
      each(dated, (said) => said.replace(/^my /iu, '')),
    );
  const predicate = each(dated, predicateOf);
  const denial = denialIn(predicate.raw);
  if (denial === null) return firstTold(SELF, predicate);
  return firstTold(SELF, each(predicate, affirmed)).flatMap((found) => {
    const said = UNDENIABLE.test(found.text) ? null : denied(found.text, denial);
    return said === null ? [] : [{ ...found, text: said }];
  });
}
/** What somebody does not want to do now is talk, not a fact. */
const UNDENIABLE = /^User (?:plans|wants|hopes|would|used to)\b/u;

/** "Pizza is my favourite food" */
function favourite(text: string): readonly Found[] {
  const [, thing = '', what = ''] = /^(.+?) is my (?:absolute |all-time )?(favou?rite .+)$/iu.exec(text) ?? [];
  const [value, kind] = [tidy(thing), tidy(what)];
  if (value === null || kind === null) return [];
  return [{ text: `User's ${kind} is ${value}`, category: 'user_preferences', validFrom: null }];
}

const SOFT =
  'also|really|absolutely|just|still|currently|actually|now|finally|already|recently|even|personally|honestly|definitely|truly|simply|certainly|kind of|sort of|totally|especially|particularly';
const SOFT_FIRST = new RegExp(`^(?:(?:${SOFT}|only) )+`, 'iu');
const SOFT_SECOND = new RegExp(`^(am|have|do not|am not|can|can not|will)(?: (?:${SOFT}))+ `, 'iu');

/** "I am also allergic to nuts" → "am allergic to nuts" */
function predicateOf(clause: string): string {
  return clause.replace(/^I /u, '').replace(SOFT_FIRST, '').replace(SOFT_SECOND, '$1 ');
}

const ANY_MORE = / (?:any ?more|any longer)\b/iu;
const NO_LONGER = /^(?:no longer|am no longer|have stopped|stopped|gave up|quit(?= \w+ing)) /iu;

function denialIn(predicate: string): Denial | null {
  if (NO_LONGER.test(predicate)) return 'no longer';
  if (!/^(?:do|am|can) not (?!only |stand |bear )/iu.test(predicate)) return null;
  return ANY_MORE.test(predicate) ? 'no longer' : 'not';
}

/** A denial turned into what it denies: "do not like tea any more" → "like tea" */
function affirmed(predicate: string): string {
  return predicate
    .replace(/^am (?:not|no longer) /iu, 'am ')
    .replace(/^can not /iu, 'can ')
    .replace(/^(?:do not|no longer) /iu, '')
    .replace(/^(?:have stopped|stopped|gave up|quit) (\w+)/iu, (_all, gerund: string) => fromGerund(gerund))
    .replace(/^((?:have|own|eat|drink|like|speak) )any /iu, '$1')
    .replace(ANY_MORE, '');
}

function each(dated: Dated, change: (text: string) => string): Dated {
  const { raw, without, labelled, validFrom } = dated;
  return { raw: change(raw), without: change(without), labelled: change(labelled), validFrom };
}
