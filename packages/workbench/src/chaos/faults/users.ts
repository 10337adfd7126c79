import { setTimeout as sleep } from 'node:timers/promises';
import { insist } from '../api.ts';
import { checkForgotten, checkRead, checkWords, type OddlyRead } from '../checks/guests.ts';
import { factOf, momentOf, next, say, type Talk, textOf, write } from '../load.ts';
import { UNEMBEDDABLE } from '../model.ts';
import { ODDITIES, type Oddity } from '../oddities.ts';
import { untilEnded } from '../quiet.ts';
import type { Random } from '../random.ts';
import type { Stage } from '../stage.ts';
import { newStory, type Story } from '../story.ts';
import { EVERYWHERE, type Fault, type Occasion } from './fault.ts';

/** A user who talks because of a fault, and is looked at as all others are. */
function guestOf(stage: Stage, { random, tongue }: { random: Random; tongue: Occasion['tongue'] }, named: Named): Talk {
  const { graph, name } = named;
  return { stage, tongue, random, story: newStory(`${name}${next({ tongue })}`, { graph }) };
}

interface Named {
  readonly name: string;
  readonly graph: boolean;
}

/** Says one thing, and what the text goes on with. */
async function sayOne(talk: Talk, key: number, more = ''): Promise<void> {
  const number = next(talk);
  const text = textOf(key, talk.story.user, `v${number}${more}`);
  await say(talk, [factOf(talk, text, number)], { flush: true });
}

const REFUSED_KEY = 3;

/** A user some of whose texts no embedder takes, in each place in which a text is embedded. */
const refusedText: Fault = {
  kind: 'text refused by the embedder',
  modes: EVERYWHERE,
  interrupts: false,
  run: async (stage, random, { invites, tongue }) => {
    const talk = guestOf(stage, { random, tongue }, { name: 'r', graph: true });
    const { story } = talk;
    invites({ story, accepted: 0, mayPark: 0, check: (then) => checkWords(then, story, UNEMBEDDABLE) });
    await sayOne(talk, 0);
    await write(talk, `A note ${next(talk)} by ${story.user}, ${UNEMBEDDABLE}`);
    await sayOne(talk, 1);
    await sayOne(talk, REFUSED_KEY, ` and ${UNEMBEDDABLE}`);
    const aloud = `${story.user} reads aloud the ${UNEMBEDDABLE} page ${next(talk)}`;
    await say(talk, [factOf(talk, aloud, next(talk))], { mode: 'verbatim', flush: true });
    await sayOne(talk, 0);
  },
};

/** How many users are read oddly at a time, each in another way. */
const ODD_AT_ONCE = 3;

const oddAnswers: Fault = {
  kind: 'answers huge or misshapen',
  modes: EVERYWHERE,
  // A model that makes fifty megabytes for one is late for others, and comes to them again.
  interrupts: true,
  lingers: true,
  run: async (stage, random, occasion) => {
    const drawn = random.shuffled([...ODDITIES]).slice(0, ODD_AT_ONCE);
    await Promise.all(drawn.map((oddity, i) => talkOddly(stage, { random: random.fork(String(i)), occasion }, oddity)));
  },
};

async function talkOddly(
  stage: Stage,
  { random, occasion }: { random: Random; occasion: Occasion },
  oddity: Oddity,
): Promise<void> {
  const { tongue, invites } = occasion;
  const user = `o${next({ tongue })}`;
  stage.provider.answerOddly(user, oddity);
  const texts = [0, 1, 2].map((key) => textOf(key, user, `v${next({ tongue })}`));
  const read: OddlyRead = { user, oddity, texts, batch: null };
  const guest = { story: null, accepted: 0, mayPark: 1, check: (then: Stage) => checkRead(then, read) };
  invites(guest);
  const messages = texts.map((content, i) => ({ role: 'user', content, timestamp: momentOf(tongue.count + i) }));
  const body = { user_id: user, messages, flush: random.chance(1 / 2) };
  const answer = await insist('POST', `${stage.urls.ingest}/v1/batches`, {
    body,
    headers: { 'idempotency-key': `${user}/odd` },
  });
  guest.accepted = 1;
  read.batch = (answer.body as { batch_id: string }).batch_id;
}

/** What a user who is erased said: words of a form of their own, so that they are in nothing else. */
const formerValue = (talk: Talk): string => `v9${String(next(talk)).padStart(7, '0')}`;

const BACK_AFTER_MS = { from: 0, to: 300 };
const KEYS_BEFORE = [0, 1, 4];

/** A user is erased, and the very next moment somebody talks under the same id, about the same things. */
const erasedAndBack: Fault = {
  kind: 'erased and posted again',
  modes: EVERYWHERE,
  interrupts: false,
  run: async (stage, random, { invites, tongue }) => {
    const former = guestOf(stage, { random, tongue }, { name: 'e', graph: true });
    const { user } = former.story;
    const later: Story = newStory(user, { graph: true });
    const gone: string[] = [];
    const known = { erasure: null as string | null, gone, from: Number.POSITIVE_INFINITY, story: later };
    const guest = { story: later, accepted: 0, mayPark: 0, check: (then: Stage) => checkForgotten(then, known) };
    invites(guest);
    for (const key of KEYS_BEFORE) {
      const value = formerValue(former);
      gone.push(value);
      await say(former, [factOf(former, textOf(key, user, value), next(former))], { flush: true });
      guest.accepted += 1;
    }
    await untilEnded(
      stage,
      former.story.batches.map(({ id }) => id),
    );
    const { body } = await insist('DELETE', `${stage.urls.console}/v1/users/${user}`);
    known.erasure = (body as { erasure_id: string }).erasure_id;
    known.from = Date.now();
    if (random.chance(1 / 2)) await sleep(random.between(BACK_AFTER_MS.from, BACK_AFTER_MS.to));
    for (const key of KEYS_BEFORE) await sayOne({ ...former, story: later }, key);
  },
};

export const USER_FAULTS: readonly Fault[] = [refusedText, oddAnswers, erasedAndBack];
