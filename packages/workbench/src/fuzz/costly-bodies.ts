/** A body that is refused, and what is heavy about it. */
export interface CostlyBody {
  readonly what: string;
  /** POST /v1/batches */
  readonly route: string;
  readonly text: string;
  /** In place of JSON. */
  readonly type?: string;
}

const KB = 1_000;
const MB = 1_000 * KB;
const FORM = 'application/x-www-form-urlencoded';

const many = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));
const fields = (count: number): object => Object.fromEntries(many(count, (i) => [`k${i}`, 1]));
const said = (content: string): string => `{"user_id":"ana","messages":[{"role":"user","content":"${content}"}]}`;
const user = { user_id: 'ana' };
const message = { role: 'user', content: 'Hello there' };
const json = JSON.stringify;

const onBatches = (bodies: Readonly<Record<string, string>>): CostlyBody[] =>
  Object.entries(bodies).map(([what, text]) => ({ what, route: 'POST /v1/batches', text }));

/** What is large in its texts, numbers and spaces. */
const LONG = onBatches({
  'one text of 8 MB': said('a'.repeat(8 * MB)),
  'line breaks': said('\\n'.repeat(4 * MB)),
  quotes: said('\\"'.repeat(4 * MB)),
  'characters as escapes': said('\\u4e00'.repeat(1.3 * MB)),
  Chinese: said('字'.repeat(2.6 * MB)),
  'commas and brackets in a text': said(',['.repeat(4 * MB)),
  'an id of 8 MB': json({ user_id: 'a'.repeat(8 * MB), messages: [message] }),
  'a blank id of 8 MB': json({ user_id: ' '.repeat(8 * MB), messages: [message] }),
  'a time of 8 MB': json({ ...user, messages: [message], timestamp: `2026-01-01T00:00:00.${'1'.repeat(8 * MB)}` }),
  'a time zone of 8 MB': json({ ...user, messages: [message], timezone: 'a/'.repeat(4 * MB) }),
  'numbers with exponents': json({ ...user, messages: [message], more: 0 }).replace(
    '0',
    `[${'1.5e-7,'.repeat(80 * KB)}0]`,
  ),
  'exponents of 8 MB': `{"user_id":1e${'9'.repeat(8 * MB)}}`,
  'letters as escapes': said('\\u0070'.repeat(1.3 * MB)),
  'a number of 8 MB': `{"user_id":${'9'.repeat(8 * MB)}}`,
  'blank messages': json({ ...user, messages: many(16, () => ({ role: 'user', content: ' '.repeat(490 * KB) })) }),
});

/** What is large in its number of parts, or their depth. */
const MANY = onBatches({
  'metadata of 600,000 keys': json({ ...user, messages: [message], metadata: fields(600 * KB) }),
  'metadata of 90,000 keys': json({ ...user, messages: [message], metadata: fields(90 * KB) }),
  'unknown fields of a message': json({ ...user, messages: [{ ...message, role: 'nobody', ...fields(90 * KB) }] }),
  'one name 600,000 times': `{${'"user_id":1,'.repeat(600 * KB)}"user_id":1}`,
  'one name 90,000 times': `{${'"user_id":1,'.repeat(90 * KB)}"user_id":1}`,
  levels: '['.repeat(4 * MB),
  'objects inside each other': '{"a":'.repeat(1.5 * MB),
  'messages that are numbers': json({ ...user, messages: many(90 * KB, (i) => i) }),
  'messages with wrong roles': json({
    ...user,
    messages: many(2_000, () => ({ role: 'nobody', content: 1, more: 1 })),
  }),
  'messages with wrong names': json({
    ...user,
    messages: many(2_000, () => ({ ...message, name: '\u0007', id: '', timestamp: 'soon' })),
  }),
  'messages, and nobody they are of': json({ messages: many(2_000, (i) => ({ ...message, id: `m${i}` })) }),
  'parts that cannot be read': json({
    ...user,
    messages: many(200, () => ({ role: 'user', content: many(100, () => ({ type: 'noise', text: 'a', more: 1 })) })),
  }),
  'calls and results of tools, and nobody they are of': json({
    messages: many(900, () => ({
      role: 'user',
      content: [
        { type: 'tool_use', name: 'look', input: { at: many(20, (i) => i) } },
        { type: 'tool_result', content: many(20, () => ({ type: 'text', text: 'a' })) },
      ],
    })),
  }),
});

const ELSEWHERE: readonly CostlyBody[] = [
  { what: 'a blank question of 8 MB', route: 'POST /v1/context', text: json({ ...user, query: ' '.repeat(8 * MB) }) },
  { what: '600,000 unknown fields', route: 'POST /v1/flush', text: json(fields(600 * KB)) },
  { what: '6,600 unknown fields', route: 'POST /v1/flush', text: json(fields(6_600)) },
  { what: '800,000 conditions', route: 'POST /v1/search', text: `{"filters":{"AND":[${'{},'.repeat(800 * KB)}{}]}}` },
  {
    what: '40,000 conditions',
    route: 'POST /v1/search',
    text: json({ ...user, query: 'tea', filters: { AND: many(40 * KB, () => ({ app_id: 'a' })) } }),
  },
  {
    what: '8,000 conditions',
    route: 'POST /v1/search',
    text: json({ ...user, query: 'tea', filters: { AND: many(8 * KB, () => ({ app_id: 'a' })) } }),
  },
  { what: '50,000 prices', route: 'PUT /v1/settings', text: json({ prices: fields(50 * KB) }) },
  {
    what: '90,000 ids',
    route: 'POST /v1/replays',
    text: json({ filter: { batch_ids: many(90 * KB, (i) => `b${i}`) } }),
  },
  {
    what: 'metadata of 9,000 keys',
    route: 'POST /v1/memories',
    text: json({ memory: 'Tea', metadata: fields(9 * KB) }),
  },
  {
    what: 'metadata of 90,000 keys',
    route: 'POST /mem0/memories',
    text: json({ messages: 'Hi', metadata: fields(90 * KB) }),
  },
  {
    what: 'messages that are numbers',
    route: 'POST /mem0/memories',
    text: json({ messages: many(90 * KB, (i) => i) }),
  },
  { what: 'a form of 4,000,000 fields', route: 'POST /login', text: 'a&'.repeat(4 * MB), type: FORM },
  { what: 'a form of 40,000 fields', route: 'POST /logout', text: 'a&'.repeat(40 * KB), type: FORM },
];

/** Each is refused, and has 64 KB at least. */
export const COSTLY_BODIES: readonly CostlyBody[] = [...LONG, ...MANY, ...ELSEWHERE];
