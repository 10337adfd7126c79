import {
  type Fact,
  type Fields,
  type Files,
  type Found,
  type Ids,
  leaving,
  listOf,
  momentIn,
  ownerOf,
  type Relation,
  type Talk,
  textIn,
} from './found.ts';

/**
 * A graph of Zep or Graphiti as JSON: nodes, edges and episodes as their APIs answer, in one file or one each. An edge is a fact with the
 * time in which it holds.
 */
export function readZep(files: Files, user: string | null): Found {
  const [nodes, edges, episodes] = [
    gathered(files, ['nodes', 'entities', 'entity_nodes']),
    gathered(files, ['edges', 'facts', 'entity_edges']),
    gathered(files, ['episodes', 'episodic_nodes', 'messages']),
  ];
  if (nodes.length + edges.length + episodes.length === 0)
    throw new Error('expected nodes, edges or episodes, as lists of that name, got none');
  const left = leaving();
  const names = new Map(nodes.map((node) => [textIn(node, 'uuid', 'id') ?? '', textIn(node, 'name') ?? '']));
  const facts: Fact[] = [];
  const relations: Relation[] = [];
  for (const edge of edges) {
    const text = textIn(edge, 'fact');
    if (text === null) {
      left.add('edges', 'they have no fact');
      continue;
    }
    const until = momentIn(edge, 'invalid_at', 'expired_at');
    if (until === null) facts.push(factOf(edge, text, user));
    else left.add('memories of facts that have ended', 'they are imported as relations with their end');
    const relation = relationOf(edge, names, { user, until, quote: text });
    if (relation === null) left.add('relations', 'one of their nodes is missing');
    else relations.push(relation);
  }
  left.add(
    'summaries of nodes',
    'they repeat the facts',
    nodes.filter((node) => textIn(node, 'summary') !== null).length,
  );
  return {
    ...{ facts, relations, talks: talksOf(episodes, user), left: left.all(), isRead: true },
    lacks: ['who said a fact, beyond its episode', 'former texts of facts', 'deletions'],
  };
}

/** The lists of these names, of all files; a file that is a list is named by its file. */
const gathered = (files: Files, names: readonly string[]): readonly Fields[] =>
  [...files].flatMap(([file, value]) =>
    Array.isArray(value)
      ? names.some((name) => file.includes(name))
        ? listOf(value)
        : []
      : names.flatMap((name) => listOf((value as Fields | null)?.[name])),
  );

/** Graphiti keeps a group for each user. */
const idsOf = (item: Fields, user: string | null): Ids => {
  const named = textIn(item, 'user_id', 'group_id');
  return user === null && named !== null ? { user_id: named } : ownerOf(user, 'an edge or episode');
};

const factOf = (edge: Fields, text: string, user: string | null): Fact => ({
  ...{ id: textIn(edge, 'uuid', 'id') ?? '', ids: idsOf(edge, user), text, expiresAt: null },
  at: momentIn(edge, 'valid_at', 'reference_time', 'created_at'),
  metadata: { relation: textIn(edge, 'name'), recorded_at: momentIn(edge, 'created_at') },
});

interface About {
  readonly user: string | null;
  readonly until: string | null;
  readonly quote: string;
}

function relationOf(edge: Fields, names: ReadonlyMap<string, string>, about: About): Relation | null {
  const source = names.get(textIn(edge, 'source_node_uuid', 'source') ?? '');
  const destination = names.get(textIn(edge, 'target_node_uuid', 'target') ?? '');
  if (!(source && destination)) return null;
  const relationship = (textIn(edge, 'name') ?? 'related_to').toLowerCase();
  const from = momentIn(edge, 'valid_at', 'created_at');
  const { until, quote, user } = about;
  return { ids: idsOf(edge, user), source, relationship, destination, from, until, quote };
}

/** One conversation for each owner: episodes are in the order in which they were said. */
function talksOf(episodes: readonly Fields[], user: string | null): Talk[] {
  const said = episodes.flatMap((episode) => {
    const content = textIn(episode, 'content');
    const source = textIn(episode, 'source');
    if (content === null || (source !== null && !['message', 'text'].includes(source))) return [];
    const [, speaker = '', words] = /^([\p{L}\p{N} _.-]{1,40}):\s+(.+)$/su.exec(content) ?? [];
    const who = (textIn(episode, 'role_type', 'role') ?? speaker).toLowerCase();
    const message = {
      ...{ id: textIn(episode, 'uuid', 'id') ?? '', text: words ?? content },
      role: /assistant|agent|bot|system/.test(who) ? ('assistant' as const) : ('user' as const),
      at: momentIn(episode, 'valid_at', 'created_at'),
    };
    const talk = textIn(episode, 'thread_id', 'session_id') ?? 'episodes';
    return [{ ids: idsOf(episode, user), talk, message }];
  });
  const groups = Map.groupBy(said, ({ ids, talk }) => JSON.stringify([ids, talk]));
  return [...groups.values()].map((group) => ({
    ...{ id: group[0]?.talk ?? '', ids: group[0]?.ids ?? {}, title: null },
    messages: group.map(({ message }) => message).sort((a, b) => ((a.at ?? '') < (b.at ?? '') ? -1 : 1)),
  }));
}
