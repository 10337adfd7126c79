import { CommandError, EXIT } from '../exit.ts';

/** A memory as another system kept it, ready to be posted as a batch of its own. */
export interface ImportedMemory {
  readonly id: string;
  readonly text: string;
  readonly ids: Readonly<Record<string, string>>;
  readonly saidAt: string | null;
  readonly expiresAt: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields of mem0's own that are no metadata of the user. Its Python writes them so, its JavaScript in camel case. */
const OWN = new Set(
  'id memory data text hash user_id agent_id run_id app_id actor_id role created_at updated_at metadata score categories owner immutable expiration_date text_lemmatized attributed_to'.split(
    ' ',
  ),
);

/** In either spelling: createdAt is created_at. */
const spelt = (name: string): string => name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);

const fieldOf = (item: Fields, name: string): unknown =>
  item[name] ?? item[name.replaceAll(/_(.)/gu, (_, letter: string) => letter.toUpperCase())];

/**
 * mem0's memories, whether from its API or from the payloads of its collection. All of them are looked at before any is
 * used: a mistake in the last one must not leave half of them imported.
 */
export function memoriesOf(items: readonly unknown[], usualUser: string | null): ImportedMemory[] {
  const mistakes: string[] = [];
  const memories = items.flatMap((item, i) => {
    const read = memoryOf(item, usualUser);
    if (typeof read !== 'string') return [read];
    mistakes.push(`  - number ${i + 1}: ${read}`);
    return [];
  });
  if (mistakes.length === 0) return memories;
  const shown = mistakes.slice(0, SHOWN_MAX).join('\n');
  throw new CommandError(
    `expected memories of mem0, ${mistakes.length} of ${items.length} cannot be used; nothing was imported:\n${shown}`,
    EXIT.failed,
  );
}

const SHOWN_MAX = 10;

function memoryOf(item: unknown, usualUser: string | null): ImportedMemory | string {
  if (!isFields(item)) return `expected an object, got ${JSON.stringify(item)?.slice(0, 80)}`;
  const text = [item.memory, item.data, item.text].find((one) => typeof one === 'string' && one.trim() !== '');
  if (typeof text !== 'string') return 'it has no text in memory, data or text';
  const ids = idsOf(item);
  if (ids.user_id === undefined && ids.agent_id === undefined && ids.run_id === undefined) {
    if (usualUser === null) return 'it names no user, agent or run; give --user for those without';
    ids.user_id = usualUser;
  }
  const at = fieldOf(item, 'updated_at') ?? fieldOf(item, 'created_at');
  const id = typeof item.id === 'string' || typeof item.id === 'number' ? String(item.id) : '';
  const expiresAt = dayAfter(fieldOf(item, 'expiration_date'));
  return { id, text, ids, saidAt: momentIn(at), expiresAt, metadata: metadataOf(item) };
}

const isFields = (item: unknown): item is Fields => typeof item === 'object' && item !== null && !Array.isArray(item);

function idsOf(item: Fields): Record<string, string> {
  const names = ['user_id', 'agent_id', 'run_id', 'app_id'];
  const given = names.flatMap((name) => {
    const id = fieldOf(item, name);
    return typeof id === 'string' && id !== '' ? [[name, id] as const] : [];
  });
  return Object.fromEntries(given);
}

function momentIn(at: unknown): string | null {
  const time = typeof at === 'string' || typeof at === 'number' ? new Date(at).getTime() : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** mem0 names the last day on which a memory holds. */
function dayAfter(day: unknown): string | null {
  const last = typeof day === 'string' ? momentIn(day) : null;
  return last === null ? null : new Date(Date.parse(last) + DAY_MS).toISOString();
}

const DAY_MS = 86_400_000;

/** In a collection the user's own fields stand beside mem0's. */
function metadataOf(item: Fields): Fields {
  const beside = Object.fromEntries(
    Object.entries(item).filter(([name, value]) => !OWN.has(spelt(name)) && value !== null),
  );
  return { ...beside, ...(isFields(item.metadata) ? item.metadata : {}) };
}
