import { expect, test } from 'vitest';
import { textOf } from './files.ts';

/** The packages that a text with `packages/{one,another}/` lists. */
const listedIn = (text: string): readonly string[] =>
  /packages\/\{([^}]+)\}\//.exec(text)?.[1]?.split(',').sort() ?? [];

/** The packages of the workspace that a package, and what it depends on, imports or is tested with. */
async function neededBy(name: string, known = new Set([name])): Promise<ReadonlySet<string>> {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(await textOf(`packages/${name}/package.json`));
  for (const dependency of Object.keys({ ...dependencies, ...devDependencies })) {
    const own = /^@slowwave\/(.+)$/.exec(dependency)?.[1];
    if (own === undefined || known.has(own)) continue;
    known.add(own);
    await neededBy(own, known);
  }
  return known;
}

test('the tests that turbo remembers of the engine are run again when anything they need changes', async () => {
  const { tasks } = JSON.parse(await textOf('turbo.json'));
  const watched = listedIn(tasks['//#test:unit:engine'].inputs.join(' '));
  const needed = await Promise.all(watched.map((name) => neededBy(name)));
  expect([...new Set(needed.flatMap((names) => [...names]))].sort()).toEqual(watched);
});

test('each unit test belongs to one of the parts: the gates, the rest of the engine, and the others', async () => {
  const { scripts } = JSON.parse(await textOf('package.json'));
  const { tasks } = JSON.parse(await textOf('turbo.json'));
  const { engine, others } = { engine: scripts['test:unit:engine'], others: scripts['test:unit:others'] };
  const ran = [...engine.matchAll(/ packages\/([\w-]+)\//g)].map(([, name]) => name).sort();
  expect(ran.length).toBeGreaterThan(0);
  expect(ran).toEqual(listedIn(others));
  expect(ran).toEqual(listedIn(tasks['//#test:unit:engine'].inputs.join(' ')));
  const [, left = ''] = /--exclude '\{apps,packages\}\/\*\*\/\{([\w,]+)\}\/\*\*'/.exec(engine) ?? [];
  expect(others).toContain(`{${left}}`);
  const gates = [...scripts['test:unit:gates'].matchAll(/ \/(\w+)\//g)].map(([, folder]) => folder);
  expect(gates).toEqual(left.split(','));
});
