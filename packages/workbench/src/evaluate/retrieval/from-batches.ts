import { asObject, type Fields, listOf, momentOf, textOf, WorldError } from '../world.ts';
import type { AskedQuestion, Corpus, SaidMessage, Session } from './corpus.ts';

/** The user of a file that names none. */
const ONE_USER = 'user';

/** The form of ./scripts/evaluate: batches of messages, questions with goldTexts. */
export function fromBatches(file: Fields): Corpus {
  const sessions = listOf(file.batches, 'batches').map(sessionOf);
  return {
    name: typeof file.name === 'string' ? file.name : 'unnamed',
    conversations: [{ user: ONE_USER, sessions }],
    questions: listOf(file.questions, 'questions').flatMap(questionOf),
  };
}

function sessionOf(given: unknown, i: number): Session {
  const where = `batches[${i}]`;
  const batch = asObject(given, where);
  const messages = listOf(batch.messages, `${where}.messages`).map((message, j) =>
    messageOf(message, `${where}.messages[${j}]`),
  );
  return { at: momentOf(batch.at, `${where}.at`), messages };
}

/** One message of any form that has role, name, content and timestamp. */
export function messageOf(given: unknown, where: string): SaidMessage {
  const { role, name, content, timestamp } = asObject(given, where);
  return {
    role: roleOf(role, `${where}.role`),
    name: name === undefined || name === null ? null : textOf(name, `${where}.name`),
    content: textOf(content, `${where}.content`),
    at: momentOf(timestamp, `${where}.timestamp`),
  };
}

function roleOf(role: unknown, where: string): SaidMessage['role'] {
  if (role === undefined) return 'user';
  if (role === 'user' || role === 'assistant') return role;
  throw new WorldError(`expected ${where} to be user or assistant, got ${JSON.stringify(role)}`);
}

/** A question without gold texts is not asked: nothing says whether anything answers it. */
function questionOf(given: unknown, i: number): AskedQuestion[] {
  const where = `questions[${i}]`;
  const { q, goldTexts } = asObject(given, where);
  const gold = listOf(goldTexts ?? [], `${where}.goldTexts`).map((text, j) => textOf(text, `${where}.goldTexts[${j}]`));
  const asked = { user: ONE_USER, text: textOf(q, `${where}.q`), gold: [...new Set(gold)], category: null };
  return gold.length === 0 ? [] : [{ ...asked, answerable: true }];
}
