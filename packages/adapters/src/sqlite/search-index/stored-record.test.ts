import type { IndexPoint } from '@slowwave/engine';
import { indexPoint, pick, seeded } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { headOf, recordOf } from './record.ts';
import { segmentOf } from './stored-point.ts';
import { grown, keptRecords, shrunk } from './stored-record.ts';

const random = seeded(11);
const count = (most: number): number => Math.floor(random() * most);
const moment = (): number => pick([count(1e6), -count(1e6), -0, 0.5, 1_795_842_484_424, 2 ** 53 - 1], random);
const orNull = <T>(of: T): T | null => (random() < 0.5 ? of : null);
const said = () => ({ at: moment(), seq: count(1e6) });
const words = (): string[] =>
  Array.from({ length: count(12) }, () => pick(['tea', 'Zoë', '猫', '\u{1f600}', ''], random));
const IDS = [
  '',
  'm1',
  'Zoë',
  'mem_01m8g8w76p0smhfjhj8q9n4b36',
  'msg_01m8g8w6s16v44yhyy7w229z13',
  'mem_01',
  'ent_01m8g8w6s1',
];

const anyPoint = (): IndexPoint =>
  indexPoint({
    ...{
      memoryId: pick(IDS, random),
      version: count(300),
      live: random() < 0.5,
      terms: words(),
      contextTerms: words(),
    },
    ...{ saidAt: said(), validFrom: moment(), invalidAt: orNull(moment()), expiresAt: orNull(moment()) },
    ...{ deletedAt: orNull(said()), ids: { agentId: words(), runId: words(), appId: words() } },
    vector: Float32Array.from({ length: 5 }, () => pick([0, random() - 0.5], random)),
  });

const MANY = indexPoint({ memoryId: 'm1', terms: Array.from({ length: 300 }, () => 'tea') });

test('records that are kept are the same when they are read, byte for byte', () => {
  for (let life = 0; life < 200; life += 1) {
    const first = count(2 ** 20);
    const points = [...Array.from({ length: 4 }, anyPoint), MANY];
    const records = points.map((point, i) => recordOf(headOf(point, first + i), point.vector));
    const kept = Buffer.concat(records.map(shrunk));
    expect(Buffer.from(grown(kept))).toEqual(Buffer.concat(records));
    expect(keptRecords(kept).map(({ slot }) => slot)).toEqual(records.map((_, i) => first + i));
    expect(keptRecords(kept).map(({ bytes }) => Buffer.from(bytes))).toEqual(records.map(shrunk));
  }
});

test('a usual record takes little more than its vector and the hashes of its words', () => {
  const vector = Float32Array.from({ length: 384 }, (_, i) => ((i % 255) - 127) / 1024);
  const terms = Array.from({ length: 20 }, (_, i) => `word${i}`);
  const point = indexPoint({ memoryId: 'mem_01m8g8w76p0smhfjhj8q9n4b36', terms, vector });
  expect(shrunk(recordOf(headOf(point, 300), vector)).length).toBeLessThan(384 + terms.length * 7 + 64);
});

test('nothing is no record', () => {
  expect(segmentOf(grown(new Uint8Array())).points).toEqual([]);
});
