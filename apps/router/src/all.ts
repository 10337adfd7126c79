import { UnansweredError } from '@slowwave/adapters/cells';
import type { Cell } from '@slowwave/engine/cells';
import { problem } from '@slowwave/http';
import type { Merge } from './classes.ts';
import { type Answer, type Going, headersOf, type Made, PARTIAL_HEADER, type Routing } from './send.ts';

/** Cells that are lost, and those that did not answer, where the caller takes an answer without them. */
const MISSING_HEADER = 'x-slowwave-missing-cells';

/** What all cells answer together. */
export async function answerOfAll(going: Going, merge: Merge): Promise<Routing> {
  const cells = going.watched.book.cells();
  const [only] = cells;
  if (cells.length === 1 && only !== undefined && lostIn(going).length === 0) return going.to(only);
  return merge === 'list' ? walked(going, cells) : gathered(going, cells, merge);
}

/** Cells that are lost with owners who could be meant. */
const lostIn = ({ watched }: Going): string[] =>
  watched.book.lost().flatMap(({ name, state }) => (state === 'lost' ? [name] : []));

interface Body {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

async function bodyOf(answer: Answer): Promise<Body> {
  return { status: answer.statusCode, headers: headersOf(answer), text: await answer.body.text() };
}

/** Asks one cell; null: it does not answer, and the caller does without. */
async function bodyFrom(going: Going, cell: Cell, url?: string): Promise<Body | null> {
  try {
    return await bodyOf(await going.to(cell, url === undefined ? {} : { url }));
  } catch (error) {
    if (error instanceof UnansweredError && going.asked.headers[PARTIAL_HEADER] === 'true') return null;
    throw error;
  }
}

/** Asks all at once. What one refuses, all do: its answer is that of all. */
async function gathered(going: Going, cells: readonly Cell[], merge: Exclude<Merge, 'list'>): Promise<Made> {
  const isPaged = merge === 'groups';
  const bodies = await Promise.all(cells.map((cell) => (isPaged ? allPages(going, cell) : bodyFrom(going, cell))));
  const answered = bodies.filter((body) => body !== null);
  const missing = [...lostIn(going), ...cells.filter((_, i) => bodies[i] === null).map(({ name }) => name)];
  const refusal = answered.find(({ status }) => status >= FAILED);
  if (refusal !== undefined) return made(refusal, refusal.text, missing);
  const [like] = answered;
  if (like === undefined) throw problem('cell_unavailable', 'expected at least one cell to answer, got none');
  const values = answered.map(({ text }) => (text === '' ? null : JSON.parse(text)));
  return made(like, JSON.stringify(merge === 'groups' ? grouped(values) : summed(values)), missing);
}

const FAILED = 400;

function made(like: Body, text: string, missing: readonly string[]): Made {
  const headers = { ...like.headers, ...(missing.length === 0 ? {} : { [MISSING_HEADER]: missing.join(',') }) };
  return { statusCode: like.status, headers, text };
}

interface Page {
  readonly results: readonly unknown[];
  readonly next_cursor: string | null;
}

/** A list that is short, whole. */
async function allPages(going: Going, cell: Cell): Promise<Body | null> {
  let [like, results]: [Body | null, unknown[]] = [null, []];
  if (going.asked.query.get('format') === 'csv') throw onePage();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const body: Body | null = await bodyFrom(going, cell, urlWith(going, { cursor: cursor === '' ? null : cursor }));
    if (body === null || body.status >= FAILED) return body;
    like ??= body;
    const page = JSON.parse(body.text) as Page;
    results = [...results, ...page.results];
    cursor = page.next_cursor;
  }
  if (like === null) return null;
  return { ...like, text: JSON.stringify({ ...JSON.parse(like.text), results, next_cursor: null }) };
}

const onePage = () =>
  problem(
    'invalid_request',
    'tables from several cells can only be combined as JSON; omit format, or name one cell in the header x-slowwave-cell',
  );

interface Place {
  readonly cell: string;
  /** null: from its beginning. */
  readonly cursor: string | null;
}

/** A list that goes on in the next cell where one ends. */
async function walked(going: Going, cells: readonly Cell[]): Promise<Routing> {
  const { query } = going.asked;
  const given = query.get('cursor');
  const limit = query.has('limit') ? Number(query.get('limit')) : null;
  const [results, missing]: [unknown[], string[]] = [[], lostIn(going)];
  let like: Body | null = null;
  let place: Place | null = given === null ? { cell: cells[0]?.name ?? '', cursor: null } : placeIn(given);
  while (place !== null) {
    const read: PageOfCell = await pageAt(going, place, limit === null ? null : limit - results.length);
    if (read.body === null) missing.push(place.cell);
    else if (read.body.status >= FAILED) return made(read.body, read.body.text, missing);
    like ??= read.body;
    results.push(...read.page.results);
    place = placeAfter(cells, place, read.page.next_cursor);
    if (results.length >= (limit ?? 1)) break;
  }
  if (like === null) throw problem('cell_unavailable', 'expected at least one cell to answer, got none');
  const next_cursor = place === null ? null : Buffer.from(JSON.stringify(place)).toString('base64url');
  return made(like, JSON.stringify({ ...JSON.parse(like.text), results, next_cursor }), missing);
}

interface PageOfCell {
  /** null: the cell does not answer, and the caller does without. */
  readonly body: Body | null;
  readonly page: Page;
}

async function pageAt(going: Going, place: Place, limit: number | null): Promise<PageOfCell> {
  const cell = going.watched.book.cells().find(({ name }) => name === place.cell);
  if (cell === undefined) throw gone(place.cell);
  const changes = { cursor: place.cursor, ...(limit === null ? {} : { limit: String(limit) }) };
  const body = await bodyFrom(going, cell, urlWith(going, changes));
  const isPage = body !== null && body.status < FAILED;
  return { body, page: isPage ? (JSON.parse(body.text) as Page) : { results: [], next_cursor: null } };
}

function placeAfter(cells: readonly Cell[], { cell }: Place, cursor: string | null): Place | null {
  if (cursor !== null) return { cell, cursor };
  const next = cells[cells.findIndex(({ name }) => name === cell) + 1];
  return next === undefined ? null : { cell: next.name, cursor: null };
}

function urlWith({ asked }: Going, changes: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams(asked.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  return query.size === 0 ? asked.path : `${asked.path}?${query}`;
}

function placeIn(cursor: string): Place {
  try {
    const place = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Place;
    if (typeof place.cell === 'string' && (place.cursor === null || typeof place.cursor === 'string')) return place;
  } catch {
    // As below.
  }
  throw problem(
    'invalid_request',
    'expected cursor to be the next_cursor of the previous page, got something else; start again without a cursor',
  );
}

const gone = (cell: string) =>
  problem('invalid_request', `the list had reached cell ${cell}, which no longer exists; start again without a cursor`);

// What cells answer put together, so that it reads as if one had answered.

/** Not the sum, but the largest: how long something took or is waited for, and parts of a whole. */
const LARGEST = /(?:_ms|_at|share|ratio|rate|confidence|p\d+|most|max|rung|per_(?:day|call|batch))$/;
/** The oldest. */
const SMALLEST = /^(?:oldest|first|since|from)/;

/** Numbers are added, lists put one after the other, objects field by field; of what cannot be added, the first that says something. */
export function summed(values: readonly unknown[], name = ''): unknown {
  const said = values.filter((value) => value !== null && value !== undefined);
  const [first] = said;
  if (first === undefined) return null;
  if (typeof first === 'number') return ofNumbers(said as number[], name);
  if (typeof first === 'boolean') return said.some(Boolean);
  if (Array.isArray(first)) return said.flat();
  if (typeof first === 'object') {
    const names = new Set(said.flatMap((value) => Object.keys(value as object)));
    const fieldOf = (field: string) => said.map((value) => (value as Record<string, unknown>)[field]);
    return Object.fromEntries([...names].map((field) => [field, summed(fieldOf(field), field)]));
  }
  if (typeof first === 'string' && SMALLEST.test(name)) return [...(said as string[])].sort()[0];
  return first;
}

function ofNumbers(numbers: readonly number[], name: string): number {
  if (SMALLEST.test(name)) return Math.min(...numbers);
  if (LARGEST.test(name)) return Math.max(...numbers);
  return numbers.reduce((sum, number) => sum + number, 0);
}

type Fields = Readonly<Record<string, unknown>>;

/** Rows of the same day, model and so on become one. */
export function grouped(values: readonly unknown[]): unknown {
  const lists = values as readonly (Fields & { readonly results: readonly Fields[] })[];
  const rows = lists.flatMap(({ results }) => results);
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify(Object.entries(row).filter(([, value]) => typeof value === 'string' || value === null)),
  );
  return { ...lists[0], results: [...groups.values()].map((same) => summed(same)) };
}
