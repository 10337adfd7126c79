import { expect, it } from 'vitest';
import type { JsonObject } from '../words.ts';
import { withoutOwner } from './request.ts';

const [ANN, BEN] = [
  { kind: 'user', id: 'ann' },
  { kind: 'user', id: 'ben' },
] as const;
const filter = { states: ['consolidated'] } as const;
const memory = (owner: object) => ({ owner, memoryId: null, life: 'home: Oslo', whatIf: null });
const relation = (owner: object) => ({ owner, source: 'User', relationship: 'lives_in', destination: 'Oslo' });
const replay = (result: object) => ({ filter, result: JSON.parse(JSON.stringify(result)) as JsonObject });

it('takes memories and relations of an owner out of a result, and leaves those of others', () => {
  const both = replay({
    gone: 2,
    differences: [memory(ANN), memory(BEN)],
    relations: { gone: 2, differences: [relation(ANN), relation(BEN)] },
  });
  const left = { gone: 2, differences: [memory(BEN)], relations: { gone: 2, differences: [relation(BEN)] } };
  expect(withoutOwner(both, ANN)?.result).toEqual(left);
  const graphAlone = replay({ differences: [], relations: { differences: [relation(ANN)] } });
  expect(withoutOwner(graphAlone, ANN)?.result).toEqual({ differences: [], relations: { differences: [] } });
});

it('leaves a result alone that says nothing of an owner, with relations or without', () => {
  expect(withoutOwner(replay({ differences: [memory(BEN)], relations: null }), ANN)).toBeNull();
  expect(withoutOwner(replay({ differences: [memory(BEN)] }), ANN)).toBeNull();
  expect(withoutOwner(replay({ differences: [memory(ANN)] }), ANN)?.result).toEqual({ differences: [] });
});
