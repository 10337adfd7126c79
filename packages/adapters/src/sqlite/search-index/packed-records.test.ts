import type { IndexPoint } from '@slowwave/engine';
import { indexPoint, pick, seeded } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { keptPart } from '../../index-point.ts';
import { WITHDRAWN } from './heads.ts';
import { grownRecords, type KeptPoint, packRow, pointsIn } from './packed-records.ts';
import { keptJson, partsOf, ShownRow } from './packed-shown.ts';
import { headOf, momentsOf, recordOf } from './record.ts';
import { segmentOf } from './stored-point.ts';

const random = seeded(11);
const count = (most: number): number => Math.floor(random() * most);
const moment = (): number => pick([count(1e6), -count(1e6), -0, 0.5, 1_795_842_484_424, 2 ** 53 - 1], random);
const orNull = <T>(of: T): T | null => (random() < 0.5 ? of : null);
const said = () => ({ at: moment(), seq: count(1e6) });
const words = (): string[] =>
  Array.from({ length: count(12) }, () => pick(['tea', 'Zoë', '猫', '\u{1f600}', ''], random));
const IDS = [
  ...['', 'm1', 'Zoë', 'mem_01', 'ent_01m8g8w6s1', `lane_${'0'.repeat(25)}`, `mem_${'u'.repeat(26)}`],
  ...['mem_01m8g8w76p0smhfjhj8q9n4b36', 'msg_01m8g8w6s16v44yhyy7w229z13', `rel_${'z'.repeat(26)}`],
];
const TEXTS = ['', 'Likes tea', 'Zoë 猫 \u{1f600}', 'half \ud800', 'x'.repeat(5_000)];

const anyVector = () => Float32Array.from({ length: 5 }, () => pick([0, random() - 0.5], random));

const anyPoint = (): IndexPoint =>
  indexPoint({
    ...{ memoryId: pick(IDS, random), version: count(300), revision: 1 + count(3), live: random() < 0.5 },
    ...{ terms: words(), contextTerms: words(), text: pick(TEXTS, random), sourceIds: [pick(IDS, random)] },
    ...{ saidAt: said(), validFrom: moment(), invalidAt: orNull(moment()), expiresAt: orNull(moment()) },
    ...{ deletedAt: orNull(said()), ids: { agentId: words(), runId: words(), appId: words() } },
    ...{
      createdAt: moment(),
      updatedAt: moment(),
      category: orNull('food'),
      metadata: pick([{}, { a: [null] }], random),
    },
    vector: pick([new Float32Array(5), Float32Array.of(1, 0, 0, -1, 0), anyVector()], random),
  });

const MANY = indexPoint({
  memoryId: 'm1',
  terms: Array.from({ length: 300 }, () => 'tea'),
  vector: new Float32Array(5),
});

/** A point as it is kept, and what is shown of it. */
function keptAt(point: IndexPoint, slot: number): KeptPoint & { readonly shown: string | null } {
  const { memoryId, version, revision } = point;
  const at = { slot, memoryId, version, revision, change: count(1e6) };
  if (random() < 0.2)
    return { head: { ...at, live: WITHDRAWN, moments: new Float64Array(0) }, said: null, shown: null };
  const moments = Float64Array.from(momentsOf(point));
  const kept = keptPart(point);
  const said = { record: recordOf(headOf(point, slot), point.vector), parts: partsOf(kept, moments) };
  return { head: { ...at, live: point.live ? 1 : 0, moments }, said, shown: JSON.stringify(kept) };
}

const ofAll = ({ head: { moments: _, ...head } }: KeptPoint) => head;

test('points that are kept together are the same when they are read, byte for byte', () => {
  for (let life = 0; life < 60; life += 1) {
    const first = 64 * count(1_000);
    const points = [...Array.from({ length: 5 }, anyPoint), MANY].map((point, i) => keptAt(point, first + i * 3));
    const row = packRow(points, first);
    const found = pointsIn(row, first);
    expect(found.map(ofAll)).toEqual(points.map(ofAll));
    for (const [i, { head, said }] of found.entries()) {
      const shown = said === null ? null : JSON.parse(keptJson(said.parts, head.moments));
      expect(shown).toEqual(JSON.parse(points[i]?.shown ?? 'null'));
    }
    const records = points.flatMap(({ said }) => (said === null ? [] : [said.record]));
    expect(Buffer.from(grownRecords(row, first))).toEqual(Buffer.concat(records));
  }
});

test('a usual point among others takes little more than its vector and its text; one that says the same again, a few bytes', () => {
  const sentence = (i: number): string => `Likes thing ${i} with milk`;
  const points = Array.from({ length: 64 }, (_, i) => {
    const vector = Float32Array.from({ length: 384 }, (_, n) => (((n * (1 + (i % 32))) % 255) - 127) / 1_024);
    const terms = ['like', 'thing', `${i % 32}`, 'milk'];
    const memoryId = `mem_01m8g8w76p0smhfjhj8q9n4b${10 + i}`;
    return indexPoint({ memoryId, vector, terms, contextTerms: terms, text: sentence(i % 32) });
  });
  const bytesOf = (some: readonly IndexPoint[]): number => {
    const kept = some.map((point, slot) => ({
      head: {
        ...{ slot, memoryId: point.memoryId, version: 1, revision: 1, change: slot, live: 1 },
        moments: Float64Array.from(momentsOf(point)),
      },
      said: {
        record: recordOf(headOf(point, slot), point.vector),
        parts: partsOf(keptPart(point), Float64Array.from(momentsOf(point))),
      },
    }));
    const { heads, shown, records } = packRow(kept, 0);
    return heads.length + shown.length + records.length;
  };
  const once = bytesOf(points.slice(0, 32));
  expect(once / 32).toBeLessThan(384 + sentence(10).length + 64);
  expect((bytesOf(points) - once) / 32).toBeLessThan(64);
});

test('nothing is kept of what is withdrawn but that it is, and when', () => {
  const head = {
    slot: 3,
    memoryId: 'm',
    version: 1,
    revision: 2,
    change: 4,
    live: WITHDRAWN,
    moments: new Float64Array(8),
  };
  const row = packRow([{ head, said: null }], 0);
  expect(segmentOf(grownRecords(row, 0)).points).toEqual([]);
  expect(new ShownRow(row.shown, 0).slots).toEqual([]);
  expect(row.heads.length + row.shown.length + row.records.length).toBeLessThan(20);
});
