import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Ask, withApi } from '../api.ts';
import type { Call, Command } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';

export const importMem0Command: Command = {
  name: 'import mem0',
  usage: '[file]',
  words: [0, 1],
  on: 'server or ledger',
  summary: 'Import memories from mem0: from a file, or from its collection in Qdrant.',
  about: `The file is what mem0's API or its export answered: JSON with a list of memories, or one
memory a line. Each becomes a memory word for word, said when mem0 last changed it, with its
metadata and its owner; no model is asked. They come in behind what is posted meanwhile. Once
imported, a memory is never imported again: run it as often as you like.`,
  options: {
    qdrant: { value: 'URL', about: 'Read from Qdrant instead of a file…' },
    collection: { value: 'NAME', about: '…from this collection (mem0; its JavaScript calls it memories).' },
    'qdrant-key': { value: 'KEY', about: '…with this key.' },
    user: { value: 'ID', about: 'Owner of memories that have no user, agent or run.' },
    'dry-run': { value: null, about: 'Only check them.' },
  },
  run: async (call) => {
    const memories = memoriesOf(await itemsOf(call), call.given.text('user'));
    if (call.given.flag('dry-run')) {
      call.out.answer({ found: memories.length }, `${memories.length} memories can be imported.`);
      return EXIT.done;
    }
    const counts = await withApi(call, { writes: true }, (ask) => post(call, ask, memories));
    const again = counts.known === 0 ? '' : `, ${counts.known} were known already`;
    call.out.answer(
      { found: memories.length, ...counts },
      `${counts.imported} memories are imported${again}; they can be searched shortly.`,
    );
    return EXIT.done;
  },
};

function itemsOf({ given, cancel }: Call): Promise<readonly unknown[]> {
  const [file] = given.words;
  const url = given.text('qdrant');
  if ((file === undefined) === (url === null))
    throw new UsageError('expected a file, or --qdrant; not both', 'import mem0');
  if (file !== undefined) return itemsInFile(file);
  const collection = given.text('collection') ?? 'mem0';
  return itemsInCollection({ url: url ?? '', collection, apiKey: given.text('qdrant-key') }, cancel);
}

interface Counts {
  readonly imported: number;
  readonly known: number;
}

async function post({ out, cancel }: Call, ask: Ask, memories: readonly ImportedMemory[]): Promise<Counts> {
  const progress = out.progress({ title: 'import', unit: 'memories' });
  let known = 0;
  try {
    for (const [i, memory] of memories.entries()) {
      cancel.throwIfAborted();
      const answer = await ask<{ batch_id?: string; state: string }>({
        method: 'POST',
        path: '/v1/batches',
        body: batchOf(memory),
      });
      if (answer.state !== 'pending') known += 1;
      progress.update(i + 1, memories.length);
    }
  } finally {
    progress.stop();
  }
  return { imported: memories.length - known, known };
}

/** Verbatim, and counted once however often it is sent: the key follows from the memory. */
const batchOf = (memory: ImportedMemory): object => ({
  ...memory.ids,
  mode: 'verbatim',
  priority: 'backfill',
  messages: [{ role: 'user', content: memory.text, ...(memory.saidAt !== null && { timestamp: memory.saidAt }) }],
  metadata: memory.metadata,
  ...(memory.expiresAt !== null && { expires_at: memory.expiresAt }),
  idempotency_key: `mem0:${keyOf(memory)}`,
});

const keyOf = ({ id, text, ids, saidAt }: ImportedMemory): string =>
  createHash('sha256')
    .update(JSON.stringify([id, ids, saidAt, text]))
    .digest('hex');

/** The items of a file: a JSON list, an object with a list in it, or one JSON value a line. */
async function itemsInFile(path: string): Promise<readonly unknown[]> {
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new CommandError(`expected a file to read, got ${cause.message}`, EXIT.notFound);
  });
  const whole = parsed(text);
  if (whole === undefined) return lines(path, text);
  if (Array.isArray(whole)) return whole;
  const list = ['memories', 'results', 'data']
    .map((name) => (whole as Record<string, unknown>)?.[name])
    .find(Array.isArray);
  if (list !== undefined) return list;
  throw new CommandError(
    `expected ${path} to have a list of memories, also in memories or results; it has none`,
    EXIT.failed,
  );
}

function lines(path: string, text: string): unknown[] {
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    const value = parsed(line);
    if (value !== undefined) return [value];
    throw new CommandError(`expected ${path} to be JSON, or JSON in each line; line ${i + 1} is not`, EXIT.failed);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface CollectionPlace {
  readonly url: string;
  readonly collection: string;
  readonly apiKey: string | null;
}

const POINTS_PER_PAGE = 256;

interface Page {
  readonly result?: {
    readonly points: readonly { readonly id: string | number; readonly payload?: object | null }[];
    readonly next_page_offset?: string | number | null;
  };
}

/** The payloads of a collection, with the ids of their points. Its vectors are another model's, and are left. */
async function itemsInCollection(place: CollectionPlace, cancel: AbortSignal): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  let offset: string | number | null = null;
  do {
    const page = await pageAt(place, offset, cancel);
    items.push(...(page.result?.points ?? []).map(({ id, payload }) => ({ ...payload, id })));
    offset = page.result?.next_page_offset ?? null;
  } while (offset !== null);
  return items;
}

async function pageAt(place: CollectionPlace, offset: string | number | null, signal: AbortSignal): Promise<Page> {
  const { url, collection, apiKey } = place;
  const at = `${url.replace(/\/+$/, '')}/collections/${encodeURIComponent(collection)}/points/scroll`;
  const headers = { 'content-type': 'application/json', ...(apiKey !== null && { 'api-key': apiKey }) };
  const body = JSON.stringify({
    limit: POINTS_PER_PAGE,
    with_payload: true,
    with_vector: false,
    ...(offset !== null && { offset }),
  });
  const answer = await fetch(at, { method: 'POST', headers, body, signal }).catch((cause: Error) => {
    throw new CommandError(`expected Qdrant at ${url}, could not reach it: ${cause.message}`, EXIT.unavailable);
  });
  if (answer.ok) return (await answer.json()) as Page;
  const said = (await answer.text()).slice(0, 300);
  const code = answer.status === 404 ? EXIT.notFound : EXIT.failed;
  throw new CommandError(`expected the collection ${collection} at ${url}, got status ${answer.status}: ${said}`, code);
}

/** A memory as another system kept it, ready to be posted as a batch of its own. */
interface ImportedMemory {
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
