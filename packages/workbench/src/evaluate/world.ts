import { cleanText } from '@slowwave/engine';

/** A conversation with a known outcome: what is said, batch by batch, what holds at the end, and questions about that. */
export interface World {
  readonly name: string;
  readonly batches: readonly WorldBatch[];
  /** The texts that hold when all is said. */
  readonly gold: readonly string[];
  readonly questions: readonly Question[];
}

export interface WorldBatch {
  readonly id: string;
  /** ISO 8601; null: said when it is posted. */
  readonly at: string | null;
  readonly messages: readonly WorldMessage[];
}

interface WorldMessage {
  readonly id: string | null;
  readonly role: string;
  readonly content: string;
}

export interface Question {
  readonly text: string;
  /** Any of these answers it. */
  readonly gold: readonly string[];
}

/** Reads {"name","batches":[{"batchId","at","messages":[{"id","role","content"}]}],"goldFinal":[…],"questions":[{"q","goldTexts"}]}. */
export function readWorld(json: string): World {
  const file = asObject(parsed(json), 'the file');
  const batches = listOf(file.batches, 'batches').map(batchOf);
  if (batches.length === 0) throw new WorldError('expected batches to have at least one batch, got an empty list');
  const gold = listOf(file.goldFinal, 'goldFinal').map((text, i) => textOf(text, `goldFinal[${i}]`));
  return {
    name: typeof file.name === 'string' ? file.name : 'unnamed',
    batches,
    gold,
    questions: listOf(file.questions ?? [], 'questions').flatMap(questionOf),
  };
}

function batchOf(given: unknown, i: number): WorldBatch {
  const where = `batches[${i}]`;
  const batch = asObject(given, where);
  const messages = listOf(batch.messages, `${where}.messages`).map((message, j) =>
    messageOf(message, `${where}.messages[${j}]`),
  );
  return { id: String(batch.batchId ?? i), at: momentOf(batch.at, `${where}.at`), messages };
}

function messageOf(given: unknown, where: string): WorldMessage {
  const { id, role, content } = asObject(given, where);
  return {
    id: typeof id === 'string' ? id : null,
    role: typeof role === 'string' ? role : 'user',
    content: textOf(content, `${where}.content`),
  };
}

/** A question without gold texts is answered by no single memory, and asked by no gate. */
function questionOf(given: unknown, i: number): Question[] {
  const where = `questions[${i}]`;
  const { q, goldTexts } = asObject(given, where);
  const gold = listOf(goldTexts ?? [], `${where}.goldTexts`).map((text, j) => textOf(text, `${where}.goldTexts[${j}]`));
  return gold.length === 0 ? [] : [{ text: textOf(q, `${where}.q`), gold }];
}

/** The file is not of the form. */
export class WorldError extends Error {}

export type Fields = Readonly<Record<string, unknown>>;

export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new WorldError(`expected JSON, got something else: ${error instanceof Error ? error.message : error}`);
  }
}

export function asObject(value: unknown, where: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new WorldError(`expected ${where} to be an object, got ${kindOf(value)}`);
}

export function listOf(value: unknown, where: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new WorldError(`expected ${where} to be a list, got ${kindOf(value)}`);
}

/** Cleaned the way every text is before it becomes a memory, so that texts can be compared as they are. */
export function textOf(value: unknown, where: string): string {
  if (typeof value === 'string' && value.trim() !== '') return cleanText(value).trim();
  throw new WorldError(`expected ${where} to be a text, got ${kindOf(value)}`);
}

/** As ISO 8601 in UTC; null where none is given. */
export function momentOf(value: unknown, where: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && !Number.isNaN(Date.parse(value))) return new Date(value).toISOString();
  throw new WorldError(`expected ${where} to be a moment in ISO 8601, got ${JSON.stringify(value)}`);
}

const kindOf = (value: unknown): string =>
  value === undefined ? 'nothing' : value === '' ? 'an empty text' : JSON.stringify(value).slice(0, 60);
