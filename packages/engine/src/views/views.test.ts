import { expect, test } from 'vitest';
import { failureOf, withoutPlaces } from './views.ts';

test.each([
  [
    'expected an answer from http://127.0.0.1:17301/v1 (model gpt), got no connection (connect ECONNREFUSED 127.0.0.1:17309); check it',
    'expected an answer from [address] (model gpt), got no connection (connect ECONNREFUSED [address]); check it',
  ],
  ['got "see https://llm.internal:8443/health, or ask" twice', 'got "see [address], or ask" twice'],
  ['getaddrinfo ENOTFOUND llm.internal', 'getaddrinfo ENOTFOUND [address]'],
  ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED [address]'],
  ['expected postgresql at db-7:5432/slowwave to answer', 'expected postgresql at [address] to answer'],
  ['postgres://ann:secret@db/slowwave does not answer', '[address] does not answer'],
  ['database "memories" does not exist', 'database "…" does not exist'],
  ['no room on [fd00::7]:6379 or fd00::8 or 10.0.0.5', 'no room on [address] or [address] or [address]'],
  ["ENOENT: no such file, open '/var/lib/slowwave/ledger.db'", "ENOENT: no such file, open '[path]'"],
  ['cannot open C:\\data\\ledger.db now', 'cannot open [path] now'],
])('%s is told as %s', (message, told) => {
  expect(withoutPlaces(message)).toBe(told);
  expect(withoutPlaces(told), 'told again').toBe(told);
});

test.each([
  'expected extract_facts to answer with the JSON of its schema, got something else, twice; see the raw answers',
  'the budget is used up: tokens_per_day is 5, and 7.25 have been used today; raise it with PUT /v1/settings',
  'no answer within 60000 ms at 12:30:45; and/or 1/2, version 1.2.3, f0:1',
  'the consolidation con_1 was removed; POST /v1/replays {"filter": {"ids": ["bat_1"]}}',
])('%s names no place and stays as it is', (message) => {
  expect(withoutPlaces(message)).toBe(message);
});

test('a failure is kept without its place', () => {
  expect(failureOf({ code: 'internal', message: 'read ECONNRESET 10.0.0.5:6379' }, 7)).toEqual({
    code: 'internal',
    message: 'read ECONNRESET [address]',
    at: 7,
  });
});
