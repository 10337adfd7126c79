import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_SETTINGS } from '@slowwave/engine';
import { type Api, each, ServerError } from '../../api.ts';
import type { Random } from '../../chaos/random.ts';
import { untilQuiet } from '../../fleet/quiet.ts';
import type { Life, SaidMemory } from './life.ts';

/** How somebody says the same once more. */
const FILLERS = ['by the way', 'you know', 'after all', 'of course', 'as ever'];
/** Of what did not change, so much is said once more. */
const RESTATED = 0.5;
const WITHIN_MS = 600_000;
const LOOK_AGAIN_MS = 250;
/** A sweep comes by every second; where nothing is to be done, no night is kept. */
const NIGHT_MS = 10_000;
/** Verbatim messages cost no tokens that nights could have a share of. */
const TOKENS = 10_000_000;

/** Nights of users who have just said something, or none. Plans stay in the words by which they are known here. */
export async function letSleep(api: Api, mode: 'auto' | 'off'): Promise<void> {
  const { acts, limits } = DEFAULT_SETTINGS.sleep;
  const sleep = { mode, idle_hours: 0, acts: { ...acts, age: false }, limits: { ...limits, tokens: TOKENS, share: 1 } };
  await api.put('/v1/settings', { sleep });
}

/** Says half of some lives once more, a part after the other, with a night after each. Answers what each of these texts says again. */
export async function restate(
  api: Api,
  lives: readonly { readonly life: Life; readonly random: Random }[],
  { rounds, sleeps }: { readonly rounds: number; readonly sleeps: boolean },
): Promise<ReadonlyMap<string, SaidMemory>> {
  const restated = lives.map(({ life: { user, memories }, random }): Restated => {
    const some = random.shuffled(memories.filter(({ former }) => former === null));
    const said = some.slice(0, Math.floor(RESTATED * some.length));
    return { user, said: said.map((of) => ({ of, text: `${of.text}, ${random.pick(FILLERS)}` })) };
  });
  for (let round = 0; round < rounds; round += 1) {
    const now = restated
      .map(({ user, said }) => ({ user, said: said.filter((_, i) => i % rounds === round) }))
      .filter(({ said }) => said.length > 0);
    const before = await nightsOf(api);
    await each(now, (one) => say(api, one));
    await untilQuiet(api, { withinMs: WITHIN_MS });
    if (sleeps) await untilSlept(api, { before, users: now.length });
  }
  return new Map(restated.flatMap(({ said }) => said.map(({ of, text }) => [text, of] as const)));
}

interface Restated {
  readonly user: string;
  readonly said: readonly { readonly of: SaidMemory; readonly text: string }[];
}

async function say(api: Api, { user, said }: Restated): Promise<void> {
  for (const { of, text } of said) {
    const messages = [{ role: 'user', content: text }];
    await api.post('/v1/batches', { user_id: user, ...of.place, mode: 'verbatim', messages });
  }
  await api.post('/v1/flush', { user_id: user });
}

const nightsOf = async (api: Api): Promise<number> => (await api.all('/v1/nights')).length;

async function untilSlept(api: Api, { before, users }: { before: number; users: number }): Promise<void> {
  for (const deadline = Date.now() + NIGHT_MS * users; ; await sleep(LOOK_AGAIN_MS)) {
    const nights = await api.all<{ state: string }>('/v1/nights');
    if (nights.length >= before + users && nights.every(({ state }) => state !== 'thinking')) return;
    if (Date.now() > deadline)
      throw new ServerError(`expected ${users} nights after ${before}, got ${nights.length - before}`);
  }
}
