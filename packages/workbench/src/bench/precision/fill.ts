import { type Api, each } from '../../api.ts';
import type { Random } from '../../chaos/random.ts';
import { untilQuiet } from '../../fleet/quiet.ts';
import type { Life, Place, SaidMemory } from './life.ts';

const FIRST_SAID = Date.UTC(2024, 0, 7, 18);
const DAY_MS = 24 * 3_600_000;
const SITTING_MAX = 3; // facts that are said together
const DAYS_APART = 4; // between two sittings, at most
const WITHIN_MS = 600_000;

/**
 * Says a life to the server, as it would be said: some facts in a sitting, sittings days apart, each as it is. What changed is
 * changed afterwards. Answers with the memories' ids.
 */
export async function sayLives(
  api: Api,
  lives: readonly { readonly life: Life; readonly random: Random }[],
): Promise<ReadonlyMap<SaidMemory, string>> {
  await each(lives, ({ life, random }) => say(api, life, random));
  await untilQuiet(api, { withinMs: WITHIN_MS });
  const ids = await each(lives, ({ life }) => idsOf(api, life));
  const all = new Map(ids.flat());
  const changed = [...all].filter(([{ former }]) => former !== null);
  await each(changed, ([{ text }, id]) => api.patch(`/v1/memories/${id}`, { memory: text }));
  await untilQuiet(api, { withinMs: WITHIN_MS });
  return all;
}

async function say(api: Api, { user, memories }: Life, random: Random): Promise<void> {
  let [at, i] = [FIRST_SAID, 0];
  while (i < memories.length) {
    const { place } = memories[i] as SaidMemory;
    const near = memories.slice(i, i + random.between(1, SITTING_MAX));
    const other = near.findIndex((memory) => !isSame(memory.place, place));
    const sitting = other === -1 ? near : near.slice(0, other);
    i += sitting.length;
    at += random.between(1, DAYS_APART) * DAY_MS;
    await api.post('/v1/batches', {
      user_id: user,
      ...place,
      mode: 'verbatim',
      timestamp: new Date(at).toISOString(),
      messages: sitting.map(({ text, former }) => ({ role: 'user', content: former ?? text })),
    });
  }
  await api.post('/v1/flush', { user_id: user });
}

const isSame = (a: Place, b: Place): boolean => JSON.stringify(a) === JSON.stringify(b);

async function idsOf(api: Api, { user, memories }: Life): Promise<readonly (readonly [SaidMemory, string])[]> {
  const stored = await api.all<{ id: string; memory: string }>(`/v1/memories?user_id=${user}`);
  const byText = new Map(stored.map(({ id, memory }) => [memory, id]));
  return memories.map((memory) => {
    const id = byText.get(memory.former ?? memory.text);
    if (id === undefined) throw new Error(`expected a memory "${memory.former ?? memory.text}" of ${user}, found none`);
    return [memory, id] as const;
  });
}
