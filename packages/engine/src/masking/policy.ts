import type { NewBatch } from '../ports/ledger/batches.ts';
import type { PersonalPolicy } from '../settings.ts';
import { type BatchSettings, type Content, isWithheld, type Json, type JsonObject, type Withheld } from '../words.ts';
import { maskPersonal } from './personal.ts';

/**
 * A batch as the tenant's policy lets it be stored. Nothing that comes after knows what was there: not the ledger, not a
 * model, not a memory. What it is known by when it is sent again was made of what was sent, and stays.
 */
export function withPolicy(batch: NewBatch, policy: PersonalPolicy): NewBatch {
  if (policy === 'off') return batch;
  const messages = batch.messages.map((message) => ({
    ...message,
    content: contentKept(message.content, policy),
    name: masked(message.name),
  }));
  return { ...batch, messages, metadata: metadataKept(batch.metadata), settings: settingsKept(batch.settings) };
}

/** The values, however deep; keys are the caller's program's, and are kept as they are. */
export const metadataKept = (metadata: JsonObject): JsonObject =>
  // Not by assignment: a key may be called __proto__.
  Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, valueKept(value)]));

function valueKept(value: Json): Json {
  if (typeof value === 'string') return maskPersonal(value).text;
  if (Array.isArray(value)) return value.map(valueKept);
  return typeof value === 'object' && value !== null ? metadataKept(value as JsonObject) : value;
}

const settingsKept = (settings: BatchSettings): BatchSettings => ({
  ...settings,
  instructions: masked(settings.instructions),
  includes: masked(settings.includes),
  excludes: masked(settings.excludes),
});

/** What stands beside the contents is masked under both policies: there is no message to drop for it. */
const masked = (text: string | null): string | null => (text === null ? null : maskPersonal(text).text);

/** A message's place stays, so that order and ids do, also where nothing of it is kept. */
function contentKept(content: Content, policy: 'mask' | 'drop'): Content {
  if (typeof content === 'string') {
    const { text, kinds } = maskPersonal(content);
    return policy === 'drop' && kinds.length > 0 ? withheldFor(kinds) : text;
  }
  if (isWithheld(content)) return content;
  const parts = content.map((part) =>
    part.type === 'text' ? { part, ...maskPersonal(part.text) } : { part, text: '', kinds: [] },
  );
  const kinds = parts.flatMap((one) => one.kinds);
  if (policy === 'drop' && kinds.length > 0) return withheldFor(kinds);
  return parts.map(({ part, text }) => (part.type === 'text' ? { ...part, text } : part));
}

const withheldFor = (kinds: readonly string[]): Withheld => ({ withheld: 'personal_data', kinds: [...new Set(kinds)] });
