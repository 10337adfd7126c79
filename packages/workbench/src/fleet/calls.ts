import type { RecordedCall } from '@slowwave/testkit';
import type { Check } from './checks.ts';
import { usersIn } from './said.ts';

/** Of consolidations; a summary may be refreshed beside one. */
const CONSOLIDATING = new Set(['extract_facts', 'decide_operations']);

/** How many questions were asked anew: by a worker that went on where another had died. */
export function askedAgain(calls: readonly RecordedCall[]): number {
  const asked = calls.filter(({ name }) => CONSOLIDATING.has(name));
  // Beside its subject a question says the time, which goes on.
  const subjects = asked.map(({ name, input }) => `${name} ${JSON.stringify(input?.messages ?? input?.facts)}`);
  return asked.length - new Set(subjects).size;
}

/** Whether the model was ever asked about one lane from two places at once, or about two lanes in one call. */
export function checkCalls(calls: readonly RecordedCall[]): readonly Check[] {
  const asked = calls
    .filter(({ name }) => CONSOLIDATING.has(name))
    .map((call) => ({ call, users: usersIn(call.input) }));
  const mixed = asked
    .filter(({ users }) => users.length !== 1)
    .map(({ users }) => `one call about ${users.join(', ')}`);
  const byUser = Map.groupBy(asked, ({ users }) => users[0] ?? '');
  const overlapping = [...byUser].flatMap(([user, theirs]) =>
    overlapsOf(
      theirs.map(({ call }) => call),
      user,
    ),
  );
  return [
    { what: 'no lane is in two places at once', misses: overlapping },
    { what: 'no call is about two users', misses: mixed },
  ];
}

function overlapsOf(calls: readonly RecordedCall[], user: string): string[] {
  return calls.flatMap(({ at, name }, i) => {
    const before = calls[i - 1];
    if (before === undefined || (before.endedAt !== null && before.endedAt <= at)) return [];
    return [`${user}: ${name} began at ${at}, while ${before.name} of ${before.at} ended at ${before.endedAt}`];
  });
}
