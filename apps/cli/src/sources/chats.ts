import {
  type Fact,
  type Fields,
  type Files,
  type Found,
  isFields,
  leaving,
  listOf,
  momentIn,
  ownerOf,
  type Said,
  statementsIn,
  type Talk,
  textIn,
} from './found.ts';

/** The data export of ChatGPT: conversations.json, and memories.json if there is one. */
export function readChatgpt(files: Files, user: string | null): Found {
  const ids = ownerOf(user, 'the export');
  const left = leaving();
  const conversations = ofFiles(files, /conversations/).filter((one) => isFields(one.mapping));
  const talks = conversations.map(
    (conversation): Talk => ({
      id: textIn(conversation, 'conversation_id', 'id') ?? '',
      ...{ ids, title: textIn(conversation, 'title') },
      messages: branchOf(conversation, left).flatMap((message) => saidToChatgpt(message, left)),
    }),
  );
  const facts = ofFiles(files, /memor/).flatMap((memory, i): Fact[] => {
    const text = textIn(memory, 'content', 'text', 'memory');
    const id = textIn(memory, 'id') ?? String(i);
    return text === null
      ? []
      : [{ id, ids, text, at: momentIn(memory, 'updated_at', 'created_at', 'create_time'), ...PLAIN }];
  });
  return found({ facts, talks, left, lacks: ['saved memories, in most exports', 'texts of images and files'] });
}

/** The data export of Claude: conversations.json, and memories.json with what Claude wrote down of its user. */
export function readClaude(files: Files, user: string | null): Found {
  const ids = ownerOf(user, 'the export');
  const left = leaving();
  const talks = ofFiles(files, /conversations/)
    .filter((one) => Array.isArray(one.chat_messages))
    .map(
      (conversation): Talk => ({
        ...{ id: textIn(conversation, 'uuid') ?? '', ids, title: textIn(conversation, 'name') },
        messages: listOf(conversation.chat_messages).flatMap((message) => saidToClaude(message, left)),
      }),
    );
  const facts = ofFiles(files, /memor/).flatMap((memory, i) => {
    const projects = isFields(memory.project_memories) ? memory.project_memories : {};
    return [
      ...statementsIn(textIn(memory, 'conversations_memory') ?? '').map((text, n) =>
        note(`memory-${i}-${n}`, text, {}),
      ),
      ...Object.entries(projects).flatMap(([project, text]) =>
        statementsIn(String(text)).map((one, n) => note(`project-${project}-${n}`, one, { project })),
      ),
    ];
  });
  const noted = facts.map((fact) => ({ ...fact, ids }));
  return found({ facts: noted, talks, left, lacks: ['when a memory was written', 'the conversation it came from'] });
}

const PLAIN = { expiresAt: null, metadata: {} };

const note = (id: string, text: string, metadata: Fields): Omit<Fact, 'ids'> => ({
  ...{ id, text, at: null, expiresAt: null, metadata },
});

interface Gathered {
  readonly facts: readonly Fact[];
  readonly talks: readonly Talk[];
  readonly left: ReturnType<typeof leaving>;
  readonly lacks: readonly string[];
}

function found({ facts, talks, left, lacks }: Gathered): Found {
  if (facts.length + talks.length === 0) {
    throw new Error(
      'expected conversations.json or memories.json of the data export, or the folder they are in, got neither',
    );
  }
  const spoken = talks.filter(({ messages }) => messages.length > 0);
  left.add('conversations', 'they are empty', talks.length - spoken.length);
  return { facts, talks: spoken, relations: [], left: left.all(), lacks, isRead: false };
}

/** What the lists of files with such a name have; of a single file, whatever it is called. */
const ofFiles = (files: Files, name: RegExp): readonly Fields[] =>
  [...files].flatMap(([file, value]) =>
    name.test(file) || files.size === 1
      ? [...listOf(value), ...(isFields(value) ? [value] : []), ...listOf((value as Fields | null)?.memories)]
      : [],
  );

/** From the message that was shown last back to the first: other branches are answers that were asked for again. */
function branchOf({ mapping, current_node: current }: Fields, left: ReturnType<typeof leaving>): readonly Fields[] {
  const nodes = isFields(mapping) ? mapping : {};
  const branch: Fields[] = [];
  const seen = new Set<string>();
  let at = typeof current === 'string' ? current : (Object.keys(nodes).at(-1) ?? '');
  while (!seen.has(at)) {
    seen.add(at);
    const node = nodes[at];
    if (!isFields(node)) break;
    if (isFields(node.message)) branch.push(node.message);
    at = typeof node.parent === 'string' ? node.parent : '';
  }
  const others = Object.entries(nodes).filter(
    ([id, node]) => !seen.has(id) && isFields(node) && isFields(node.message),
  );
  left.add('messages', 'they are on branches that were replaced', others.length);
  return branch.reverse();
}

function saidToChatgpt(message: Fields, left: ReturnType<typeof leaving>): Said[] {
  const role = isFields(message.author) ? message.author.role : null;
  const content = isFields(message.content) ? message.content : {};
  const parts = Array.isArray(content.parts) ? content.parts : [];
  const text = parts
    .filter((part) => typeof part === 'string')
    .join('\n')
    .trim();
  left.add('images and files', 'they are not in the text', parts.filter(isFields).length);
  if (role !== 'user' && role !== 'assistant') {
    if (text !== '') left.add('messages', 'they are from the system or a tool');
    return [];
  }
  const id = textIn(message, 'id') ?? '';
  return text === '' ? [] : [{ id, role, text, at: momentIn(message, 'create_time') }];
}

function saidToClaude(message: Fields, left: ReturnType<typeof leaving>): Said[] {
  const role = message.sender === 'human' ? 'user' : 'assistant';
  const parts = listOf(message.content).flatMap((part) => (part.type === 'text' ? (textIn(part, 'text') ?? []) : []));
  const text = parts.length > 0 ? parts.join('\n') : (textIn(message, 'text') ?? '');
  left.add(
    'attachments and files',
    'they are documents',
    listOf(message.attachments).length + listOf(message.files).length,
  );
  return text === '' ? [] : [{ id: textIn(message, 'uuid') ?? '', role, text, at: momentIn(message, 'created_at') }];
}
