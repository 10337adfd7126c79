/** mem0's node for n8n, against MEM0_HOST: its execute() with as little of n8n around it as it asks for. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { at, callsOf } from './calls.mjs';

const folder = process.argv[2];
const require = createRequire(join(folder, 'package.json'));
const { Mem0 } = require('@mem0/n8n-nodes-mem0/dist/nodes/Mem0/Mem0.node.js');
const manifest = await readFile(join(folder, 'node_modules/@mem0/n8n-nodes-mem0/package.json'), 'utf8');
const { tries, print } = callsOf(JSON.parse(manifest).version);

/** What n8n does with the credentials and a request of a node. */
async function httpRequestWithAuthentication(_credentials, { method, url, body, qs = {} }) {
  const answer = await fetch(`${url}?${new URLSearchParams(qs)}`, {
    method,
    headers: { authorization: `Token ${at.apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw Object.assign(new Error(text), { httpCode: String(answer.status) });
  return JSON.parse(text);
}

async function run(parameters) {
  const context = {
    getInputData: () => [{ json: {} }],
    getCredentials: async () => ({ apiKey: at.apiKey, baseUrl: at.host }),
    getNode: () => ({ name: 'Mem0', type: 'mem0', typeVersion: 1, parameters: {} }),
    getNodeParameter: (name, _item, usual) => (name in parameters ? parameters[name] : usual),
    continueOnFail: () => false,
    helpers: { httpRequestWithAuthentication },
  };
  const [items] = await new Mem0().execute.call(context);
  return items.map(({ json }) => json);
}

const said = (content) => ({ 'messages.message': [{ role: 'user', content }] });
const some = (items) => items.length > 0;
const add = (content, more) => run({ operation: 'add', userId: 'nan', ...said(content), ...more });
await tries(
  'add, waiting until it is done',
  () => add('I live in Oslo'),
  (items) => JSON.stringify(items).includes('Oslo'),
);
await tries('add, not waiting', () => add('I sing', { waitForCompletion: false }), some);
const [cat] = (await tries('add(infer: false)', () => add('Has a cat.', { addFields: { infer: false } }), some)) ?? [];
const ids = { agent_id: 'nan-bot', run_id: 'nan-run', app_id: 'nan-app' };
const fields = { ...ids, metadata: '{"a":1}', custom_instructions: 'Hobbies.', includes: 'hobbies', excludes: 'food' };
await tries('add(all fields)', () => add('Likes tea.', { addFields: { ...fields, infer: false } }), some);
await tries(
  'add(custom_categories)',
  () => add('I play chess', { addFields: { custom_categories: '[{"sport":"any"}]' } }),
  some,
);
const whose = {
  userId: { userId: 'nan' },
  agentId: { agentId: 'nan-bot' },
  runId: { runId: 'nan-run' },
  appId: { appId: 'nan-app' },
  'userId, agentId': { userId: 'nan', agentId: 'nan-bot' },
};
for (const [name, of] of Object.entries(whose)) {
  await tries(`search(${name})`, () => run({ operation: 'search', query: 'what?', ...of }), some);
  await tries(`getAll(${name})`, () => run({ operation: 'getAll', ...of }), some);
}
await tries('getAll(returnAll)', () => run({ operation: 'getAll', userId: 'nan', returnAll: true, pageSize: 1 }), some);
await tries(
  'get',
  () => run({ operation: 'get', memoryId: cat?.id }),
  ([one]) => one.memory === 'Has a cat.',
);
const change = { operation: 'update', memoryId: cat?.id, text: 'Has two cats.', metadata: '{"b":2}' };
await tries(
  'update',
  () => run(change),
  ([one]) => one.memory === 'Has two cats.',
);
await tries('delete', () => run({ operation: 'delete', memoryId: cat?.id }));
print();
