import { CutOff, expectTrue, fakeChat, type Reply, type Script, studyBench } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TENANT, type JsonObject } from '../../words.ts';

const relation = (destination: string, more: JsonObject = {}): JsonObject => ({
  ...{ source: 'user', relationship: 'likes', destination, said: 'holds', from: null, until: null },
  ...{ single: false, source_ids: ['m0'], quote: null, ...more },
});
const asked = (input: JsonObject): JsonObject => (input.input as JsonObject | undefined) ?? input;

/** What becomes of a message where the graph's questions are answered in this way. */
async function studied(
  said: readonly string[],
  answers: { readonly found: Script; readonly decided?: Script; readonly before?: readonly string[] },
) {
  const repaired: Script = (input, nth) =>
    input.call === 'decide_graph' ? (answers.decided?.(input, nth) ?? {}) : answers.found(input, nth);
  const chat = fakeChat({
    extract_facts: () => ({ facts: [] }),
    extract_graph: answers.found,
    decide_graph: answers.decided ?? (() => ({ ends: [], pairs: [] })),
    repair_output: repaired,
  });
  const bench = await studyBench({ chat });
  if (answers.before !== undefined) {
    await bench.post(answers.before);
    await bench.run();
    await bench.study();
  }
  let breaths = 0;
  bench.tools.breathe = async () => {
    breaths += 1;
  };
  const id = await bench.post(said);
  await bench.run();
  const before = breaths;
  await bench.study();
  await expectTrue(bench.deps.ledger);
  const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
  const study = await bench.deps.ledger.graph.study(DEFAULT_TENANT, batch?.consolidationId ?? '');
  const steps = (await bench.deps.ledger.thoughts.answers(batch?.consolidationId ?? '')).map(({ step }) => step);
  return {
    study,
    live: (await bench.relations(null)).map((text) => text.slice(0, text.lastIndexOf(' '))),
    reasons: study?.plan?.remarks.map(({ did }) => did) ?? [],
    steps: steps.filter((step) => step.startsWith('graph:') && !step.includes(':un')),
    breaths: breaths - before,
  };
}

const answering = (found: Reply) => studied(['I like tea and chess.'], { found: () => found });

describe('an answer about the graph', () => {
  it('with 20,000 relations counts up to the limits; the others are told of or counted, and others have their turn meanwhile', async () => {
    const many = [
      relation('tea'),
      ...Array.from({ length: 19_999 }, (_, i) => ({ head: 'user', type: 'likes', tail: `t${i}` })),
    ];
    const { study, live, reasons, breaths } = await answering({ entities: [], relations: many });
    expect(study?.state).toBe('applied');
    expect(live).toEqual(['User likes tea']);
    expect(reasons).toContain('refused: more than 1000 relations in one answer');
    expect(study?.plan?.remarks).toContainEqual({
      asked: `${20_000 - 1_000 - 200} more`,
      did: 'refused: more than 1000 relations in one answer',
    });
    expect(breaths).toBeGreaterThan(900);
  });

  it('with relations in lists in lists, and bare words between them, has those that can be read', async () => {
    const { live, reasons } = await answering({
      entities: ['tea', ['chess'], [[[[[[]]]]]]],
      relations: [[[relation('tea')], relation('chess')], 'user likes rain', null, 5],
    } as unknown as JsonObject);
    expect(live).toEqual(['User likes chess', 'User likes tea']);
    expect(reasons).toEqual([
      'refused: cannot be read as an entity',
      ...Array(3).fill('refused: cannot be read as a relation'),
    ]);
  });

  it('in two objects counts as one', async () => {
    const [one, other] = ['tea', 'chess'].map((what) => JSON.stringify({ entities: [], relations: [relation(what)] }));
    expect((await answering(`${one}\n${other}`)).live).toEqual(['User likes chess', 'User likes tea']);
  });

  it('of which nothing can be read is no answer', async () => {
    const { study, live } = await answering({ entities: ['', null], relations: ['user likes tea'] } as JsonObject);
    expect(live).toEqual([]);
    expect(study).toMatchObject({ state: 'parked', failure: { code: 'model_output_unusable' } });
  });
});

const TALK = ['tea', 'chess', 'rain', 'cats'].map((what) => `I like ${what}. ${'We talked a long time. '.repeat(120)}`);

/** Finds what each message says it likes; breaks off where more messages than these are shown. */
const shortOfBreath =
  (most: number): Script =>
  (input) => {
    const shown = asked(input).messages as unknown as { id: string; content: string }[];
    const likes = shown.map(({ id, content }) =>
      relation(/like (\w+)/u.exec(content)?.[1] ?? '', { source_ids: [id] }),
    );
    const whole = JSON.stringify({ entities: [], relations: likes });
    return shown.length > most ? new CutOff(whole.slice(0, -4)) : whole;
  };

describe('an answer about the graph that stays cut off', () => {
  it('is asked for in halves before its study is parked: nothing is missing', async () => {
    const { study, live, steps } = await studied(TALK, { found: shortOfBreath(1) });
    expect(study?.state).toBe('applied');
    expect(live).toEqual(['User likes cats', 'User likes chess', 'User likes rain', 'User likes tea']);
    expect(steps.filter((step) => /^graph:extract\/\d/u.test(step))).toHaveLength(TALK.length);
  });

  it('parks the study where even a short message is too much, with nothing of it applied', async () => {
    const { study, live } = await studied(TALK, { found: shortOfBreath(0) });
    expect(study).toMatchObject({ state: 'parked', failure: { message: expect.stringContaining('truncated') } });
    expect(live).toEqual([]);
  });

  const JOBS = ['I', 'Eva', 'Bob'];
  const worksAt: Script = (input) => {
    const shown = asked(input).messages as unknown as { id: string; content: string }[];
    const told = shown.flatMap(({ id, content }) =>
      [...content.matchAll(/(\w+) works? at (\w+)/gu)].map(([, who = '', where = '']) =>
        relation(where, { source: who === 'I' ? 'user' : who, relationship: 'works_at', source_ids: [id] }),
      ),
    );
    return { entities: [], relations: told };
  };
  /** Lets what is new end what was known of the same source. */
  const endsOf =
    (most: number): Script =>
    (given) => {
      const input = asked(given) as unknown as Record<'new' | 'known', readonly { id: string; source: string }[]>;
      const ends = input.known.flatMap(({ id, source }) => {
        const by = input.new.find((one) => one.source === source);
        return by === undefined ? [] : [{ relation: id, by: by.id, reason: 'a new job' }];
      });
      const whole = JSON.stringify({ ends, pairs: [] });
      return input.new.length > most ? new CutOff(whole.slice(0, -4)) : whole;
    };
  const jobsAt = (where: string) => [JOBS.map((who) => `${who} work at ${where}.`).join(' ')];
  const changed = (most: number) =>
    studied(jobsAt('Globex'), { found: worksAt, decided: endsOf(most), before: jobsAt('Acme') });

  it('is asked what to decide in halves, down to one doubt', async () => {
    const halved = await changed(1);
    expect(halved.live).toEqual(['Bob works_at Globex', 'Eva works_at Globex', 'User works_at Globex']);
    expect(halved.live).toEqual((await changed(9)).live);
    expect(halved.steps).toEqual(['graph:extract', 'graph:decide/1/1', 'graph:decide/1/2', 'graph:decide/2']);
    expect((await changed(0)).study).toMatchObject({ state: 'parked' });
  });
});
