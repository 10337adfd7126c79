import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { call, get, post } from './client.ts';
import type { Setup } from './setups.ts';

/** Ways in which what was planted is forgotten. */
const WAYS = ['delete', 'wish', 'undo', 'rollback'] as const;
type Way = (typeof WAYS)[number];

interface Life {
  readonly user: string;
  /** What is said, one message each, in order. */
  readonly said: readonly string[];
  /** The message that says what is to be forgotten; another one may stand in it. */
  readonly planted: string;
  readonly way: Way;
}

/** Words that nothing else says. */
const TOKEN = 'Quorvix';

/** What may be said besides; each is remembered by itself, and none of them changes another. */
const NEUTRAL: readonly (readonly [says: string, of: readonly string[]])[] = [
  ['I live in %.', ['Oslo', 'Rome', 'Bergen', 'Lyon', 'Porto', 'Graz']],
  ['I like %.', ['green tea', 'chess', 'hiking', 'jazz', 'old maps']],
  ['My brother % works at Acme.', ['Bo', 'Max', 'Leo', 'Finn']],
  ['I am allergic to %.', ['peanuts', 'cats', 'pollen', 'shellfish']],
  ['I speak %.', ['Portuguese', 'Norwegian', 'Finnish']],
  ['I have a dog named %.', ['Rex', 'Luna', 'Pip']],
  ['I was born in %.', ['Turin', 'Malmö', 'Utrecht']],
  ['I hate %.', ['mushrooms', 'early mornings', 'traffic']],
];
const NEUTRAL_LEAST = 2;

const SECRETS = [
  `My sister Ida works at ${TOKEN} Robotics.`,
  `I like ${TOKEN} cheese.`,
  `I work at ${TOKEN}.`,
  `My sister Ida lives in ${TOKEN}.`,
  `I am allergic to ${TOKEN} pollen.`,
];

/** A small life with something planted, and the same without it. The same seed makes the same life. */
function livesOf(seed: number): { readonly full: Life; readonly without: Life } {
  const draw = drawing(seed);
  const pick = <T>(what: string, list: readonly T[]): T => list[draw(what, list.length)] as T;
  const kinds = NEUTRAL.toSorted((a, b) => draw(a[0], RANKS) - draw(b[0], RANKS));
  const neutral = kinds
    .slice(0, NEUTRAL_LEAST + draw('how many', kinds.length - NEUTRAL_LEAST + 1))
    .map(([says, of]) => says.replace('%', pick(`of ${says}`, of)));
  const secret = pick('secret', SECRETS);
  const way = WAYS[seed % WAYS.length] as Way;
  // What is undone takes all that its batch said: there it stands alone.
  const isBeside = (way === 'delete' || way === 'wish') && draw('beside', 2) === 0;
  const at = way === 'rollback' ? neutral.length : draw('place', isBeside ? neutral.length : neutral.length + 1);
  const other = neutral[at] ?? '';
  const beside = draw('which first', 2) === 0 ? `${secret} ${other}` : `${other} ${secret}`;
  const planted = isBeside ? beside : secret;
  return {
    full: { user: `life-${seed}`, said: neutral.toSpliced(at, isBeside ? 1 : 0, planted), planted, way },
    without: { user: `twin-${seed}`, said: neutral, planted: '', way },
  };
}

/** Lists are put in order by numbers so large that two are hardly ever equal. */
const RANKS = 2 ** 32;

/** Whole numbers below a limit that follow from a seed and what they are for. */
const drawing =
  (seed: number) =>
  (what: string, below: number): number =>
    createHash('sha256').update(`${seed} ${what}`).digest().readUInt32BE() % below;

/** Lives both, forgets what was planted in one, and looks everywhere. */
export async function expectForgotten({ ingest, search, console: manage }: Setup, seed: number): Promise<void> {
  const { full, without } = livesOf(seed);
  const consolidations = new Map<string, string>();
  let before = '';
  const say = async (user: string, content: string): Promise<void> => {
    if (content === full.planted) before = new Date().toISOString();
    const messages = [{ role: 'user', content }];
    const body = { user_id: user, flush: true, graph: true, messages };
    const { body: batch } = await post(`${ingest}/v1/batches`, body);
    consolidations.set(content, await consolidationOf({ ingest }, batch.batch_id));
  };
  for (const content of without.said) await say(without.user, content);
  for (const content of full.said) await say(full.user, content);
  await studied(search, full);
  const memories = (await listed(search, full.user)).filter(({ memory }) => memory.includes(TOKEN));
  expect(memories.length, `${full.way}, seed ${seed}: what was planted is remembered`).toBeGreaterThan(0);
  const found = await everywhere({ search, manage }, full.user);
  expect(found.filter(({ text }) => text.includes(TOKEN)).length).toBeGreaterThan(5);

  await forget({ manage }, full, {
    ids: memories.map(({ id }) => id),
    consolidation: consolidations.get(full.planted) ?? '',
    before,
    say: (content) => say(full.user, content),
  });
  const left = await everywhere({ search, manage }, full.user);
  const surfaces = full.way === 'delete' || full.way === 'wish' ? left : left.filter(({ name }) => name !== 'export');
  const telling = surfaces.filter(({ text }) => text.toLowerCase().includes(TOKEN.toLowerCase()));
  const where = [...new Set(telling.map(({ name }) => name))].join(', ');
  expect(where, `${full.way}, seed ${seed}: where it is found`).toBe('');
  expect(await rest(search, full.user), `${full.way}, seed ${seed}`).toEqual(await rest(search, without.user));

  if (full.way !== 'delete') return;
  for (const { id } of memories)
    expect((await post(`${manage}/v1/memories/${id}/restore`, { version: 1 })).status).toBe(200);
  const back = await everywhere({ search, manage }, full.user);
  const names = (of: typeof back) => of.filter(({ text }) => text.includes(TOKEN)).map(({ name }) => name);
  expect(names(back)).toEqual(names(found));
}

interface Forgetting {
  readonly ids: readonly string[];
  readonly consolidation: string;
  readonly before: string;
  say(content: string): Promise<void>;
}

async function forget({ manage }: { manage: string }, { user, planted, way }: Life, how: Forgetting): Promise<void> {
  if (way === 'wish') await how.say(`Please forget that ${clause(planted)}.`);
  else if (way === 'undo')
    expect((await post(`${manage}/v1/consolidations/${how.consolidation}/undo`, {})).status).toBe(200);
  else if (way === 'rollback')
    expect((await post(`${manage}/v1/users/${user}/rollback`, { to: how.before })).status).toBe(200);
  else
    for (const id of how.ids) {
      const dry = await call('DELETE', `${manage}/v1/memories/${id}?dry_run=true`);
      const { body } = await call('DELETE', `${manage}/v1/memories/${id}`);
      expect({ ...body, deleted: 0, dry_run: true }).toEqual(dry.body);
      expect(body.fell.messages.length).toBeGreaterThan(0);
    }
}

/** The sentence with what was planted, as it stands after "that". */
function clause(planted: string): string {
  const sentence = planted.split(/(?<=\.) /).find((one) => one.includes(TOKEN)) ?? '';
  return sentence.replace(/\.$/, '').replace(/^My/, 'my');
}

/** Waits for as long as the test may take: how busy the machine is, is no matter here. */
async function consolidationOf({ ingest }: { ingest: string }, batchId: string): Promise<string> {
  for (;;) {
    const { body } = await get(`${ingest}/v1/batches/${batchId}?wait=60000`);
    if (body.state === 'consolidated' || body.state === 'empty') return body.consolidation_id;
    expect(body.state).toMatch(/^(pending|consolidating)$/);
  }
}

interface Listed {
  readonly id: string;
  readonly memory: string;
}

const listed = async (search: string, user: string): Promise<readonly Listed[]> =>
  (await get(`${search}/v1/memories?user_id=${user}&limit=100`)).body.results;

const relations = async (search: string, user: string): Promise<readonly string[]> =>
  (await get(`${search}/v1/relations?user_id=${user}&limit=100`)).body.results.map((one: { text: string }) => one.text);

/** Studies come after their consolidations. */
async function studied(search: string, { user }: Life): Promise<void> {
  await expect.poll(async () => (await relations(search, user)).join()).toContain(TOKEN);
}

interface Surface {
  readonly name: string;
  readonly text: string;
}

const QUESTIONS = [TOKEN, `What do you know of ${TOKEN}?`, 'Where does my sister work?', 'What do I like?'];

/** Everything that anybody can read of a user without knowing an id, as text. */
async function everywhere(
  { search, manage }: { search: string; manage: string },
  user: string,
): Promise<readonly Surface[]> {
  const surfaces: Surface[] = [];
  const look = (name: string, answer: { readonly status: number; readonly body: unknown }, question = ''): void => {
    expect(answer.status, name).toBe(200);
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    surfaces.push({ name, text: question === '' ? text : text.replaceAll(question, '') });
  };
  const include = ['messages', 'relations', 'history', 'sources'];
  const asOf = new Date(Date.now() - 1).toISOString();
  for (const query of QUESTIONS) {
    for (const mode of ['hybrid', 'keyword', 'vector'])
      for (const when of [{}, { latest_only: false }, { as_of: asOf }]) {
        const body = { user_id: user, query, mode, cut: 'none', include, before: 5, after: 5, ...when };
        look(`search ${mode} ${Object.keys(when)}`, await post(`${search}/v1/search`, body), query);
      }
    look('context', await post(`${search}/v1/context`, { user_id: user, query }), query);
  }
  for (const { id } of await listed(search, user))
    look('sources', await get(`${search}/v1/memories/${id}/sources?before=20&after=20`));
  look('list', await get(`${search}/v1/memories?user_id=${user}`));
  look('relations', await get(`${search}/v1/relations?user_id=${user}&as_of=${asOf}`));
  look('entities', await get(`${search}/v1/entities?user_id=${user}`));
  look('graph', await get(`${search}/v1/graph?user_id=${user}`));
  const match = [{ source: '?a', relationship: 'works_at', destination: '?b' }];
  look('query', await post(`${search}/v1/graph/query`, { user_id: user, match, ended: true }));
  look('export', await get(`${manage}/v1/users/${user}/export`));
  return surfaces;
}

/** What is left of a life, in words. */
async function rest(search: string, user: string): Promise<unknown> {
  const body = { user_id: user, query: 'me', mode: 'vector', cut: 'none', top_k: 50, include: ['messages'] };
  const { results, messages } = (await post(`${search}/v1/search`, body)).body;
  const said = messages.map(({ content }: { content: string }) => content.replace(/\[forgotten\][.]? ?/g, '').trim());
  return {
    memories: (await listed(search, user)).map(({ memory }) => memory).sort(),
    found: results.map(({ memory }: Listed) => memory).sort(),
    messages: said.sort(),
    relations: [...(await relations(search, user))].sort(),
  };
}
