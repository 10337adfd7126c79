import { CommandError, EXIT } from '../exit.ts';

/** A memory as another system kept it, ready to be posted as a batch of its own. */
export interface ImportedMemory {
  readonly id: string;
  readonly text: string;
  readonly ids: Readonly<Record<string, string>>;
  readonly saidAt: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields of mem0's own that are no metadata of the user. */
const OWN = new Set(
  'id memory data text hash user_id agent_id run_id app_id actor_id role created_at updated_at metadata score categories owner immutable expiration_date text_lemmatized attributed_to'.split(
    ' ',
  ),
);

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
  const at = item.updated_at ?? item.created_at;
  const id = typeof item.id === 'string' || typeof item.id === 'number' ? String(item.id) : '';
  return { id, text, ids, saidAt: momentIn(at), metadata: metadataOf(item) };
}

const isFields = (item: unknown): item is Fields => typeof item === 'object' && item !== null && !Array.isArray(item);

function idsOf(item: Fields): Record<string, string> {
  const names = ['user_id', 'agent_id', 'run_id', 'app_id'];
  const given = names.flatMap((name) => {
    const id = item[name];
    return typeof id === 'string' && id !== '' ? [[name, id] as const] : [];
  });
  return Object.fromEntries(given);
}

function momentIn(at: unknown): string | null {
  const time = typeof at === 'string' || typeof at === 'number' ? new Date(at).getTime() : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** In a collection the user's own fields stand beside mem0's. */
function metadataOf(item: Fields): Fields {
  const beside = Object.fromEntries(Object.entries(item).filter(([name, value]) => !OWN.has(name) && value !== null));
  return { ...beside, ...(isFields(item.metadata) ? item.metadata : {}) };
}
