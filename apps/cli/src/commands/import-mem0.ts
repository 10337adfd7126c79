import { readFile } from 'node:fs/promises';
import type { Call, Command } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { tracked } from '../output.ts';
import { type Fact, type Fields, isFields } from '../sources/found.ts';
import { factBatch, postAll } from '../sources/post.ts';

export const importMem0Command: Command = {
  name: 'import mem0',
  usage: '[file]',
  writes: true,
  summary: 'Import memories from mem0: from a file, or from its collection in Qdrant.',
  about: `The file is a response or an export of mem0's API: JSON with a list of memories, or one memory per
line. Each memory is stored verbatim, with its metadata and owner, as said when mem0 last changed
it; no model is used. New batches take precedence. A memory that is already imported is skipped, so you
can run it as often as you like.`,
  options: {
    qdrant: { value: 'URL', about: 'Read from Qdrant instead of a file,' },
    collection: { value: 'NAME', about: 'from this collection. Default: mem0 (its JavaScript version uses memories).' },
    'qdrant-key': { value: 'KEY', about: 'API key of Qdrant.' },
    user: { value: 'ID', about: 'Owner of memories without a user, agent or run.' },
    'dry-run': { value: null, about: 'Only check them.' },
  },
  run: async (call) => {
    const memories = memoriesOf(await itemsOf(call), call.given.text('user'));
    const found = memories.length;
    if (call.given.flag('dry-run')) return { value: { found }, text: `${found} memories can be imported.` };
    const known = await tracked(call.out, { title: 'import', unit: 'memories' }, ({ update }) => {
      const batches = memories.map((memory) => factBatch('mem0', memory));
      return postAll(call, batches, (done) => update(done, found));
    });
    const imported = found - known;
    const again = known === 0 ? '' : `, ${known} were already known`;
    return {
      value: { found, imported, known },
      text: `${imported} memories were imported${again}; they will be searchable shortly.`,
    };
  },
};

function itemsOf({ given, cancel }: Call): Promise<readonly unknown[]> {
  const [file] = given.words;
  const url = given.text('qdrant');
  if ((file === undefined) === (url === null))
    throw new UsageError('expected either a file or --qdrant', 'import mem0');
  if (file !== undefined) return itemsInFile(file);
  const collection = given.text('collection') ?? 'mem0';
  return itemsInCollection({ url: url ?? '', collection, apiKey: given.text('qdrant-key') }, cancel);
}

/** The items of a file: a JSON list, an object with a list in it, or one JSON value a line. */
export async function itemsInFile(path: string): Promise<readonly unknown[]> {
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new CommandError(`could not read the file: ${cause.message}`, EXIT.notFound);
  });
  const whole = jsonIn(path, text);
  if (Array.isArray(whole)) return whole;
  const list = ['memories', 'results', 'data']
    .map((name) => (whole as Record<string, unknown>)?.[name])
    .find(Array.isArray);
  if (list !== undefined) return list;
  throw new CommandError(
    `expected a list of memories in ${path}, on its own or as memories, results or data, got none`,
    EXIT.failed,
  );
}

/** What a file has: JSON as a whole, or one value per line. */
export function jsonIn(path: string, text: string): unknown {
  const whole = parsed(text);
  return whole === undefined ? lines(path, text) : whole;
}

function lines(path: string, text: string): unknown[] {
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    const value = parsed(line);
    if (value !== undefined) return [value];
    throw new CommandError(`expected JSON in ${path}, as a whole or per line; line ${i + 1} is not JSON`, EXIT.failed);
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

/** The payloads of a collection, with the ids of their points. Its vectors are of another model and not read. */
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
    throw new CommandError(`could not reach Qdrant at ${url}: ${cause.message}`, EXIT.unavailable);
  });
  if (answer.ok) return (await answer.json()) as Page;
  const said = (await answer.text()).slice(0, 300);
  const code = answer.status === 404 ? EXIT.notFound : EXIT.failed;
  throw new CommandError(`expected the collection ${collection} at ${url}, got status ${answer.status}: ${said}`, code);
}

/** mem0's own fields, which are not metadata of the user. Its Python version writes them like this, its JavaScript version in camel case. */
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
 * Memories from mem0's API or from the payloads of its collection. All of them are checked before any is imported: a
 * mistake in the last one must not leave half of them imported.
 */
export function memoriesOf(items: readonly unknown[], usualUser: string | null): Fact[] {
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
    `${mistakes.length} of ${items.length} items are not valid memories of mem0; nothing was imported:\n${shown}`,
    EXIT.failed,
  );
}

const SHOWN_MAX = 10;

function memoryOf(item: unknown, usualUser: string | null): Fact | string {
  if (!isFields(item)) return `expected an object, got ${JSON.stringify(item)?.slice(0, 80)}`;
  const text = [item.memory, item.data, item.text].find((one) => typeof one === 'string' && one.trim() !== '');
  if (typeof text !== 'string') return 'expected a text in memory, data or text, got none';
  const ids = idsOf(item);
  if (ids.user_id === undefined && ids.agent_id === undefined && ids.run_id === undefined) {
    if (usualUser === null) return 'expected a user, agent or run, got none; set --user for such memories';
    ids.user_id = usualUser;
  }
  const at = fieldOf(item, 'updated_at') ?? fieldOf(item, 'created_at');
  const id = typeof item.id === 'string' || typeof item.id === 'number' ? String(item.id) : '';
  const expiresAt = dayAfter(fieldOf(item, 'expiration_date'));
  return { id, text, ids, at: momentIn(at), expiresAt, metadata: metadataOf(item) };
}

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

/** mem0 stores the last day on which a memory is valid. */
function dayAfter(day: unknown): string | null {
  const last = typeof day === 'string' ? momentIn(day) : null;
  return last === null ? null : new Date(Date.parse(last) + DAY_MS).toISOString();
}

const DAY_MS = 86_400_000;

/** In a collection the user's fields are next to mem0's. */
function metadataOf(item: Fields): Fields {
  const beside = Object.fromEntries(
    Object.entries(item).filter(([name, value]) => !OWN.has(spelt(name)) && value !== null),
  );
  return { ...beside, ...(isFields(item.metadata) ? item.metadata : {}) };
}
