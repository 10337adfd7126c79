import type { GraphView, RelationView } from '@slowwave/contracts';
import { withApi, withQuery } from '../api.ts';
import { type Command, countOf, momentOf, oneOf, ownerOf } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type Column, table } from '../output.ts';

const FORMATS = ['table', 'dot', 'mermaid', 'svg'] as const;
const LIMIT_USUAL = 200;
const LIMIT_MAX = 1_000;
const DAY_LENGTH = 'yyyy-mm-dd'.length;

export const graphCommand: Command = {
  name: 'graph',
  usage: '',
  words: [0, 0],
  on: 'server or ledger',
  summary: "Show or draw an owner's graph: entities and their relations.",
  about: `slowwave graph --user ann --format svg > ann.svg draws it; dot is for Graphviz, mermaid for
Markdown.`,
  options: {
    user: { value: 'ID', about: 'The user whose graph it is.' },
    agent: { value: 'ID', about: 'The agent whose graph it is.' },
    run: { value: 'ID', about: 'The run whose graph it is.' },
    format: { value: 'FORMAT', about: `${FORMATS.join(', ')}; usually table.` },
    'as-of': { value: 'MOMENT', about: 'What was true at this time, e.g. 2026-03-01T09:30:00Z or 30d.' },
    ended: { value: null, about: 'Also relations that have ended.' },
    limit: { value: 'N', about: `Maximum number of relations. Default: ${LIMIT_USUAL}.` },
  },
  run: (call) => {
    const { given, out } = call;
    const format = oneOf(given, 'format', FORMATS) ?? 'table';
    const limit = countOf(given, 'limit', { usual: LIMIT_USUAL, max: LIMIT_MAX });
    const time = { as_of: momentOf(given, 'as-of'), ended: given.flag('ended') ? 'true' : null };
    const query = { ...ownerOf(given), ...time, limit };
    return withApi(call, { writes: false }, async (ask) => {
      if (format === 'table' || out.json) {
        const graph = await ask<GraphView>({ method: 'GET', path: withQuery('/v1/graph', query) });
        out.answer(graph, told(graph));
      } else {
        const path = withQuery('/v1/graph', { ...query, format });
        out.answer(null, await ask<string>({ method: 'GET', path }));
      }
      return EXIT.done;
    });
  },
};

function told({ relations, truncated }: GraphView): string {
  if (relations.length === 0) return 'No relations found.';
  return table(COLUMNS, relations) + (truncated ? '\n… and more; raise --limit to see them' : '');
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
