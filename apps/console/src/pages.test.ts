import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { SECTIONS } from './pages.ts';

test('every page of the console is served at its address, and no other', async () => {
  const app = await readFile(new URL('../../web/src/main.tsx', import.meta.url), 'utf8');
  const sections = [...app.matchAll(/<Route path="\/([a-z]+)/g)].map(([, section]) => section);
  expect(sections.length).toBeGreaterThan(10);
  expect([...new Set(sections)].toSorted()).toEqual([...SECTIONS].toSorted());
});
