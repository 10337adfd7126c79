import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, insist } from './api.ts';
import { keyOf, POISON } from './model.ts';
import type { Random } from './random.ts';
import type { Stage } from './stage.ts';
import { holding, type SaidFact, type Story } from './story.ts';

/** What users say, counted on over all rounds. */
export interface Tongue {
  readonly random: Random;
  /** Different for every text and every key. */
  count: number;
}

/** One user talking. */
export interface Talk {
  readonly stage: Stage;
  readonly tongue: Tongue;
  readonly random: Random;
  readonly story: Story;
}

const BATCHES = { from: 2, to: 4 };
const FACTS = { from: 1, to: 3 };
/** What users talk about: few enough things that all memories of one are neighbours of each fact. */
const CHANGING = [0, 1, 2, 3];
const LASTING = [4, 5];
const PAUSE_MS = { from: 0, to: 250 };
const START = Date.UTC(2026, 0, 1);
const SECOND_MS = 1_000;
const YEAR_S = 31_536_000;
const SHARE = {
  flush: 0.4,
  twice: 0.15,
  again: 0.15,
  late: 0.1,
  poison: 0.03,
  verbatim: 0.06,
  note: 0.25,
  lasting: 0.3,
};

/** One user talks for a while: some batches one after the other, each until it is acknowledged. */
export async function talk(stage: Stage, tongue: Tongue, story: Story): Promise<void> {
  const random = tongue.random.fork(`${story.user}/${tongue.count}`);
  const talking: Talk = { stage, tongue, random, story };
  const known = holding(story);
  for (let left = random.between(BATCHES.from, BATCHES.to); left > 0; left -= 1) {
    await sleep(random.between(PAUSE_MS.from, PAUSE_MS.to));
    if (random.chance(SHARE.poison)) await sayPoison(talking);
    else if (random.chance(SHARE.verbatim)) await sayVerbatim(talking);
    else await sayFacts(talking, known);
    if (random.chance(SHARE.note)) await writeSome(talking);
  }
  await insist('POST', `${stage.urls.ingest}/v1/flush`, { body: { user_id: story.user } });
}

async function sayFacts(talking: Talk, known: readonly string[]): Promise<void> {
  const { random } = talking;
  const facts = Array.from({ length: random.between(FACTS.from, FACTS.to) }, () => newFact(talking));
  const settled = known.filter((text) => LASTING.includes(keyNumber(text)));
  const repeated = settled.length > 0 && random.chance(SHARE.again) ? [repeat(talking, random.pick(settled))] : [];
  await say(talking, [...facts, ...repeated], { mode: 'decide' });
}

/** Message by message as it is, without a model. */
const sayVerbatim = (talking: Talk): Promise<void> => {
  const text = `${talking.story.user} reads aloud page ${next(talking)}`;
  return say(talking, [factOf(talking, text, next(talking))], { mode: 'verbatim' });
};

async function sayPoison(talking: Talk): Promise<void> {
  const text = `${talking.story.user} says something ${POISON} ${next(talking)}`;
  await post(talking, { texts: [text], times: [next(talking)], mode: 'decide', poison: true });
}

/** Says facts in one batch, and remembers what has to become of them. */
export async function say(talking: Talk, facts: readonly SaidFact[], how: HowSaid = {}): Promise<void> {
  const { mode = 'decide', timed = true, flush } = how;
  await post(talking, {
    texts: facts.map(({ text }) => text),
    times: timed ? facts.map(({ saidAt }) => saidAt) : null,
    mode,
    poison: false,
    ...(flush !== undefined && { flush }),
  });
  const { story } = talking;
  if (story.graph && mode === 'decide') story.said.push(...facts.map(({ text, saidAt }) => ({ text, saidAt })));
  story.facts.push(...facts.filter(({ text }) => !story.facts.some((other) => other.text === text)));
}

type Mode = 'decide' | 'verbatim';

interface HowSaid {
  readonly mode?: Mode;
  /** Whether each message says when it was said. */
  readonly timed?: boolean;
  readonly flush?: boolean;
}

/** Some are about the keys that change; a few say what held before. */
function newFact(talking: Talk): SaidFact {
  const { random, story } = talking;
  const number = next(talking);
  const lasting = lastingKeys(story);
  const key = lasting.length > 0 && random.chance(SHARE.lasting) ? random.pick(lasting) : random.pick(CHANGING);
  const late = random.chance(SHARE.late);
  return factOf(talking, textOf(key, story.user, `v${number}`), late ? number - YEAR_S : number);
}

/** What is said once and never changes, as far as it was not said yet: only that can be repeated at any time. */
const lastingKeys = ({ facts, user }: Story): number[] =>
  LASTING.filter((key) => !facts.some((fact) => fact.key === keyOf(textOf(key, user))));

export const textOf = (key: number, user: string, value = ''): string => `Thing ${key} of ${user} is ${value}`;

/** Something that holds, said once more. */
const repeat = (talking: Talk, text: string): SaidFact => factOf(talking, text, next(talking));

export const factOf = ({ tongue }: Pick<Talk, 'tongue'>, text: string, saidAt: number): SaidFact => ({
  text,
  key: keyOf(text),
  saidAt,
  order: tongue.count,
});

const keyNumber = (text: string): number => Number(/^Thing (\d+) of/.exec(text)?.[1] ?? -1);

export function next({ tongue }: Pick<Talk, 'tongue'>): number {
  tongue.count += 1;
  return tongue.count;
}

interface Post {
  readonly texts: readonly string[];
  /** null: nothing is said of when they were said. */
  readonly times: readonly number[] | null;
  readonly mode: Mode;
  readonly poison: boolean;
  /** Drawn when it is left out. */
  readonly flush?: boolean;
}

/** One batch under one key, asked for until it is acknowledged; sometimes twice at once, or once more. */
async function post(talking: Talk, { texts, times, mode, poison, flush: flushed }: Post): Promise<void> {
  const { stage, random, story } = talking;
  const headers = { 'idempotency-key': `${story.user}/${next(talking)}` };
  const when = (i: number) => (times === null ? {} : { timestamp: momentOf(times[i] ?? 0) });
  const messages = texts.map((content, i) => ({ role: 'user', content, ...when(i) }));
  const graph = story.graph && mode === 'decide';
  const flush = flushed ?? random.chance(SHARE.flush);
  const body = { user_id: story.user, messages, mode, flush, ...(graph && { graph }) };
  const once = () => insist('POST', `${stage.urls.ingest}/v1/batches`, { body, headers });
  const answers = random.chance(SHARE.twice) ? await Promise.all([once(), once()]) : [await once()];
  if (random.chance(SHARE.twice)) answers.push(await once());
  const ids = new Set(answers.map(idOf));
  const [id] = ids;
  if (id === undefined || ids.size > 1) throw new Error(`one key became several batches: ${[...ids]}`);
  story.batches.push({ id, texts, poison, graph: graph && !poison, checked: false, studied: false });
}

function idOf({ status, body }: { status: number; body: unknown }): string {
  if (status !== 200 && status !== 202) throw new Error(`a batch was refused with ${status}: ${JSON.stringify(body)}`);
  return (body as { batch_id: string }).batch_id;
}

export const momentOf = (seconds: number): string => new Date(START + seconds * SECOND_MS).toISOString();

/** Explicit writes: a note is added or deleted, or a memory that consolidations may be deciding on is marked. */
async function writeSome(talking: Talk): Promise<void> {
  const { stage, random, story } = talking;
  const url = `${stage.urls.console}/v1/memories`;
  const old = story.notes.find(({ id, deleted }) => id !== null && !deleted);
  const [known] = story.memories;
  switch (random.between(0, 2)) {
    case 0:
      return write(talking, `A note ${next(talking)} by ${story.user}`);
    case 1:
      if (old?.id === undefined || old.id === null) return;
      await insist('DELETE', `${url}/${old.id}`);
      old.deleted = true;
      return;
    default:
      if (known !== undefined) await attempt('PATCH', `${url}/${known}`, { body: { metadata: { n: next(talking) } } });
  }
}

/** A note is added. */
export async function write({ stage, story }: Talk, text: string): Promise<void> {
  const body = { user_id: story.user, memory: text };
  const answer = await attempt('POST', `${stage.urls.console}/v1/memories`, { body });
  const written = answer !== null && answer.status < 300;
  // Refused at the door is not written; of what was under way nobody knows.
  if (written || answer === null || answer.status >= 500) {
    story.notes.push({ text, id: written ? (answer.body as { id: string }).id : null, deleted: false });
  }
}
