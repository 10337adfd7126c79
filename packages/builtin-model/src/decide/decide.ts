import type { JsonObject } from '@slowwave/engine';
import { listOf, objectOf, textOf } from '../shapes.ts';
import { type Relation, relationOf } from './compare.ts';
import { isMeant, isWish } from './forget.ts';
import { type Statement, statementOf } from './statement.ts';

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
