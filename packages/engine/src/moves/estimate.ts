import type { EngineDeps, MessagesInIndex } from '../deps.ts';
import { type SearchIndex, SHELVES, type ShownPoint } from '../ports/search-index.ts';
import { vectorTextOf } from '../projection/make-points.ts';

/** What filling an index takes, about. */
export interface MoveEstimate {
  readonly texts: number;
  readonly tokens: number;
}

type EstimateDeps = Pick<EngineDeps, 'ledger' | 'tokenizer'> & {
  /** The one in use. */
  readonly index: SearchIndex;
  readonly settings: { readonly messagesInIndex: MessagesInIndex };
};

/** Points whose texts are counted: of these follows how long a text is. */
const SAMPLE = 500;

/** Counts the points of the index in use, and the tokens of some of them. */
export async function estimateMove(deps: EstimateDeps): Promise<MoveEstimate> {
  const { ledger, index, settings, tokenizer } = deps;
  const shelves = SHELVES.filter((shelf) => shelf !== 'messages' || settings.messagesInIndex === 'hybrid');
  const { points } = await index.page(null, SAMPLE);
  const tokensOf = (point: ShownPoint): number => tokenizer.count(vectorTextOf(point));
  let [texts, tokens] = [0, 0];
  for (const shelf of shelves) {
    let count = 0;
    for (const tenant of await ledger.audit.tenants()) count += await index.count(tenant, shelf);
    const some = points.filter((point) => point.shelf === shelf).map(tokensOf);
    const usual = some.length === 0 ? USUAL_TOKENS : some.reduce((sum, one) => sum + one, 0) / some.length;
    texts += count;
    tokens += count * usual;
  }
  return { texts, tokens: Math.round(tokens) };
}

/** Of a sentence, where the sample has none of its kind. */
const USUAL_TOKENS = 15;
