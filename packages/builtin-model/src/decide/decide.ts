import type { JsonObject } from '@slowwave/engine';
import { listOf, objectOf, textOf } from '../input.ts';
import { type Slot, type Statement, statementOf } from './statement.ts';

/** A memory shown, or what an earlier fact of the same call made of one. */
interface Known {
  readonly id: string;
  readonly text: string;
  readonly statement: Statement;
}
interface Operation extends JsonObject {
  fact: string;
  event: 'ADD' | 'UPDATE' | 'DELETE' | 'NONE';
  id: string | null;
  text: string | null;
  reason: string;
  keep: boolean;
}

/** What each fact does to what is known, in the order they were said. */
export function decideOperations(input: JsonObject): JsonObject {
  const known = listOf(input.memories)
    .map(objectOf)
    .map((memory) => knownAs(idOf(memory), textOf(memory.text)));
  const operations = listOf(input.facts)
    .map(objectOf)
    .flatMap((fact) => decide(knownAs(idOf(fact), textOf(fact.text)), known));
  return { operations };
}

const idOf = ({ id }: JsonObject): string => (typeof id === 'number' ? String(id) : textOf(id));
const knownAs = (id: string, text: string): Known => ({ id, text, statement: statementOf(text) });

/** The operations of one fact; `known` becomes what holds after it. */
function decide(fact: Known, known: Known[]): readonly Operation[] {
  if (isWish(fact.text)) return forget(fact, known);
  const relations = known.map((memory) => ({ memory, relation: relate(fact, memory) }));
  const having = (...wanted: Relation[]) =>
    relations.filter(({ relation }) => wanted.includes(relation)).map(({ memory }) => memory);
  const same = having('same').at(0);
  if (same !== undefined) return [operation(fact, 'NONE', { id: same.id, reason: 'already known' })];
  const [old, ...older] = having('replaces', 'extends').reverse();
  const gone = [...having('contradicts'), ...older];
  const deletes = gone.map(({ id }) => operation(fact, 'DELETE', { id, reason: 'no longer so' }));
  remove(known, old === undefined ? gone : [...gone, old]);
  known.push(fact);
  if (old === undefined) return [...deletes, operation(fact, 'ADD', { text: fact.text, reason: 'new' })];
  return [operation(fact, 'UPDATE', { id: old.id, text: fact.text, reason: 'supersedes a memory' }), ...deletes];
}

function relate(fact: Known, memory: Known): Relation {
  return normal(fact.text) === normal(memory.text) ? 'same' : relationOf(fact.statement, memory.statement);
}

const normal = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[\s.。!！]+/gu, ' ')
    .trim();

/** A wish ends what it means, and is kept by nobody. */
function forget(wish: Known, known: Known[]): readonly Operation[] {
  const meant = known.filter(({ text }) => isMeant(wish.text, text));
  remove(known, meant);
  if (meant.length === 0) return [operation(wish, 'DELETE', { reason: 'nothing known to forget', keep: false })];
  return meant.map(({ id }) => operation(wish, 'DELETE', { id, reason: 'the user asked to forget it', keep: false }));
}

function remove(known: Known[], gone: readonly Known[]): void {
  for (const memory of gone) known.splice(known.indexOf(memory), 1);
}

function operation(
  fact: Known,
  event: Operation['event'],
  rest: Partial<Omit<Operation, 'fact' | 'event'>>,
): Operation {
  return { fact: fact.id, event, id: null, text: null, reason: '', keep: true, ...rest };
}

/** How the extraction marks a wish to forget: the fact or thing to forget follows. */
export const FORGET = 'User wants it forgotten: ';
export const FORGET_IN_CHINESE = '用户希望忘记：';

const isWish = (text: string): boolean => text.startsWith(FORGET) || text.startsWith(FORGET_IN_CHINESE);

/** Whether a memory is what a wish wants forgotten. */
function isMeant(wish: string, memory: string): boolean {
  const what = wish.replace(FORGET, '').replace(FORGET_IN_CHINESE, '');
  const [wanted, known] = [statementOf(what), statementOf(memory)];
  if (!/^User's [\w -]+$/iu.test(what) || / (?:is|are) /u.test(what)) {
    const relation = relationOf(wanted, known);
    if (relation === 'same' || relation === 'extends') return true;
  }
  return known.slots.some(({ attribute }) => isAbout(what, attribute)) || holdsAll(what, memory);
}

/** What people call the attributes. */
const CALLED: Readonly<Record<string, RegExp>> = {
  name: /^User's (?:full |first )?name$|^名字$/iu,
  age: /\bage$|^年龄$/iu,
  birthday: /\bbirthday$|^生日$/iu,
  'birth date': /\b(?:birthday|date of birth|birth date)$|^(?:生日|出生日期)$/iu,
  residence: /\b(?:address|home|home town|city|location|residence|where I live)$|^(?:地址|住址|住处|住的地方|家)$/iu,
  employer: /\b(?:employer|work|job|company|workplace)$|^(?:工作|公司|单位)$/iu,
  job: /\b(?:job|profession|occupation|work)$|^(?:工作|职业)$/iu,
  allergy: /\ballerg(?:y|ies)$|^(?:过敏|过敏史)$/iu,
  diet: /\bdiet$|^饮食$/iu,
  'marital state': /\b(?:marriage|marital status|relationship)$|^(?:婚姻|婚姻状况)$/iu,
};

function isAbout(what: string, attribute: string): boolean {
  const [, whose, kind] = /^User's (.+)'s (name|age|residence)$/u.exec(what) ?? [];
  return attribute === `${kind} of ${whose}` || (CALLED[attribute]?.test(what) ?? false);
}

/** Every word of the thing is in the memory: "User's dog" in "User has a dog named Rex". */
function holdsAll(what: string, memory: string): boolean {
  if (/\p{Script=Han}/u.test(what)) return memory.includes(what);
  const known = new Set(wordsOf(memory.replace(/'s\b/gu, '')));
  const words = wordsOf(what.replace(/'s\b/gu, '')).filter((word) => word !== 'user');
  return words.length > 0 && words.every((word) => known.has(word));
}

/** How a new statement stands to a known one. */
type Relation = 'same' | 'extends' | 'replaces' | 'contradicts' | 'apart';

function relationOf(fact: Statement, memory: Statement): Relation {
  const pairs = fact.slots.flatMap((slot) => {
    const known = memory.slots.find(({ attribute }) => attribute === slot.attribute);
    return known === undefined ? [] : [{ slot, known }];
  });
  if (pairs.length === 0) return 'apart';
  if (fact.positive !== memory.positive) return opposition(fact, pairs);
  if (!fact.positive) return pairs.every(({ slot, known }) => equal(slot, known)) ? 'same' : 'apart';
  return agreement(fact, pairs);
}

interface Pair {
  readonly slot: Slot;
  readonly known: Slot;
}

/** A denial and what it denies exclude each other; where one thing holds, an earlier denial of another says no more. */
function opposition(fact: Statement, pairs: readonly Pair[]): Relation {
  if (pairs.every(({ slot, known }) => (fact.positive ? meets(known, slot) : meets(slot, known)))) return 'contradicts';
  return fact.positive && pairs.every(({ slot }) => slot.single) ? 'replaces' : 'apart';
}

function agreement(fact: Statement, pairs: readonly Pair[]): Relation {
  if (pairs.some(({ slot, known }) => !within(slot, known) && !within(known, slot))) {
    return pairs.some(({ slot }) => slot.single) ? 'replaces' : 'apart';
  }
  const says = fact.slots.length > pairs.length || pairs.some(({ slot, known }) => !within(slot, known));
  const widens = pairs.every(({ slot }) => slot.single || slot.attribute === 'having');
  if (pairs.every(({ slot, known }) => equal(slot, known)) && fact.slots.length === pairs.length) return 'same';
  if (!widens) return 'apart';
  return says ? 'extends' : 'same';
}

/**
 * A denial meets what it denies: exactly; by its gist where only one value can hold ("not married"); and what begins or ends
 * with its words ("tennis" in "tennis every Tuesday", "Vespa" in "red Vespa"), likings apart: who hates milk may like milk rice.
 */
function meets(denied: Slot, held: Slot): boolean {
  if (equal(denied, held) || (denied.single && (within(denied, held) || within(held, denied)))) return true;
  if (/\p{Script=Han}/u.test(denied.value))
    return !/^(?:liking|allergy)$/u.test(denied.attribute) && held.value.includes(denied.value);
  const [some, all] = [wordsOf(denied.value), wordsOf(held.value)];
  const covers = [all.slice(0, some.length), all.slice(-some.length)].some((part) => part.join(' ') === some.join(' '));
  return !/^(?:liking|allergy)$/u.test(denied.attribute) && (some.length === 0 || covers || all.length === 0);
}

const equal = (a: Slot, b: Slot): boolean => wordsOf(a.value).join(' ') === wordsOf(b.value).join(' ');

/** Whether every word of one is in the other: "oslo" within "oslo, norway". */
function within(a: Slot, b: Slot): boolean {
  if (/\p{Script=Han}/u.test(a.value + b.value)) return b.value.includes(a.value);
  const words = new Set(wordsOf(b.value));
  return wordsOf(a.value).every((word) => words.has(word));
}

const IDLE = new Set('a an the their my to very really now some named called one'.split(' '));

/** The words of a value that make it what it is, singular. */
function wordsOf(value: string): readonly string[] {
  const words = value.toLowerCase().split(/[^\p{L}\p{N}+#@.'-]+/u);
  return words.filter((word) => word !== '' && !IDLE.has(word)).map(singular);
}

function singular(word: string): string {
  if (word.length < 4 || /(?:ss|us|is)$/u.test(word)) return word;
  return word
    .replace(/ies$/u, 'y')
    .replace(/(?<=[^aeiou]o|sh|ch|x)es$/u, '')
    .replace(/s$/u, '');
}
