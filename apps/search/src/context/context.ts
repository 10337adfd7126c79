import { type ContextResult, type PostContext, textOf } from '@slowwave/contracts';
import {
  assembleContext,
  type ContextAsk,
  type Filter,
  SECTIONS,
  type SectionName,
  type TenantId,
} from '@slowwave/engine';
import type { SearchDeps } from '../deps.ts';
import { readParts } from './parts.ts';
import { contextView } from './view.ts';

export interface ContextQuestion {
  readonly tenant: TenantId;
  readonly body: PostContext;
  /** What memories and profile have to be like besides. */
  readonly where: Filter | null;
}

/** Of now: they say nothing of another moment. */
const PRESENT: readonly SectionName[] = ['summary', 'pending'];

/** Reads what is to be told, all at once, and makes a block of it. */
export async function context(deps: SearchDeps, question: ContextQuestion): Promise<ContextResult> {
  const began = performance.now();
  const { body } = question;
  const sections = SECTIONS.filter((name) => isWanted(name, body));
  const { parts, more, degraded } = await readParts(deps, question, sections);
  const assembled = assembleContext(deps.tokenizer, parts, askOf(body));
  return {
    ...contextView(assembled, { format: body.format, sections, more }),
    took_ms: Math.round((performance.now() - began) * 10) / 10,
    ...(degraded.length > 0 && { degraded: [...degraded] }),
  };
}

function isWanted(name: SectionName, { sections, as_of, query, messages }: PostContext): boolean {
  if (sections !== undefined) return sections.includes(name);
  // They cost a read of the graph: only for who asks.
  if (name === 'relations') return false;
  if (name === 'memories') return (query ?? messages) !== undefined;
  return as_of === undefined || !PRESENT.includes(name);
}

const askOf = ({ max_tokens, format, messages = [] }: PostContext): ContextAsk => ({
  maxTokens: max_tokens,
  form: format === 'text' ? 'text' : 'turns',
  alternating: format === 'anthropic',
  given: messages.map(({ id, role, content }) => ({ clientId: id ?? null, role, text: textOf(content) })),
});
