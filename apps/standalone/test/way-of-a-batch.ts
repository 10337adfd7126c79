import { answers, echoExtractor, keyedDecider, startModelServer } from '@slowwave/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call, done, found, get, post, quiet, said } from './client.ts';
import type { OpenSetup, Setup } from './setups.ts';

/** A turn that ran in a worker on Redis when it crashed is due again after its lock has expired: in 4 to 8 s. */
const SOON = { timeout: 60_000, interval: 100 };
const AFTER_CRASH_MS = 80_000;
/** Said by users who are erased then, and by nobody else. */
const FORMER = 'Xyzzy';

/** What somebody says of herself, and says anew later. */
interface Life {
  readonly first: string;
  readonly later: string;
  readonly asked: string;
  /** What the memory says of it before and after. */
  readonly places: readonly [string, string];
}

const WITH_RULES: readonly Life[] = [
  {
    first: "I'm Ana, I moved from Lisbon to Oslo last week and I'm allergic to peanuts",
    later: 'Actually I live in Bergen now',
    asked: 'where does she live?',
    places: ['Oslo', 'Bergen'],
  },
  {
    first: '我叫小明,住在上海,喜欢吃辣的。',
    later: '我搬到北京了',
    asked: '他住在哪里?',
    places: ['上海', '北京'],
  },
];
const WITH_A_SCRIPT: readonly Life[] = [
  { first: 'Her home is Oslo', later: 'Her home is Bergen', asked: 'where is her home?', places: ['Oslo', 'Bergen'] },
  { first: '他的家 is 上海', later: '他的家 is 北京', asked: '他的家在哪里?', places: ['上海', '北京'] },
];

/** What holds however Slowwave is run. How the builtin model reads is the same however many processes there are. */
export function describeWay(name: string, open: OpenSetup, { builtin }: { readonly builtin: boolean }): void {
  describe(`the way of a batch, ${name}`, () => {
    let setup: Setup;
    const flushed = (userId: string, ...contents: string[]) => ({ ...said(userId, ...contents), flush: true });
    const consolidated = async (body: object): Promise<ReturnType<typeof get>> => {
      const answer = await post(`${setup.ingest}/v1/batches?wait=60000`, body);
      expect(answer.body.state).toBe('consolidated');
      return answer;
    };

    const itLives = (lives: readonly Life[]): void => {
      it.each(lives)(
        'what is said is found, what changes is updated with its history, and nobody else sees it: $later',
        async ({ first, later, asked, places: [before, after] }) => {
          const user = `of-${after}`;
          const posted = await post(`${setup.ingest}/v1/batches`, flushed(user, first));
          expect(posted.status).toBe(202);
          const status = await get(`${setup.ingest}${posted.body.status_url}?wait=60000`);
          expect(status.body.state).toBe('consolidated');
          expect((await found(setup.search, user, asked))[0]).toContain(before);
          expect(await found(setup.search, 'bob', asked)).toEqual([]);

          const update = await consolidated(flushed(user, later));
          const event = update.body.events.find((one: { event: string }) => one.event === 'UPDATE');
          expect(event.memory).toContain(after);
          expect(event.previous).toContain(before);
          const now = await found(setup.search, user, asked);
          expect(now[0]).toContain(after);
          expect(now.join()).not.toContain(before);
          const context = await post(`${setup.search}/v1/context`, { user_id: user, query: asked });
          expect(context.body).toMatchObject({ text: expect.stringContaining(event.memory), pending: [] });
          const history = await get(`${setup.search}/v1/memories/${event.memory_id}/history`);
          expect(history.body.results.map((one: { event: string }) => one.event)).toEqual(['ADD', 'UPDATE']);
          const sources = await get(`${setup.search}/v1/memories/${event.memory_id}/sources`);
          expect(sources.body.results.map((one: { content: string }) => one.content).join()).toContain(after);
        },
      );
    };

    if (builtin)
      describe('with the builtin model', () => {
        beforeAll(async () => {
          setup = await open();
        });
        afterAll(() => setup.close());
        itLives(WITH_RULES);
      });

    describe('with a scripted model', () => {
      const keyOf = (text: string): string => text.split(' is ')[0] ?? text;
      const script = answers({ extract_facts: echoExtractor(), decide_operations: keyedDecider(keyOf) });
      let model: Awaited<ReturnType<typeof startModelServer>>;
      beforeAll(async () => {
        model = await startModelServer({ script });
        setup = await open({
          OPENAI_BASE_URL: model.baseUrl,
          SLOWWAVE_EMBEDDING_MODEL: 'builtin',
          SLOWWAVE_MAX_ATTEMPTS: '3',
        });
      });
      afterAll(async () => {
        await setup.close();
        await model.close();
      });
      /** What was there before a test: users and keys of tests are their own. */
      let before: Awaited<ReturnType<typeof quiet>>;
      beforeEach(async () => {
        before = await quiet(setup.search);
      });
      afterEach(() => model.setScript(script));

      const USERS = 20;
      const EACH = 5;
      const textsOf = (group: string) =>
        Array.from({ length: USERS * EACH }, (_, i) => ({
          user: `${group}-${i % USERS}`,
          text: `fact ${Math.floor(i / USERS)} of ${group}-${i % USERS} is set`,
        }));
      const postSome = (group: string, to = USERS * EACH): Promise<unknown> =>
        Promise.all(
          textsOf(group)
            .slice(0, to)
            .map(({ user, text }, i) =>
              post(`${setup.ingest}/v1/batches`, said(user, text), { 'idempotency-key': `${group}-batch-${i}` }),
            ),
        );
      const expectAllOnce = async (group: string, withinMs?: number): Promise<void> => {
        const texts = textsOf(group);
        const counts = await quiet(setup.search, withinMs);
        expect(counts).toMatchObject({
          accepted: before.accepted + texts.length,
          consolidated: before.consolidated + texts.length,
          parked: 0,
          gap: 0,
        });
        for (let i = 0; i < USERS; i += 1) {
          const { body } = await get(`${setup.search}/v1/memories?user_id=${group}-${i}&limit=100`);
          const mine = texts.filter(({ user }) => user === `${group}-${i}`).map(({ text }) => text);
          expect(body.results.map((memory: { memory: string }) => memory.memory).sort()).toEqual(mine.sort());
        }
      };
      /** Batches are listed newest first: none was applied before an earlier one of its user. */
      const expectInOrder = async (group: string): Promise<void> => {
        for (let i = 0; i < USERS; i += 1) {
          const { body } = await get(`${setup.ingest}/v1/batches?user_id=${group}-${i}&limit=100`);
          const applied = body.results.map((batch: { timings: { applied_at: string } }) => batch.timings.applied_at);
          expect(applied).toHaveLength(EACH);
          expect(applied).toEqual([...applied].sort().reverse());
        }
      };

      itLives(WITH_A_SCRIPT);

      it('one key means one batch', async () => {
        const before = await quiet(setup.search);
        const body = flushed('kim', 'I live in Oslo');
        const key = { 'idempotency-key': 'turn-17' };
        const first = await post(`${setup.ingest}/v1/batches`, body, key);
        expect(first.status).toBe(202);
        const again = await post(`${setup.ingest}/v1/batches`, body, key);
        expect(again.status).toBe(200);
        expect(again.body.batch_id).toBe(first.body.batch_id);
        const other = await post(`${setup.ingest}/v1/batches`, flushed('kim', 'I live in Rome'), key);
        expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
        const { accepted, consolidated: done } = await quiet(setup.search);
        expect([accepted, done]).toEqual([before.accepted + 1, before.consolidated + 1]);
      });

      it('explicit writes are searchable when they are answered', async () => {
        const added = await post(`${setup.console}/v1/memories`, { user_id: 'lea', memory: 'Likes green tea' });
        expect(added.status).toBe(201);
        expect(await found(setup.search, 'lea', 'tea')).toEqual(['Likes green tea']);
        const url = `${setup.console}/v1/memories/${added.body.id}`;
        expect((await call('PATCH', url, { body: { memory: 'Likes black tea' } })).status).toBe(200);
        expect(await found(setup.search, 'lea', 'tea')).toEqual(['Likes black tea']);
        await call('DELETE', url);
        expect(await found(setup.search, 'lea', 'tea')).toEqual([]);
      });

      it('100 batches at once for 20 users: all consolidated, in order, no duplicates, nothing lost', async () => {
        await postSome('quick');
        await expectAllOnce('quick');
        await expectInOrder('quick');
      });

      it(
        'a crash in the middle of that changes nothing about the end: what is posted again is known by its key',
        async () => {
          model.setLatency(50);
          await postSome('crashed', 60);
          await setup.crash();
          model.setLatency(0);
          await setup.start();
          await postSome('crashed');
          await expectAllOnce('crashed', AFTER_CRASH_MS);
        },
        AFTER_CRASH_MS + 60_000,
      );

      it('a failing model parks the batch with the reason; once it is well again a replay consolidates it', async () => {
        const outOfOrder = { status: 500, body: { error: { message: 'out of order' } } };
        model.setScript((asked) => (asked.name === 'are_you_there' ? { json: { there: true } } : outOfOrder));
        const accepted = await post(`${setup.ingest}/v1/batches`, flushed('ana', 'home is Oslo'));
        const parked = await get(`${setup.ingest}${accepted.body.status_url}?wait=60000`);
        expect(parked.body).toMatchObject({ state: 'parked', attempts: 3, error: { code: 'model_server_error' } });
        const consolidation = await get(`${setup.console}/v1/consolidations/${parked.body.consolidation_id}`);
        expect(consolidation.body).toMatchObject({ state: 'parked', error: { code: 'model_server_error' } });
        // The ledger knows it before the job of the turn has ended.
        const failed = `${setup.console}/queues/api/queues?activeQueue=consolidate&status=failed&page=1`;
        await expect.poll(async () => JSON.stringify((await get(failed)).body), SOON).toContain('model_server_error');

        model.setScript(script);
        const replay = await post(`${setup.console}/v1/replays`, { filter: { user_id: 'ana' } });
        expect(replay.body).toMatchObject({ matched: 1, replayed: 1 });
        const again = await get(`${setup.ingest}${accepted.body.status_url}?wait=60000`);
        expect(again.body.state).toBe('consolidated');
        expect(await found(setup.search, 'ana', 'home')).toEqual(['home is Oslo']);
      });

      // The last one: what is erased later is missing in the counts of what was consolidated.
      it('the same id that posts in the moment of its erasure meets nothing of the former user', async () => {
        const users = Array.from({ length: 8 }, (_, i) => `again-${i}`);
        const lived = (user: string) => ({ ...said(user, `I live in ${FORMER}ville.`), flush: true });
        const lives = (user: string) => ({ ...said(user, 'I live in Lima.'), flush: true });
        for (const user of users) await done(post(`${setup.ingest}/v1/batches?wait=60000`, lived(user)));
        const seen = users.map(async (user) => {
          const erased = await call('DELETE', `${setup.console}/v1/users/${user}`);
          expect(erased.status).toBe(202);
          const asked = get(`${setup.search}/v1/memories?user_id=${user}`);
          const { body } = await post(`${setup.ingest}/v1/batches?wait=60000`, lives(user));
          expect(body.state).toBe('consolidated');
          const { body: batch } = await get(`${setup.search}/v1/batches/${body.batch_id}`);
          const thought = await get(`${setup.console}/v1/consolidations/${batch.consolidation_id}`);
          const context = await post(`${setup.search}/v1/context`, { user_id: user, query: 'where does she live?' });
          expect(JSON.stringify([await asked, thought, context])).not.toContain(FORMER);
          return [user, await found(setup.search, user, `where is ${FORMER}ville?`)] as const;
        });
        for (const [user, texts] of await Promise.all(seen)) {
          expect(texts, user).toHaveLength(1);
          expect(texts[0]).toContain('Lima');
        }
      });
    });
  });
}
