import { lemmaOf } from '../extract/english/verbs.ts';
import { chineseSlots } from './chinese.ts';
import { englishSlots } from './english.ts';

/** One thing a statement says: which attribute has which value. */
export interface Slot {
  readonly attribute: string;
  readonly value: string;
  /** Only one value can hold at a time. */
  readonly single: boolean;
}

export interface Statement {
  readonly slots: readonly Slot[];
  readonly positive: boolean;
}

/** A statement taken apart, whoever wrote it: "User no longer lives in Oslo" denies residence = oslo. */
export function statementOf(text: string): Statement {
  const plain = text.trim().replace(/[.。!！\s]+$/u, '');
  return /\p{Script=Han}/u.test(plain) ? chinese(plain) : english(plain);
}

const DENIAL = /\b(?:never|no longer|cannot)\b|\b(?:is|are|was|can|has|have|does|do|am) not /iu;

/** Who left Acme no longer works there; who left Oslo no longer lives there. */
const LEAVABLE = ['employer', 'residence'];

function english(text: string): Statement {
  const said = text
    .replace(/^(?:the )?user(?='s| )/iu, '')
    .replace(/^\s*(?:I|my)\b/iu, (subject) => (/my/iu.test(subject) ? "'s" : ''))
    .replace(/(?:n't)\b/gu, ' not')
    .trim();
  const opinion =
    /^(?:(?:no longer|does not|do not) )?(?:hates?|dislikes?|detests?|likes?|loves?|enjoys?|adores?)\b/iu.test(said);
  if (opinion) return likingOf(said);
  const left = /^left (?<value>.+)$/iu.exec(said)?.groups?.value?.toLowerCase();
  if (left !== undefined)
    return { slots: LEAVABLE.map((attribute) => ({ attribute, value: left, single: false })), positive: false };
  const positive = !DENIAL.test(said);
  const affirmed = said
    .replace(/\b(?:does|do) not (\w+)/iu, '$1')
    .replace(/\b(?:no longer|never|not) /iu, '')
    .replace(/\bcannot\b/iu, 'can');
  return { slots: englishSlots(inLemma(affirmed)), positive };
}

/** Likes and dislikes are two sides of one attribute. */
function likingOf(said: string): Statement {
  const denied = /^(?:no longer|does not|do not) /iu.test(said);
  const rest = said.replace(/^(?:no longer|does not|do not) /iu, '');
  const negative = /^(?:hate|dislike|detest)/iu.test(rest);
  const value = rest.replace(/^\w+ (?:to )?/u, '');
  return { slots: [{ attribute: 'liking', value: value.toLowerCase(), single: false }], positive: denied === negative };
}

/** "lives in Oslo" → "live in Oslo" */
function inLemma(text: string): string {
  const [first = '', ...rest] = text.split(' ');
  return [lemmaOf(first.toLowerCase()), ...rest].join(' ');
}

function chinese(text: string): Statement {
  const said = text.replace(/^(?:用户|我)(?:的)?/u, '');
  const inner = said.replace(/^(对.+?)不(过敏)$/u, '$1$2');
  const denied = /^(?:不再|再也不|不是|不|没有)/u.exec(inner)?.[0] ?? '';
  const affirmed = inner.slice(denied === '不是' ? 1 : denied.length);
  const disliked = /^(?:讨厌|厌恶|受不了|害怕|怕)/u.test(affirmed);
  const positive = (denied === '' && inner === said) !== disliked;
  return { slots: chineseSlots(affirmed), positive };
}
