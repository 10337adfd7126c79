import { expect, test } from 'vitest';
import { expectLater, namesVersion, withRelease, withVersion } from '../release/versions.ts';
import { filesBelow, textOf } from './files.ts';

const { version: LAST } = JSON.parse(await textOf('package.json')) as { version: string };

test('all parts have one version, and a release changes it in all of them', async () => {
  const rooms = await Promise.all(['apps', 'packages', 'clients', 'infra'].map(filesBelow));
  const files = ['package.json', 'docker-compose.yml', ...rooms.flat()].filter(
    (path) => namesVersion(path) && !path.includes('node_modules'),
  );
  const texts = await Promise.all(files.map(async (path) => ({ path, text: await textOf(path) })));
  const changed = texts.filter(({ text }) => withVersion(text, LAST, '7.8.9') !== text).map(({ path }) => path);
  const packages = files.filter((path) => /package\.json$|pyproject\.toml$/.test(path));
  expect(packages.length).toBeGreaterThan(15);
  expect(packages.filter((path) => !changed.includes(path))).toEqual([]);
  const images = texts.filter(({ text }) => /slowwave:\d|newTag:/.test(text)).map(({ path }) => path);
  expect(images.filter((path) => !changed.includes(path))).toEqual([]);
});

test('versions of other things stay as they are', () => {
  expect(withVersion('"pino": "0.1.0", "version": "0.1.0"\nimage: redis:0.1.0', '0.1.0', '0.2.0')).toBe(
    '"pino": "0.1.0", "version": "0.2.0"\nimage: redis:0.1.0',
  );
});

test.each(['0.1.0', '0.0.9', '1', 'v1.0.0', '1.0.0-beta'])('%s is no release after 0.1.0', (version) => {
  expect(() => expectLater(version, '0.1.0')).toThrow(/expected a version/);
});

test.each(['0.1.1', '0.2.0', '1.0.0', '0.10.0'])('%s is one', (version) => {
  expect(() => expectLater(version, '0.1.0')).not.toThrow();
});

test('the changelog keeps what was unreleased under the new version, and needs something there', () => {
  const released = withRelease(
    '# Changes\n\n## Unreleased\n\nNew.\n\n## 0.1.0 – 2026-01-01\n\nFirst.\n',
    '0.2.0',
    '2026-02-01',
  );
  expect(released).toBe(
    '# Changes\n\n## Unreleased\n\n## 0.2.0 – 2026-02-01\n\nNew.\n\n## 0.1.0 – 2026-01-01\n\nFirst.\n',
  );
  expect(() => withRelease(released, '0.3.0', '2026-03-01')).toThrow('what is new, got nothing');
});
