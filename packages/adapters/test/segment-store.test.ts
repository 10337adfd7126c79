import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IndexPoint, SegmentContent, TenantId } from '@slowwave/engine';
import { packedVector, unpackedVector } from '@slowwave/engine/storing';
import { S3_REGION, type S3Server, startS3Server, type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Bucket, folderObjects, type Objects, s3Objects } from '../src/cold/objects.ts';
import { segmentsIn } from '../src/cold/segments.ts';

let folder: TempDir;
let server: S3Server;
let bucket: Bucket;
beforeAll(async () => {
  [folder, server] = await Promise.all([tempDir(), startS3Server()]);
  const { accessKey, secretKey, bucket: name, url: endpoint } = server;
  bucket = { accessKey, secretKey, name, endpoint, region: S3_REGION, prefix: 'of/tests/' };
});
afterAll(async () => {
  await server.close();
  await folder.remove();
});

const STORES: Readonly<Record<string, () => Objects>> = {
  'a folder': () => folderObjects(join(folder.path, 'segments')),
  'a bucket': () => s3Objects(bucket),
};

const vector = unpackedVector(packedVector(new Float32Array([0.25, -1, 0.5, 0.125])));
const base64 = Buffer.from(packedVector(vector)).toString('base64');
const content: SegmentContent = {
  lines: [
    '{"type":"owner","kind":"user","id":"ann 🙂","sum":"1"}',
    `{"type":"vector","fingerprint":"f","text_hash":"h","vector":"${base64}","sum":"2"}`,
    '{"type":"vector","fingerprint":"f","text_hash":"refused","vector":"","sum":"3"}',
    '{"type":"end","lines":4,"state":null,"sum":"4"}',
  ],
  points: [
    { shelf: 'memories', tenant: 'default' as TenantId, memoryId: 'mem_1', text: 'likes #1', vector } as IndexPoint,
    { shelf: 'memories', memoryId: 'mem_2', vector: new Float32Array(4) } as IndexPoint,
  ],
  space: 'space',
  told: [{ id: 'bat_1', points: 2 }],
};

describe.each(Object.entries(STORES))('segments in %s', (_, open) => {
  let objects: Objects;
  beforeEach(() => {
    objects = open();
  });

  it('come back as they were written, each vector once', async () => {
    const segments = segmentsIn(objects);
    const bytes = await segments.put('seg_1', content);
    expect(await segments.get('seg_1')).toEqual(content);
    expect(await segments.list(null, 10)).toEqual([{ name: 'seg_1', bytes }]);
    await segments.delete('seg_1');
    await segments.delete('seg_1');
    expect(await segments.get('seg_1')).toBeNull();
    expect(await segments.list(null, 10)).toEqual([]);
  });

  it('are listed by name, page by page', async () => {
    for (const name of ['c', 'a', 'b']) await objects.put(name, Buffer.from(name));
    const first = await objects.list(null, 2);
    expect(first).toEqual([
      { name: 'a', bytes: 1 },
      { name: 'b', bytes: 1 },
    ]);
    expect(await objects.list('b', 2)).toEqual([{ name: 'c', bytes: 1 }]);
    for (const name of ['a', 'b', 'c']) await objects.delete(name);
  });

  it('are refused where anything of them has changed', async () => {
    const segments = segmentsIn(objects);
    await segments.put('seg_2', content);
    const bytes = Buffer.from((await objects.get('seg_2')) ?? []);
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    await objects.put('seg_2', bytes);
    await expect(segments.get('seg_2')).rejects.toThrow('its checksum is wrong');
    await objects.put('seg_2', Buffer.from('something else'));
    await expect(segments.get('seg_2')).rejects.toThrow('it is not a segment');
    await segments.delete('seg_2');
  });

  it('say that nothing stays of what is deleted', async () => {
    expect(await objects.remains()).toEqual([]);
  });
});

describe('segments in a bucket', () => {
  it('stand behind a prefix, under names that name nobody', async () => {
    await segmentsIn(s3Objects(bucket)).put('seg_3', content);
    expect([...server.objects.keys()]).toEqual(['of/tests/seg_3']);
    await s3Objects(bucket).delete('seg_3');
  });

  it('may be kept as old versions, and it is said so', async () => {
    server.versioning = 'Enabled';
    expect(await s3Objects(bucket).remains()).toEqual([expect.stringContaining('versioning (enabled)')]);
    server.versioning = null;
  });

  it('are asked for again while the server is busy, and then no more', async () => {
    server.faults.push(503, 503);
    await s3Objects(bucket).put('seg_4', Buffer.from('x'));
    server.faults.push(500, 500, 500);
    await expect(s3Objects(bucket).get('seg_4')).rejects.toThrow(
      'expected the bucket segments to answer GET, got status 500 SlowDown',
    );
    await s3Objects(bucket).delete('seg_4');
  });

  it('need the right key', async () => {
    const wrong = s3Objects({ ...bucket, secretKey: 'another' });
    await expect(wrong.get('seg_1')).rejects.toThrow('got status 403 SignatureDoesNotMatch; check SLOWWAVE_COLD_STORE');
  });
});

it('a file that is not finished is none', async () => {
  const objects = folderObjects(join(folder.path, 'other'));
  await objects.put('seg_1', Buffer.from('1'));
  await writeFile(join(folder.path, 'other', 'seg_2.segment.unfinished'), 'half');
  expect(await objects.list(null, 10)).toEqual([{ name: 'seg_1', bytes: 1 }]);
  expect(await objects.get('seg_2')).toBeNull();
});
