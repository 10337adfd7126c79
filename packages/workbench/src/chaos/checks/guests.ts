import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, read, readAll, searchAll } from '../api.ts';
import type { Oddity } from '../oddities.ts';
import type { Stage } from '../stage.ts';
import type { Story } from '../story.ts';
import type { Finding } from './finding.ts';

interface Live {
  readonly memory: string;
}

const searched = (user: string, query: string) => ({ user_id: user, query, top_k: 200, cut: 'none' });

/** What no embedder takes is found by its words, also by a question that no embedder takes. */
export async function checkWords({ urls }: Stage, { user, notes, facts }: Story, word: string): Promise<Finding[]> {
  const said = [...notes.filter(({ id }) => id !== null), ...facts].map(({ text }) => text);
  const must = said.filter((text) => text.includes(word));
  const { status, body } = await searchAll(urls.search, searched(user, `what is ${word}?`));
  if (status !== 200) return [{ kind: 'index', what: `a search of ${user} for "${word}" is answered with ${status}` }];
  const found = (body as { results: readonly Live[] }).results.map(({ memory }) => memory);
  const missing = must.filter((text) => !found.includes(text));
  if (missing.length === 0) return [];
  return [{ kind: 'index', what: `a search of ${user} for "${word}" lacks ${JSON.stringify(missing)}` }];
}

/** A batch that the model reads in an odd form, and what was said in it. */
export interface OddlyRead {
  readonly user: string;
  readonly oddity: Oddity;
  readonly texts: readonly string[];
  /** null until it is acknowledged. */
  batch: string | null;
}

interface BatchAnswer {
  readonly state: string;
  readonly error: unknown;
  readonly consolidation_id: string | null;
  readonly events: readonly object[];
}

interface Consolidation {
  readonly plan: { readonly discards: readonly object[] } | null;
  readonly answers: readonly { readonly output: string }[];
}

const STORED_MAX = 8_000_000; // characters of an answer: more than any limit there should be

/** Every fact that can be read is remembered, or the batch is parked, or something says what became of the rest. */
export async function checkRead({ urls }: Stage, { user, oddity, texts, batch }: OddlyRead): Promise<Finding[]> {
  if (batch === null) return [];
  const {
    state,
    error,
    consolidation_id: turn,
    events,
  } = await read<BatchAnswer>(`${urls.ingest}/v1/batches/${batch}`);
  const where = `batch ${batch} of ${user}, answered with ${oddity.name},`;
  const live = await readAll<Live>(`${urls.search}/v1/memories?user_id=${user}`);
  const missing = texts.filter((text) => !live.some(({ memory }) => memory === text));
  const thought = turn === null ? null : await read<Consolidation>(`${urls.console}/v1/consolidations/${turn}`);
  const stored = Math.max(0, ...(thought?.answers ?? []).map(({ output }) => output.length));
  const tooLong: Finding[] =
    stored > STORED_MAX ? [{ kind: 'wrong', what: `${where} left an answer of ${stored} characters` }] : [];
  if (state === 'parked') {
    return error === null ? [{ kind: 'lost', what: `${where} is parked, and nothing says why` }, ...tooLong] : tooLong;
  }
  const silent = (thought?.plan?.discards ?? []).length === 0 && (missing.length > 0 || events.length < oddity.surplus);
  if (!silent) return tooLong;
  const what = `${where} is ${state}: ${missing.length} of ${texts.length} facts are gone, and nothing says why`;
  return [{ kind: 'lost', what }, ...tooLong];
}

/** A life that was erased, and the one that began under its id. */
export interface Erased {
  /** null until the erasure was taken. */
  readonly erasure: string | null;
  /** Words that were said in the first life alone. */
  readonly gone: readonly string[];
  /** When it was erased. */
  readonly from: number;
  /** The second life. */
  readonly story: Story;
}

/** Nothing of the first life is in anything that the second is shown, or shows. */
export async function checkForgotten(stage: Stage, erased: Erased): Promise<Finding[]> {
  const { gone, story, erasure } = erased;
  if (erasure === null) return [];
  const state = await untilErased(stage, erasure);
  const shown = await everythingOf(stage, story.user);
  const places = [...shown, ...(await filesOf(stage))];
  const leaks = gone.flatMap((word) =>
    places.filter(({ text }) => text.includes(word)).map(({ name }) => `${word} in ${name}`),
  );
  const prompts = story.facts.flatMap(({ text }) =>
    gone
      .filter((word) => stage.provider.shown([word, text], erased.from).length > 0)
      .map((word) => `${word} beside "${text}"`),
  );
  return [
    ...(state === 'erased' ? [] : [{ kind: 'stuck' as const, what: `the erasure of ${story.user} is ${state}` }]),
    ...leaks.map(
      (leak): Finding => ({ kind: 'leak', what: `what ${story.user} said before the erasure is there: ${leak}` }),
    ),
    ...prompts.map(
      (leak): Finding => ({ kind: 'leak', what: `a model was shown what ${story.user} had said: ${leak}` }),
    ),
  ];
}

const ERASED_WITHIN_MS = 120_000;
const POLL_MS = 200;

async function untilErased({ urls }: Stage, id: string): Promise<string> {
  let state = '';
  for (const deadline = Date.now() + ERASED_WITHIN_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    const answer = await attempt('GET', `${urls.console}/v1/erasures/${id}`);
    state = (answer?.body as { state?: string } | undefined)?.state ?? '';
    if (state === 'erased') break;
  }
  return state;
}

interface Place {
  readonly name: string;
  readonly text: string;
}

/** Whatever the API says of a user. */
async function everythingOf({ urls }: Stage, user: string): Promise<Place[]> {
  const turns = await readAll<{ id: string }>(`${urls.console}/v1/consolidations?user_id=${user}`);
  const urlsOfUser = [
    `${urls.ingest}/v1/batches?user_id=${user}`,
    `${urls.search}/v1/memories?user_id=${user}&limit=200`,
    `${urls.search}/v1/relations?ended=true&user_id=${user}&limit=200`,
    `${urls.search}/v1/entities?user_id=${user}&limit=200`,
    `${urls.console}/v1/users/${user}/export`,
    ...turns.map(({ id }) => `${urls.console}/v1/consolidations/${id}`),
  ];
  const asked = urlsOfUser.map(async (url): Promise<Place> => ({ name: url, text: await textAt(url) }));
  const query = searched(user, `what was said of ${user}?`);
  const { body } = await searchAll(urls.search, query);
  return [...(await Promise.all(asked)), { name: 'a search', text: JSON.stringify(body) }];
}

const textAt = async (url: string): Promise<string> => (await fetch(url)).text();

/** The files that hold what was said, where files do. */
async function filesOf({ dataDir }: Stage): Promise<Place[]> {
  const names = (await readdir(dataDir)).filter((name) => /^(ledger|index)\.db/.test(name));
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(dataDir, name), 'latin1') })));
}
