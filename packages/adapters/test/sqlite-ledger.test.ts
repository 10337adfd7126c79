import { describeLedger } from '@slowwave/engine-testing';
import { afterAll } from 'vitest';
import { emptiedLedger } from './sqlite-ledger-fixture.ts';

const fixture = await emptiedLedger();
afterAll(fixture.remove);

describeLedger('SQLite', fixture.open);
