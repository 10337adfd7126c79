import type { GraphView, RelationView } from '@slowwave/contracts';
import { withQuery } from '../api.ts';
import { type Command, countOf, momentOf, OWNER, oneOf, ownerOf } from '../command.ts';
import { type Column, MORE, table } from '../output.ts';

const FORMATS = ['table', 'dot', 'mermaid', 'svg'] as const;
const LIMIT_USUAL = 200;
const LIMIT_MAX = 1_000;
const DAY_LENGTH = 'yyyy-mm-dd'.length;

export const graphCommand: Command = {
  name: 'graph',
  summary: "Show or draw an owner's graph: entities and their relations.",
  about: `slowwave graph --user ann --format svg > ann.svg draws it; dot is for Graphviz, mermaid for
Markdown.`,
  options: {
    ...OWNER,
    format: { value: 'FORMAT', about: `${FORMATS.join(', ')}. Default: table.` },
    'as-of': { value: 'MOMENT', about: 'Show what was true at this time, e.g. 2026-03-01T09:30:00Z or 30d.' },
    ended: { value: null, about: 'Also relations that have ended.' },
    limit: { value: 'N', about: `Maximum number of relations. Default: ${LIMIT_USUAL}.` },
  },
  run: async ({ given, out, ask }) => {
    const format = oneOf(given, 'format', FORMATS) ?? 'table';
    const limit = countOf(given, 'limit', { usual: LIMIT_USUAL, max: LIMIT_MAX });
    const time = { as_of: momentOf(given, 'as-of'), ended: given.flag('ended') ? 'true' : null };
    const query = { ...ownerOf(given), ...time, limit };
    if (format !== 'table' && !out.json)
      return { value: null, text: await ask<string>('GET', withQuery('/v1/graph', { ...query, format })) };
    const graph = await ask<GraphView>('GET', withQuery('/v1/graph', query));
    return { value: graph, text: textOf(graph) };
  },
};

function textOf({ relations, truncated }: GraphView): string {
  if (relations.length === 0) return 'No relations found.';
  return table(COLUMNS, relations) + (truncated ? MORE : '');
}

const dayOf = (moment: string): string => moment.slice(0, DAY_LENGTH);

const COLUMNS: readonly Column<RelationView>[] = [
  { name: 'source', of: ({ source }) => source.name },
  { name: 'relationship', of: ({ relationship }) => relationship },
  { name: 'destination', of: ({ destination }) => destination.name },
  { name: 'since', of: ({ valid_from }) => dayOf(valid_from) },
  { name: 'until', of: ({ invalid_at }) => (invalid_at === null ? '' : dayOf(invalid_at)) },
  { name: 'said', of: ({ confirmations }) => confirmations + 1 },
  { name: 'id', of: ({ id }) => id },
];
