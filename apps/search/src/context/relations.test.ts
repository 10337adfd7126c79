import { projectGraphNow } from '@slowwave/engine';
import { sayGraph } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { searchBench } from '../testing/bench.ts';

test('tells relations to who asks for them, with the memories or alone', async () => {
  const b = await searchBench();
  await b.remember('Ann lives in Berlin');
  const ask = async (body: object) =>
    (await b.app.inject({ method: 'POST', url: '/v1/context', payload: { user_id: 'ann', ...body } })).json();
  const { lane } = await sayGraph(b.engine.deps, ['Bea > sister_of > Ann', 'Bea > works_at > Acme']);
  await projectGraphNow(b.engine.deps, lane, 'not told');
  const query = 'where does the sister of Ann work?';
  expect((await ask({ query })).text).not.toContain('Relations');
  const { text, sections, memory_ids } = await ask({ query, cut: 'none', sections: ['memories', 'relations'] });
  expect(text).toContain('Ann lives in Berlin\n# Relations\n- 2026-03-01 Bea works at Acme\n');
  expect(sections.relations).toEqual({ shown: 2, left_out: 0 });
  expect(memory_ids).toHaveLength(1);
  expect((await ask({ query, sections: ['relations'] })).text).not.toContain('Berlin');
  expect(await ask({ sections: ['relations'] })).toMatchObject({ status: 400 });
});
