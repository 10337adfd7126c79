import { describeLedger } from '@slowwave/engine-testing';
import { afterAll } from 'vitest';
import { emptiedLedger } from './postgres-ledger-fixture.ts';

const fixture = await emptiedLedger();
afterAll(fixture.stop);

describeLedger('PostgreSQL', fixture.open);
