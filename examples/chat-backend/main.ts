import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { startChat } from './chat.ts';
import { chatModel, standIn } from './model.ts';
import { slowwaveAt } from './slowwave.ts';

const { values: given } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:7070' },
    key: { type: 'string', default: '' },
    user: { type: 'string', default: 'ana' },
    'model-url': { type: 'string' },
    'model-key': { type: 'string', default: '' },
    model: { type: 'string', default: 'gpt-4o-mini' },
  },
});
const { url, key, user, model } = given;

const say = startChat({
  slowwave: slowwaveAt(url, key),
  model:
    given['model-url'] === undefined ? standIn : chatModel({ url: given['model-url'], key: given['model-key'], model }),
  userId: user,
  runId: `chat-${crypto.randomUUID()}`,
});

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() !== '') process.stdout.write(`you: ${line}\nbot: ${await say(line)}\n`);
}
