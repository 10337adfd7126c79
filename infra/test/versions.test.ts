import { expect, test } from 'vitest';
import { filesBelow, textOf } from './files.ts';

test('everything that is published has the version of the root', async () => {
  const { version } = JSON.parse(await textOf('package.json')) as { version: string };
  const isManifest = (path: string): boolean => /^packages\/[^/]+\/package\.json$/.test(path);
  const manifests = (await filesBelow('packages')).filter(isManifest);
  const versions = await Promise.all(manifests.map(async (path) => [path, JSON.parse(await textOf(path)).version]));
  const [, ofPython] = /^version = "(.+)"$/m.exec(await textOf('clients/python/pyproject.toml')) ?? [];
  expect(manifests.length).toBeGreaterThan(5);
  expect([...versions, ['clients/python', ofPython]].filter(([, one]) => one !== version)).toEqual([]);
});
