/** Every method of mem0's JavaScript client, of version 2 or 3, against MEM0_HOST. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { at, callsOf, soon } from './calls.mjs';

const folder = process.argv[2];
const require = createRequire(join(folder, 'package.json'));
const { MemoryClient, default: usual } = require('mem0ai');
const { version } = JSON.parse(await readFile(join(folder, 'node_modules/mem0ai/package.json'), 'utf8'));
const { tries, print } = callsOf(version);
const isOld = version.startsWith('2.');
const client = new (MemoryClient ?? usual)(at);

/** Version 2 takes options as they are sent. */
const spelled = (options) =>
  isOld
    ? Object.fromEntries(
        Object.entries(options).map(([name, value]) => [
          name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`),
          value,
        ]),
      )
    : options;
const said = (content) => [{ role: 'user', content }];
const rows = (answer) => (Array.isArray(answer) ? answer : (answer.results ?? []));
const texts = (answer) => rows(answer).map(({ memory }) => memory);
const who = 'jan';
const ids = { userId: who, agentId: 'jan-bot', runId: 'jan-run', appId: 'jan-app' };
const add = (text, options) => client.add(said(text), spelled(options));
const remembered = async (text, options = { userId: who }) => rows(await add(text, { infer: false, ...options }))[0].id;
const added = (answer) => rows(answer).length > 0 || answer.eventId !== undefined || answer.event_id !== undefined;

await tries('ping', () => client.ping());
await tries('add', () => add('I live in Oslo', { userId: who }), added);
await tries('add(infer: false)', () => add('Has a cat.', { userId: who, infer: false }), added);
await tries('add(metadata)', () => add('Has a car.', { userId: who, infer: false, metadata: { about: 'car' } }), added);
await tries('add(all ids)', () => add('Likes green tea.', { ...ids, infer: false }), added);
await tries('add(agentId alone)', () => add('Is polite.', { agentId: 'jan-bot', infer: false }), added);
await tries('add(runId alone)', () => add('Began on Monday.', { runId: 'jan-run', infer: false }), added);
await tries('add(customInstructions)', () => add('I paint', { userId: who, customInstructions: 'Hobbies.' }), added);
await tries('add(timestamp)', () => add('I sing', { userId: who, timestamp: 1_700_000_000 }), added);
await tries('add(expirationDate)', () => add('I ski', { userId: who, expirationDate: '2030-01-31' }), added);
await tries('add(customCategories)', () => add('I row', { userId: who, customCategories: [{ sport: 'any' }] }), added);

const filters = {
  user_id: { user_id: who },
  AND: { AND: [{ user_id: who }, { run_id: 'jan-run' }] },
  OR: { OR: [{ user_id: who }, { agent_id: 'jan-bot' }] },
  in: { user_id: { in: [who, 'nobody'] } },
  'agent_id alone': { agent_id: 'jan-bot' },
  'run_id alone': { run_id: 'jan-run' },
  'app_id alone': { app_id: 'jan-app' },
  metadata: { AND: [{ user_id: who }, { metadata: { about: 'car' } }] },
  created_at: { AND: [{ user_id: who }, { created_at: { gte: '2024-01-01', lte: '2100-01-01' } }] },
};
const v2 = isOld ? { api_version: 'v2' } : {};
await soon(
  () => client.getAll({ filters: filters.user_id, ...v2 }),
  (all) => texts(all).some((text) => text.includes('Oslo')),
);
for (const [name, one] of Object.entries(filters)) {
  const some = (answer) => texts(answer).length > 0;
  await tries(`search(filters: ${name})`, () => client.search('what is known?', { filters: one, ...v2 }), some);
  await tries(`getAll(filters: ${name})`, () => client.getAll({ filters: one, ...v2 }), some);
}
if (isOld) {
  await tries(
    'search(user_id)',
    () => client.search('where?', { user_id: who }),
    (a) => texts(a).length > 0,
  );
  await tries(
    'getAll(user_id)',
    () => client.getAll({ user_id: who }),
    (a) => texts(a).length > 0,
  );
}
const options = {
  topK: 1,
  threshold: 0,
  rerank: true,
  fields: ['memory'],
  categories: [],
  keywordSearch: true,
  metadata: { about: 'car' },
  ...(!isOld && { showExpired: false, latestOnly: true, referenceDate: '2026-01-01', source: 'OPENCLAW' }),
};
for (const [name, value] of Object.entries(options)) {
  const asked = { filters: filters.user_id, ...v2, ...spelled({ [name]: value }) };
  await tries(`search(${name})`, () => client.search('what is known?', asked));
}
const paged = spelled({ page: 1, pageSize: 2 });
await tries(
  'getAll(page)',
  () => client.getAll({ filters: filters.user_id, ...v2, ...paged }),
  (a) => texts(a).length === 2,
);
const dates = spelled({ startDate: '2024-01-01', endDate: '2100-01-01' });
await tries('getAll(startDate, endDate)', () => client.getAll({ filters: filters.user_id, ...v2, ...dates }));

const id = await remembered('Has one dog.');
await tries(
  'get',
  () => client.get(id),
  ({ memory }) => memory === 'Has one dog.',
);
await tries('update(text)', () => client.update(id, { text: 'Has two dogs.' }));
await tries('update(metadata)', () => client.update(id, { metadata: { about: 'dogs' } }));
if (!isOld) await tries('update(expirationDate)', () => client.update(id, { expirationDate: '2030-01-31' }));
await tries('update(timestamp)', () => client.update(id, { text: 'Has two dogs.', timestamp: 1_700_000_000 }));
await tries(
  'history',
  () => client.history(id),
  (events) => events.length >= 3,
);
await tries('batchUpdate', () => client.batchUpdate([{ memoryId: id, text: 'Has three dogs.' }]));
for (const feedback of ['POSITIVE', 'NEGATIVE', 'VERY_NEGATIVE']) {
  const given = { memoryId: id, feedback, feedbackReason: 'because' };
  await tries(`feedback(${feedback})`, () => client.feedback(spelled(given)));
}
await tries('batchDelete', () => client.batchDelete([id]));
const gone = await remembered('Has no fish.');
await tries('delete', () => client.delete(gone));
await tries(
  'history (of what is deleted)',
  () => client.history(gone),
  (events) => events.length === 2,
);
if (!isOld) {
  const linked = await remembered('Has no bird.');
  await tries('delete(deleteLinked)', () => client.delete(linked, { deleteLinked: true }));
}

const names = (answer) => rows(answer).map(({ type, name }) => `${type} ${name}`);
await tries(
  'users',
  () => client.users(),
  (a) => names(a).includes('user jan') && names(a).includes('app jan-app'),
);
const schema = { type: 'object' };
const made = await tries('createMemoryExport', () => client.createMemoryExport({ schema, filters: filters.user_id }));
const exported = ({ memories }) => memories.length > 0;
const fetched = isOld ? { memory_export_id: made?.id } : { memoryExportId: made?.id };
await tries('getMemoryExport(id)', () => client.getMemoryExport(fetched), exported);
await tries('getMemoryExport(filters)', () => client.getMemoryExport({ filters: filters.user_id }), exported);
const fields = ['custom_instructions', 'custom_categories'];
await tries('updateProject(customInstructions)', () =>
  client.updateProject(spelled({ customInstructions: 'Hobbies.' })),
);
await tries('updateProject(customCategories)', () =>
  client.updateProject(spelled({ customCategories: [{ hobbies: 'any' }] })),
);
await tries(
  'getProject',
  () => client.getProject({ fields }),
  (a) => JSON.stringify(a).includes('Hobbies.'),
);
await client.ping();
const projectId = client.projectId;
const hook = { name: 'hook', url: 'https://receiver.example/', eventTypes: ['memory_add'], projectId };
const webhook = await tries('createWebhook', () => client.createWebhook(hook));
const webhookId = webhook?.webhookId ?? webhook?.webhook_id;
await tries(
  'getWebhooks',
  () => client.getWebhooks({ projectId }),
  (all) => all.length === 1,
);
await tries('updateWebhook', () => client.updateWebhook({ webhookId, name: 'other', eventTypes: ['memory_add'] }));
await tries('deleteWebhook', () => client.deleteWebhook({ webhookId }));

for (const name of ['runId', 'agentId', 'appId']) {
  await remembered(`Was said under ${name}.`, { userId: who, [name]: 'jan-2' });
  const one = ({ message }) => message.includes('(1)');
  await tries(`deleteAll(${name})`, () => client.deleteAll(spelled({ [name]: 'jan-2' })), one);
}
await remembered('Sleeps.', { userId: 'jan-other' });
await tries(
  'deleteAll(userId)',
  () => client.deleteAll(spelled({ userId: 'jan-other' })),
  ({ message }) => message.includes('(1)'),
);
if (isOld) {
  await remembered('Sleeps.', { userId: 'jan-other' });
  const { results } = await client.users();
  const named = results.find(({ name }) => name === 'jan-other');
  await tries('deleteUser', () => client.deleteUser({ entity_id: named.name, entity_type: 'user' }));
}
for (const [name, value] of Object.entries(ids)) {
  await tries(`deleteUsers(${name})`, () => client.deleteUsers(spelled({ [name]: value })));
}
await tries(
  'users (after all of them are deleted)',
  () => client.users(),
  (a) => !names(a).some((name) => Object.values(ids).includes(name.split(' ')[1])),
);
await remembered('Sleeps.');
await tries('deleteUsers()', () => client.deleteUsers());
print();
