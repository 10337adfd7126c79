import { insist, readAll, searchAll } from '../api.ts';
import type { Stage } from '../stage.ts';
import { holding, type SaidBatch, type Story } from '../story.ts';
import type { Finding } from './finding.ts';
import { type HistoryEvent, replayed } from './replay.ts';

/** Looks at everything that a quiet product says of one user. */
export async function checkUser(stage: Stage, story: Story): Promise<Finding[]> {
  const ofUser = `user_id=${encodeURIComponent(story.user)}`;
  const checked = await Promise.all(
    story.batches.filter((batch) => !batch.checked).map((batch) => checkBatch(stage, story, batch)),
  );
  const batches = checked.flat();
  // What was said in it does not hold, and what was said before it still may.
  if (batches.some(isParked)) return batches;
  const live = await readAll<Live>(`${stage.urls.search}/v1/memories?${ofUser}`);
  for (const { id } of live) story.memories.add(id);
  const seen = await Promise.all([...story.memories].map((id) => lifeOf(stage, id)));
  return [
    ...batches,
    ...checkLive(story, live),
    ...seen.flatMap((life) => checkLife(story, life, live)),
    ...checkOnce(story, seen),
    ...(await checkIndex(stage, story, live)),
  ];
}

/** Whether somebody's batch was given up: then nothing else can be expected of what they said. */
export const isParked = ({ kind }: Finding): boolean => kind === 'parked';

interface Live {
  readonly id: string;
  readonly memory: string;
  readonly version: number;
}

interface Life {
  readonly id: string;
  readonly events: readonly HistoryEvent[];
}

interface BatchAnswer {
  readonly state: string;
  readonly error: unknown;
  readonly events: readonly { readonly event: string; readonly memory_id: string; readonly memory: string }[];
}

/** It ended as it must, and each of its texts did something exactly once. */
async function checkBatch({ urls }: Stage, story: Story, batch: SaidBatch): Promise<Finding[]> {
  const answer = await insist('GET', `${urls.ingest}/v1/batches/${batch.id}`);
  const where = `batch ${batch.id} of ${story.user}`;
  if (answer.status !== 200) return [{ kind: 'lost', what: `${where} is answered with ${answer.status}` }];
  const { state, events, error } = answer.body as BatchAnswer;
  for (const event of events) story.memories.add(event.memory_id);
  const wanted = batch.poison ? 'parked' : 'consolidated';
  if (state !== wanted) {
    const kind = state === 'parked' ? 'parked' : 'lost';
    return [{ kind, what: `${where} is ${state}, not ${wanted}: ${JSON.stringify(error)}` }];
  }
  batch.checked = true;
  const did = events.map(({ memory }) => memory).sort();
  const should = batch.poison ? [] : [...batch.texts].sort();
  if (JSON.stringify(did) === JSON.stringify(should)) return [];
  const what = `${where} said ${JSON.stringify(should)}, its events are about ${JSON.stringify(did)}`;
  return [{ kind: did.length > should.length ? 'doubled' : 'lost', what }];
}

async function lifeOf({ urls }: Stage, id: string): Promise<Life> {
  return { id, events: await readAll<HistoryEvent>(`${urls.search}/v1/memories/${id}/history`) };
}

/** What holds is what was said last, each once. */
function checkLive(story: Story, live: readonly Live[]): Finding[] {
  const texts = live.map(({ memory }) => memory);
  const notes = story.notes.filter(({ deleted }) => !deleted);
  const must = [...holding(story), ...notes.filter(({ id }) => id !== null).map(({ text }) => text)];
  const may = new Set([...must, ...notes.map(({ text }) => text)]);
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const said = (text: string) => `${story.user}: "${text}"`;
  return [
    ...must
      .filter((text) => !counts.has(text))
      .map((text): Finding => ({ kind: 'lost', what: `${said(text)} is gone` })),
    ...[...counts]
      .filter(([, count]) => count > 1)
      .map(([text, count]): Finding => ({ kind: 'doubled', what: `${said(text)} holds ${count} times` })),
    ...[...counts.keys()]
      .filter((text) => !may.has(text))
      .map(
        (text): Finding => ({
          kind: text.includes(story.user) ? 'wrong' : 'leak',
          what: `${said(text)} should not hold`,
        }),
      ),
  ];
}

/** Its events make it what it is, and came in the order in which they were posted. */
function checkLife(story: Story, { id, events }: Life, live: readonly Live[]): Finding[] {
  const now = live.find((memory) => memory.id === id)?.memory ?? null;
  const made = replayed(events);
  const turns = ordersByTurn(story, events);
  const inOrder = turns.every((orders, i) => Math.min(...orders) > Math.max(-1, ...(turns[i - 1] ?? [])));
  return [
    ...finding(made !== now, 'replay', `memory ${id} of ${story.user} is "${now}", its events make "${made}"`),
    ...finding(!inOrder, 'order', `memory ${id} of ${story.user} changed in the order ${JSON.stringify(turns)}`),
  ];
}

const finding = (is: boolean, kind: Finding['kind'], what: string): Finding[] => (is ? [{ kind, what }] : []);

/** When the texts of each consolidation were posted. Inside of one they go by when they were said. */
function ordersByTurn(story: Story, events: readonly HistoryEvent[]): number[][] {
  const turns = new Map<string, number[]>();
  for (const { actor, event, memory, consolidation_id: turn } of events) {
    if (actor !== 'consolidation' || event === 'NONE' || turn === null) continue;
    const order = story.facts.find(({ text }) => text === memory)?.order ?? -1;
    turns.set(turn, [...(turns.get(turn) ?? []), order]);
  }
  return [...turns.values()];
}

/** Every fact is in the lives of the memories exactly once, but for its repetitions. */
function checkOnce(story: Story, lives: readonly Life[]): Finding[] {
  const counts = new Map<string, number>();
  for (const { events } of lives) {
    for (const { actor, event, memory } of events) {
      if (actor !== 'consolidation' || event === 'NONE' || memory === null) continue;
      counts.set(memory, (counts.get(memory) ?? 0) + 1);
    }
  }
  return story.facts.flatMap(({ text }): Finding[] => {
    const count = counts.get(text) ?? 0;
    if (count === 1) return [];
    return [{ kind: count === 0 ? 'lost' : 'doubled', what: `${story.user}: "${text}" was applied ${count} times` }];
  });
}

const ALL = 200; // the most a search gives, and more than anybody has here

/** A search that shows everything shows what the ledger lists. */
async function checkIndex({ urls }: Stage, story: Story, live: readonly Live[]): Promise<Finding[]> {
  const body = { user_id: story.user, query: `all that is known of ${story.user}`, top_k: ALL, cut: 'none' };
  const { status, body: answer } = await searchAll(urls.search, body);
  if (status !== 200) return [{ kind: 'index', what: `a search for ${story.user} is answered with ${status}` }];
  const { results, degraded } = answer as { results: Live[]; degraded?: string[] };
  if (degraded !== undefined) {
    return [{ kind: 'index', what: `a search for ${story.user} is degraded: ${degraded}` }];
  }
  const found = shown(results);
  const listed = shown(live);
  const missing = listed.filter((one) => !found.includes(one));
  const extra = found.filter((one) => !listed.includes(one));
  if (missing.length + extra.length === 0 && found.length === listed.length) return [];
  const what = `${story.user}: the index lacks ${JSON.stringify(missing)}, has besides ${JSON.stringify(extra)}`;
  return [{ kind: 'index', what }];
}

const shown = (memories: readonly Live[]): string[] =>
  memories.map(({ id, memory, version }) => `${id} v${version} ${memory}`);
