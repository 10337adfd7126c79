/**
 * What callers send, as the description of the API shows it. Each is tried on a running product by a test; an id stands
 * for one of the caller's own.
 */

/** What callers get. A linter compares them with their schemas. */
export const ACCEPTED = [{ batch_id: 'bat_0198c1a2', state: 'pending', status_url: '/v1/batches/bat_0198c1a2' }];

export const PROBLEMS = [
  {
    type: 'urn:slowwave:problem:invalid_request',
    title: 'invalid request',
    status: 400,
    code: 'invalid_request',
    detail: 'the body is not valid: messages[0].content: expected a string or an array, got the number 5',
    instance: '/v1/batches',
    errors: [{ path: 'messages[0].content', message: 'expected a string or an array, got the number 5' }],
  },
];

const MEAL = { role: 'user', content: 'I am allergic to peanuts, and I live in Lisbon now.' };
const LATER = '2099-01-01T00:00:00Z';

export const BATCHES = [
  { user_id: 'ana', messages: [MEAL, { role: 'assistant', content: 'Noted: no peanuts.' }] },
  {
    user_id: 'ana',
    agent_id: 'travel-bot',
    run_id: 'chat-17',
    messages: [{ id: 'm-1', role: 'user', content: 'I prefer trains to planes.', timestamp: '2026-03-01T09:30:00Z' }],
    metadata: { source: 'app', ticket: { number: 7 } },
    instructions: 'Remember how people like to travel.',
    expires_at: LATER,
    flush: true,
    idempotency_key: 'chat-17-turn-1',
  },
  {
    user_id: 'ana',
    mode: 'verbatim',
    messages: [{ role: 'user', content: 'The studio is on the third floor, on the left.' }],
  },
  {
    agent_id: 'travel-bot',
    mode: 'procedural',
    messages: [
      { role: 'assistant', content: 'Opened the timetable and searched for Lisbon to Porto.' },
      { role: 'tool', name: 'timetable', content: '09:30, 2 h 58 min' },
    ],
  },
  { user_id: 'ana', priority: 'backfill', timestamp: '2024-05-01T12:00:00Z', messages: [MEAL] },
];

export const PREVIEWS = [
  { user_id: 'ana', messages: [MEAL] },
  { user_id: 'ana', mode: 'add_only', messages: [{ role: 'user', content: 'I have a dog called Momo.' }] },
];

export const SEARCHES = [
  { user_id: 'ana', query: 'where does she live?' },
  {
    user_id: 'ana',
    query: 'how to get to Porto',
    top_k: 5,
    mode: 'keyword',
    filters: { created_at: { gte: '2026-03-01' } },
    include: ['sources', 'scores', 'messages'],
    before: 1,
  },
  { user_id: 'ana', query: 'where did she live?', as_of: '2026-03-01T09:30:00Z', timeout_ms: 2_000 },
];

export const CONTEXTS = [
  { user_id: 'ana', query: 'where should we eat tonight?', max_tokens: 500 },
  {
    user_id: 'ana',
    run_id: 'chat-17',
    format: 'openai',
    messages: [{ role: 'user', content: 'Where should we eat tonight?' }],
    timeout_ms: 300,
  },
];

export const QUESTIONS = [
  { user_id: 'ana', query: 'What must a meal for Ana be like?' },
  { user_id: 'ana', query: 'Where did Ana live before?', max_steps: 2, max_tokens: 8_000, timeout_ms: 10_000 },
];

export const FORECASTS = [
  { tokens: 1_200_000, owners: 40 },
  { messages: 5_000, live: true },
];

export const OUTCOMES = [{ outcome: 'good' }, { outcome: null }];

export const TASK_STATES = [
  {
    goal: 'Book a trip to Oslo',
    steps: [
      { id: 'search', title: 'Find a flight', state: 'done', result: 'LH 2454 on 1 March' },
      { id: 'pay', title: 'Pay for it', state: 'waiting_for_approval', needs_approval: true },
    ],
    data: { currency: 'EUR' },
  },
];

export const TASK_PATCHES = [
  { steps: [{ id: 'pay', state: 'done', result: 'Paid 140 EUR' }] },
  { steps: [{ id: 'mail', title: 'Send the ticket' }], remove_steps: ['search'], data: { currency: null } },
];

export const MEMORIES = [
  { user_id: 'ana', memory: 'Lives in Lisbon' },
  {
    user_id: 'ana',
    memory: 'Never leaves before nine in the morning',
    categories: ['travel'],
    immutable: true,
    pinned: true,
    metadata: { source: 'form' },
    valid_from: '2026-03-01T00:00:00Z',
    expires_at: LATER,
  },
];

export const PATCHES = [{ memory: 'Lives in Porto', version: 1 }, { pinned: true, metadata: {} }, { expires_at: null }];

export const FEEDBACKS = [
  { rating: 'positive' },
  { rating: 'very_negative', reason: 'that was my brother', version: 1 },
  { rating: 'none' },
];

export const REPLAYS = [
  { filter: {} },
  { filter: { user_id: 'ana', since: '2026-03-01T00:00:00Z' }, dry_run: true },
  { filter: { user_id: 'ana' }, mode: 'add_only' },
  { filter: { user_id: 'ana' }, graph: true },
  { filter: { batch_ids: ['bat_0198c1a2'] }, shadow: true, idempotency_key: 'what-if-1' },
];

export const SUITES = [
  { name: 'daily', record: { owners: 50, mask: true } },
  {
    name: 'pets',
    file: {
      format: 'slowwave-suite',
      version: 1,
      cases: [
        {
          name: 'ana',
          memories: [{ text: 'User has a dog' }],
          batches: [{ messages: [{ id: 'm1', role: 'user', content: 'I live in Oslo.' }] }],
          expected: { facts: [{ text: 'User lives in Oslo', quote: 'I live in Oslo', messages: ['m1'] }] },
          questions: [{ query: 'Where does she live?', expects: ['User lives in Oslo'] }],
        },
      ],
    },
  },
];

export const SUITE_MARGINS = [
  { margins: { facts_kept: { by: 0.03 }, calls: { by: 0.1, relative: true }, cost: null } },
];

export const SUITE_ASSESSMENTS = [{ by: 'ana', assessments: [{ item: 'msg_0198c1a2', verdict: 'missing' }] }];

export const SUITE_RUNS = [{}, { dry_run: true }, { instructions: 'Remember allergies.', budget_tokens: 100_000 }];

export const CANARIES = [
  { changes: { instructions: 'Remember allergies above all.' } },
  {
    changes: { decide_instructions: 'Keep both addresses of people who move often.', recall_per_fact: 15 },
    steps: [
      { share: 10, min_seconds: 3_600, min_consolidations: 100 },
      { share: 100, min_seconds: 86_400, min_consolidations: 500 },
    ],
    bounds: { negations_kept: 0.05 },
    undo: 'manual',
    budget: { tokens: 5_000_000 },
  },
];

export const RETENTIONS = [
  {},
  { retention: { messages_days: 30 }, forgetting: { max_age_days: 365, max_memories: 1_000 } },
];

export const BUNDLED_ERASURES = [
  {
    erasures: [
      {
        ...{ id: 'ers_0198c1a2', owner_hash: '9f2c5a1e' },
        ...{ requested_at: '2026-03-01T09:30:00Z', erased_at: '2026-03-01T09:31:00Z' },
      },
    ],
  },
];
export const BUNDLED_SETTINGS = [{ tenant: 'acme', settings: { timezone: 'Europe/Oslo' } }];
export const COLD_OWNERS = [{ kind: 'user', id: 'silent-for-long' }];
export const IMPORTS = [
  {
    ...{ format: 1, ledger_id: 'led_0198c1a2', kind: 'user', id: 'moved-here', read_at: '2026-03-01T09:30:00Z' },
    ...{ lines: 2, sum: '45728b8c9e2a4df9ca7a30276dc13748' },
  },
];
/** All lines of somebody who has not said anything. */
export const LINES = [
  {
    from: 0,
    lines: [
      '{"type":"owner","kind":"user","id":"moved-here","state":"idle","consolidation_id":null,"due_at":null,"next_position":1,"next_seq":1,"nudged_backfill":false,"oldest_at":null,"newest_at":null,"pace_ms":null,"pauses":null,"flush_through":0,"window_limit":null,"attempts":0,"created_at":1772357400000,"updated_at":1772357400000,"sum":"2091aa7d2de96fb0c987b7684696f52d"}',
      '{"type":"end","lines":2,"state":"2091aa7d2de96fb0c987b7684696f52d","sum":"45728b8c9e2a4df9ca7a30276dc13748"}',
    ],
  },
];
const LEAVER = { kind: 'user', id: 'nobody-yet' };
export const LEAVINGS = [
  { ...LEAVER, ms: 60_000 },
  { ...LEAVER, ms: 0 },
];
export const DEPARTURES = [{ ...LEAVER, to: 'cell-2', epoch: 7, stamp: '0a1b2c3d4e5f6071', until: LATER }];
export const CELL_ERASURES = [{ ...LEAVER }];
export const CELL_LOSSES = [{ cell: 'cell-3' }, { cell: 'cell-3', anew: true }];
export const SLOTS = [
  { epoch: 7, closed: [{ from: 65_535, to: 65_535 }] },
  { epoch: 8, closed: [] },
];
export const TENANT_COPIES = [{ tenant: 'acme', epoch: 7, version: '0a1b2c3d4e5f6071', copy: { settings: [] } }];
export const SHARES = [
  { tenant: 'acme', epoch: 3, part: 0.5, until: '2026-12-01T00:00:00Z', day: '2026-11-30', elsewhere: 0.125 },
];

export const CEILINGS = [{ tokens_per_day: 2_000_000, cost_per_day: 5 }, { tokens_per_day: 2_000_000 }];

export const SETTINGS = [
  {},
  {
    instructions: 'People here plan journeys: remember how they like to travel.',
    excludes: 'Anything about other customers.',
    categories: ['travel', 'food', 'family'],
    review: ['DELETE'],
    personal_data: 'mask',
  },
  {
    prices: { 'gpt-4.1-mini': { prompt: 0.4, completion: 1.6 } },
    budgets: { cost_per_day: 20, user_tokens_per_day: 200_000 },
    retention: { messages_days: 90 },
    forgetting: { unconfirmed_days: 365 },
    due: { idle_ms: 30_000 },
  },
];

export const WEBHOOKS = [
  { url: 'https://crm.example.com/slowwave', events: ['memory.added', 'memory.updated', 'memory.deleted'] },
  {
    url: 'https://alarm.example.com/hook?of=slowwave',
    events: ['batch.parked'],
    name: 'alarm',
    secret: 'whsec_keep-this-one-yourself',
    app_id: 'shop',
  },
];

export const WEBHOOK_PATCHES = [
  { active: false },
  { events: ['memory.deleted'], name: 'crm' },
  { rotate_secret: true },
];

export const PROFILE_LINES = [{ memory: 'Ana goes by Annie' }, { memory_id: 'mem_01' }];

export const KEYS = [
  { name: 'chat backend', scopes: ['ingest', 'search'] },
  { name: 'phone of Ana', scopes: ['search'], user_id: 'ana', expires_at: LATER },
  { name: 'admin of Acme', scopes: ['admin'], tenant: 'acme' },
];

export const LINKS = [{}, { valid_seconds: 86_400 }];

export const RELATIONS = [
  { user_id: 'ana', source: { self: true }, relationship: 'lives_in', destination: { name: 'Lisbon', kind: 'place' } },
  {
    user_id: 'ana',
    source: { name: 'Bea', kind: 'person' },
    relationship: 'works_at',
    destination: { name: 'Bolt Robotics', kind: 'organisation' },
    valid_from: '2024-05-01T00:00:00Z',
    invalid_at: '2024-12-31T00:00:00Z',
    quote: 'Bea was at Bolt until last year.',
  },
];

export const RELATION_PATCHES = [
  { invalid_at: '2024-06-30T00:00:00Z', reason: 'she has moved' },
  { destination: { name: 'Porto', kind: 'place' } },
];

export const GRAPH_QUERIES = [
  {
    user_id: 'ana',
    match: [
      { source: { self: true }, relationship: 'has_sister', destination: '?sister' },
      { source: '?sister', relationship: 'works_at', destination: '?company' },
      { source: '?company', relationship: 'makes', destination: '?what' },
    ],
  },
  { user_id: 'ana', path: { from: { self: true }, to: { name: 'Bolt Robotics' }, max_hops: 3 }, limit: 5 },
];
