import { rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, attempt, insist } from '../api.ts';
import type { Finding } from '../checks/finding.ts';
import { next } from '../load.ts';
import type { Stage } from '../stage.ts';
import { type Fault, type Occasion, ON_FILES } from './fault.ts';

/** By then a process has to have noticed, also on a busy machine. */
const NOTICED_WITHIN_MS = 6_000;
const ASKED_MS = 2_000;
const ASK_EVERY_MS = 200;
const READY_WITHIN_MS = 20_000;

/** The data folder is not where it was; later it is put back. What was acknowledged without it would be lost with it. */
export const folderVanished: Fault = {
  kind: 'data folder vanished',
  modes: ON_FILES,
  interrupts: true,
  lingers: true,
  run: async (stage, random, occasion) => {
    const { dataDir } = stage;
    const elsewhere = `${dataDir}-elsewhere`;
    const asking = asker(stage, occasion);
    await rename(dataDir, elsewhere);
    // A process that starts meanwhile would begin anew here: another fault is not to lead to that.
    if (!occasion.alone) await writeFile(dataDir, 'This is no folder.');
    try {
      await sleep(NOTICED_WITHIN_MS);
      await asking.ask();
    } finally {
      await rm(dataDir, { recursive: true, force: true });
      await rename(elsewhere, dataDir);
    }
    if (random.chance(1 / 2)) await Promise.all(stage.members.map((member) => member.crash(0)));
    else await Promise.all(stage.members.map((member) => readyOrAgain(member)));
    await asking.settle();
  },
};

/** Whoever does not come back by itself once the folder is there again is started again, as an operator would. */
async function readyOrAgain({ url, crash }: Stage['members'][number]): Promise<void> {
  for (const deadline = Date.now() + READY_WITHIN_MS; Date.now() < deadline; await sleep(ASK_EVERY_MS)) {
    if ((await attempt('GET', `${url}/readyz`))?.status === 200) return;
  }
  await crash(0);
}

/** A user who posts while the folder is away, and counts what is acknowledged. */
function asker({ urls }: Stage, { invites, tongue }: Occasion) {
  const user = `f${next({ tongue })}`;
  const posted: string[] = [];
  const acknowledged: string[] = [];
  const check = async (): Promise<Finding[]> => {
    if (acknowledged.length === 0) return [];
    const what = `${acknowledged.length} of ${posted.length} batches of ${user} were acknowledged without a data folder`;
    return [{ kind: 'lost', what }];
  };
  const guest = { story: null, accepted: 0, mayPark: 0, check };
  invites(guest);
  const requestOf = (key: string) => {
    const messages = [{ role: 'user', content: `${user} asks for ${key}` }];
    return { body: { user_id: user, messages, mode: 'verbatim' }, headers: { 'idempotency-key': key } };
  };
  return {
    ask: async (): Promise<void> => {
      for (const end = Date.now() + ASKED_MS; Date.now() < end; await sleep(ASK_EVERY_MS)) {
        const key = `${user}/${next({ tongue })}`;
        posted.push(key);
        const answer: Answer | null = await attempt('POST', `${urls.ingest}/v1/batches`, requestOf(key));
        if (answer?.status === 202) acknowledged.push(key);
      }
    },
    /** What became of each nobody knows, so all are posted again under their keys. */
    settle: async (): Promise<void> => {
      for (const key of posted) await insist('POST', `${urls.ingest}/v1/batches`, requestOf(key));
      guest.accepted = posted.length;
    },
  };
}
