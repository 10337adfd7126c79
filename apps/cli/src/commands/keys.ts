import type { CeilingsView, KeyList, KeyScope, KeyView, KeyWithSecret } from '@slowwave/contracts';
import type { z } from 'zod';
import { withApi, withQuery } from '../api.ts';
import { type Call, type Command, countOf, type Given } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { pairs, table } from '../output.ts';

type Secret = z.infer<typeof KeyWithSecret>;

const SCOPES: readonly KeyScope[] = ['ingest', 'search', 'manage', 'admin'];
const DAYS_MAX = 3_650;
const DAY_MS = 86_400_000;
const GRACE_MAX_S = 30 * 86_400;
/** The most a list answers at once. */
const PAGE = 200;

const TENANT = { tenant: { value: 'NAME', about: 'The tenant, if different from that of the key in use.' } };

/** Making a key tells the queue nothing: a server may have the folder meanwhile. */
const BESIDE_SERVERS = { writes: false };

export const listKeysCommand: Command = {
  name: 'keys list',
  usage: '',
  words: [0, 0],
  on: 'server or ledger',
  summary: 'List keys, newest first. Secrets are not stored and cannot be shown.',
  about: '',
  options: TENANT,
  run: (call) =>
    withApi(call, BESIDE_SERVERS, async (ask) => {
      const keys: KeyView[] = [];
      for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
        const path = withQuery('/v1/keys', { tenant: call.given.text('tenant'), limit: PAGE, cursor });
        const page: z.infer<typeof KeyList> = await ask({ method: 'GET', path });
        keys.push(...page.results);
        cursor = page.next_cursor;
      }
      call.out.answer({ keys }, keys.length === 0 ? 'There are no keys.' : table(COLUMNS, keys));
      return EXIT.done;
    }),
};

export const createKeyCommand: Command = {
  name: 'keys create',
  usage: '<name>',
  words: [1, 1],
  on: 'server or ledger',
  summary: 'Create a key. Its secret is shown once.',
  about: `From the first key on every request needs one, so the first has to be yours: --scopes admin, and no
--tenant. --offline makes it beside a server, and ones for whoever has lost theirs.`,
  options: {
    scopes: { value: 'LIST', about: `What for, e.g. ingest,search; of ${SCOPES.join(', ')}.` },
    ...TENANT,
    user: { value: 'ID', about: 'Bind the key to this user.' },
    app: { value: 'ID', about: 'Bind the key to this app.' },
    days: { value: 'N', about: 'Days until the key expires.' },
  },
  run: (call) => {
    const { given } = call;
    const body = { name: given.words[0], scopes: scopesOf(given), ...placeOf(given), ...expiryOf(given) };
    return withApi(call, BESIDE_SERVERS, async (ask) =>
      shown(call, await ask({ method: 'POST', path: '/v1/keys', body })),
    );
  },
};

export const revokeKeyCommand: Command = {
  name: 'keys revoke',
  usage: '<key id>',
  words: [1, 1],
  on: 'server or ledger',
  summary: 'Revoke a key permanently. Takes effect in every process within 5 s.',
  about: '',
  options: TENANT,
  run: (call) => {
    const path = withQuery(pathOf(call), { tenant: call.given.text('tenant') });
    return withApi(call, BESIDE_SERVERS, async (ask) => {
      const key = await ask<KeyView>({ method: 'DELETE', path });
      call.out.answer(key, `Key ${key.id} is revoked.`);
      return EXIT.done;
    });
  },
};

export const rotateKeyCommand: Command = {
  name: 'keys rotate',
  usage: '<key id>',
  words: [1, 1],
  on: 'server or ledger',
  summary: 'Rotate the secret of a key. The new secret is shown once.',
  about: '',
  options: { ...TENANT, grace: { value: 'SECONDS', about: 'How long the current secret stays valid. Default: 0.' } },
  run: (call) => {
    const { given } = call;
    const grace = given.text('grace') === null ? 0 : countOf(given, 'grace', { usual: 0, max: GRACE_MAX_S });
    const tenant = given.text('tenant');
    const body = { grace_seconds: grace, ...(tenant !== null && { tenant }) };
    return withApi(call, BESIDE_SERVERS, async (ask) =>
      shown(call, await ask({ method: 'POST', path: `${pathOf(call)}/rotate`, body })),
    );
  },
};

const pathOf = ({ given }: Call): string => `/v1/keys/${encodeURIComponent(given.words[0] ?? '')}`;

function scopesOf(given: Given): readonly string[] {
  const scopes = (given.text('scopes') ?? '').split(',').filter((scope) => scope !== '');
  const wrong = scopes.find((scope) => !SCOPES.some((known) => known === scope));
  if (scopes.length > 0 && wrong === undefined) return scopes;
  const got = wrong === undefined ? 'none' : `"${wrong}"`;
  throw new UsageError(`expected --scopes, a list of ${SCOPES.join(', ')}; got ${got}`, 'keys create');
}

function placeOf(given: Given): Readonly<Record<string, string>> {
  const named = { tenant: given.text('tenant'), user_id: given.text('user'), app_id: given.text('app') };
  return Object.fromEntries(Object.entries(named).flatMap(([name, id]) => (id === null ? [] : [[name, id]])));
}

function expiryOf(given: Given): { expires_at?: string } {
  if (given.text('days') === null) return {};
  const days = countOf(given, 'days', { usual: 0, max: DAYS_MAX });
  return { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() };
}

function shown({ out }: Call, key: Secret): number {
  const { id, tenant, name, scopes, expires_at } = key;
  const told = pairs([
    ['key', id],
    ['name', name],
    ['tenant', tenant],
    ['scopes', scopes.join(', ')],
    ['expires', expires_at],
    ['secret', key.secret],
  ]);
  out.answer(key, told);
  if (!out.json) out.say('The secret is only shown now. Callers send it as "authorization: Bearer <secret>".');
  return EXIT.done;
}

const COLUMNS = [
  { name: 'key', of: ({ id }: KeyView) => id },
  { name: 'name', of: ({ name }: KeyView) => name },
  { name: 'scopes', of: ({ scopes }: KeyView) => scopes.join(',') },
  { name: 'user', of: ({ user_id }: KeyView) => user_id },
  { name: 'app', of: ({ app_id }: KeyView) => app_id },
  { name: 'created', of: ({ created_at }: KeyView) => created_at },
  { name: 'used', of: ({ last_used_at }: KeyView) => last_used_at },
  { name: 'ends', of: endOf },
];

function endOf({ revoked_at, expires_at }: KeyView): string | null {
  if (revoked_at !== null) return `revoked ${revoked_at}`;
  return expires_at === null ? null : `expires ${expires_at}`;
}

const NAME = 'tenants ceilings';

export const ceilingsCommand: Command = {
  name: NAME,
  usage: '<tenant>',
  words: [1, 1],
  on: 'server or ledger',
  summary: 'Show or set the daily limits of a tenant.',
  about: `With --tokens or --cost both are set anew: one that is not named is none. The tenant's own budgets
may be lower, and cannot lift it. For operators.`,
  options: {
    tokens: { value: 'N', about: 'Chat model tokens per day (UTC), or none.' },
    cost: { value: 'AMOUNT', about: 'Cost per day, by the prices of the tenant default, or none.' },
    usual: { value: null, about: 'Reset to the limits for all tenants.' },
  },
  run: (call) => {
    const path = `/v1/tenants/${encodeURIComponent(call.given.words[0] ?? '')}/ceilings`;
    const wish = wishOf(call.given);
    return withApi(call, { writes: false }, async (ask) => {
      const view = await ask<CeilingsView>({ ...wish, path });
      call.out.answer(view, told(view));
      return EXIT.done;
    });
  },
};

function wishOf(given: Given): { method: 'GET' | 'PUT' | 'DELETE'; body?: object } {
  const tokens = amountOf(given, 'tokens');
  const cost = amountOf(given, 'cost');
  const isSet = tokens !== undefined || cost !== undefined;
  if (given.flag('usual') && isSet) throw new UsageError('expected --usual, or --tokens and --cost, got both', NAME);
  if (given.flag('usual')) return { method: 'DELETE' };
  if (!isSet) return { method: 'GET' };
  return { method: 'PUT', body: { tokens_per_day: tokens ?? null, cost_per_day: cost ?? null } };
}

/** null: none; undefined: not given. */
function amountOf(given: Given, option: string): number | null | undefined {
  const text = given.text(option);
  if (text === null) return undefined;
  if (text === 'none') return null;
  const amount = Number(text);
  if (text.trim() !== '' && Number.isFinite(amount) && amount >= 0) return amount;
  throw new UsageError(`expected --${option}, an amount of 0 or more, or none; got "${text}"`, NAME);
}

const told = ({ tenant, tokens_per_day: tokens, cost_per_day: cost, own }: CeilingsView): string =>
  pairs([
    ['tenant', tenant],
    ['tokens a day', tokens ?? 'no limit'],
    ['cost a day', cost ?? 'no limit'],
    ['set for', own ? 'this tenant' : 'all tenants'],
  ]);
