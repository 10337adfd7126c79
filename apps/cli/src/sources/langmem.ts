import {
  type Fact,
  type Fields,
  type Files,
  type Found,
  type Ids,
  isFields,
  leaving,
  listOf,
  momentIn,
  ownerOf,
  textIn,
} from './found.ts';

/** Items of a store of LangGraph, which LangMem keeps memories in: namespace, key, value, and when they were written. */
export function readLangmem(files: Files, user: string | null): Found {
  const items = [...files.values()].flatMap((file) => [...listOf(file), ...listOf((file as Fields | null)?.items)]);
  const left = leaving();
  const facts = items.flatMap((item): Fact[] => {
    const text = isFields(item.value) ? textOf(item.value) : null;
    if (text === null) {
      left.add('items', 'their value has no content');
      return [];
    }
    const at = momentIn(item, 'updated_at', 'created_at');
    const namespace = Array.isArray(item.namespace) ? item.namespace.map(String) : [];
    const id = [...namespace, textIn(item, 'key') ?? ''].join('/');
    const kind = isFields(item.value) ? textIn(item.value, 'kind') : null;
    return [{ id, ids: idsOf(namespace, user), text, at, expiresAt: null, metadata: { namespace, kind } }];
  });
  if (items.length === 0)
    throw new Error('expected items with namespace, key and value, as a list or one a line, got none');
  const lacks = ['the messages that memories came from', 'former texts', 'deletions', 'how facts relate'];
  return { facts, talks: [], relations: [], left: left.all(), lacks, isRead: true };
}

/** The end of a namespace names whose it is: ("memories", "{user}"). */
const idsOf = (namespace: readonly string[], user: string | null): Ids => {
  const last = namespace.length > 1 ? namespace.at(-1) : undefined;
  return user === null && last !== undefined ? { user_id: last } : ownerOf(user, 'an item');
};

/** LangMem writes {kind, content: {content}}; its tools and others write content, text or memory; a profile has fields. */
function textOf(value: Fields): string | null {
  const { content } = value;
  const inner = isFields(content) ? textIn(content, 'content', 'text', 'memory') : null;
  const plain = inner ?? textIn(value, 'content', 'text', 'memory', 'data');
  if (plain !== null) return plain;
  const fields = Object.entries(isFields(content) ? content : value).filter(
    ([name, one]) =>
      name !== 'kind' && (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean'),
  );
  return fields.length === 0 ? null : fields.map(([name, one]) => `${name.replaceAll('_', ' ')}: ${one}`).join('; ');
}
