import { ContextResult, PostContext, textOf } from '@slowwave/contracts';
import {
  type Asker,
  type AssembledContext,
  assembleContext,
  type ContextAsk,
  type Covered,
  coveredView,
  type Filter,
  isoOf,
  type Lane,
  type Receipt,
  SECTIONS,
  type SectionName,
  type TenantId,
  type Told,
} from '@slowwave/engine';
import { ownApp, refuseForOneApp } from '@slowwave/http';
import { routesOf, type SearchDeps } from '../deps.ts';
import { NO_RELATIONS } from '../find-and-rank.ts';
import { askerOf, filterOf, livingLane, refuseWithoutRewriter } from '../question.ts';
import { mayReadReceipt, receiptFor, refuseUntraced } from '../receipts.ts';
import { askedIn, momentOf, outcomeOf, readParts, tell } from './parts.ts';

const route = routesOf('search');

export const postContext = route('POST /v1/context', {
  id: 'context',
  summary: 'Get what is known about an owner, formatted for a prompt',
  description:
    'Returns one block within a token budget: the profile, the summary of the conversation, the memories relevant ' +
    'to a query or to the last messages, and messages that are not consolidated yet. Each memory has a date and a ' +
    'citation mark. ' +
    'The owner is the first of user_id, agent_id and run_id that is set; the other ids only filter.',
  body: PostContext,
  answer: ContextResult,
  bounds: { by: 'body', apps: true },
  asleep: 'read',
  handle: async (deps, { tenant, body, request }) => {
    refuseUntraced(request, body);
    refuseWithoutRewriter(deps, body);
    if (body.sections?.includes('relations')) refuseForOneApp(request, NO_RELATIONS);
    const [where, app] = [filterOf(body.filters), ownApp(request)];
    const living = livingLane(deps, { tenant, body });
    living.catch(() => {});
    const mayRead = (receipt: Receipt): boolean => mayReadReceipt(request, receipt);
    return context(deps, { tenant, body, where, app, living, mayRead, asker: askerOf(request, body) });
  },
});

export interface ContextQuestion {
  readonly tenant: TenantId;
  readonly body: PostContext;
  /** The filter for memories and profile. */
  readonly where: Filter | null;
  /** The app that the key is bound to; null: none. */
  readonly app: string | null;
  /** The owner's current lane. */
  readonly living: Promise<Lane | null>;
  /** Whom calls of models are counted to. */
  readonly asker: Asker;
  /** Whether the key finds this receipt. */
  mayRead(receipt: Receipt): boolean;
}

/** Sections that only exist for the present. */
const PRESENT: readonly SectionName[] = ['summary', 'task', 'pending'];

/** Reads all sections at once and makes a block of them. */
async function context(deps: SearchDeps, question: ContextQuestion): Promise<ContextResult> {
  const began = performance.now();
  const { body } = question;
  const sections = SECTIONS.filter((name) => isWanted(name, body));
  const [{ parts, more, covers, rewritten, degraded }, known] = await Promise.all([
    readParts(deps, question, sections),
    outcomeOf(() => question.living, body.timeout_ms),
  ]);
  const assembled = assembleContext(deps.tokenizer, parts, { ...askOf(body), now: momentOf(deps, question) });
  const lane = known.kind === 'done' ? known.value : null;
  const asking = { ...question, route: 'context', question: askedIn(body), lane } as const;
  const receiptId = receiptFor(deps, asking, toldIn(assembled));
  if (body.receipt !== false) tell(deps, question, { told: assembled.told, receiptId });
  return {
    ...contextView(assembled, { format: body.format, sections, more, covers }),
    ...(rewritten !== undefined && { rewritten_query: rewritten }),
    receipt_id: receiptId,
    took_ms: Math.round((performance.now() - began) * 10) / 10,
    ...(degraded.length > 0 && { degraded: [...degraded] }),
  };
}

const toldIn = ({ citations, relations }: AssembledContext): readonly Told[] => [
  ...citations.map(({ fact: { memoryId: id, version } }) => ({ kind: 'memory', id, version }) as const),
  ...relations.map(({ id }) => ({ kind: 'relation', id }) as const),
];

function isWanted(name: SectionName, { sections, as_of, query, messages }: PostContext): boolean {
  if (sections !== undefined) return sections.includes(name);
  // Each needs a read of its own, so only on request.
  if (name === 'relations' || name === 'task') return false;
  if (name === 'memories') return (query ?? messages) !== undefined;
  return as_of === undefined || !PRESENT.includes(name);
}

const askOf = ({ max_tokens, format, messages = [] }: PostContext): Omit<ContextAsk, 'now'> => ({
  maxTokens: max_tokens,
  form: format === 'text' ? 'text' : 'turns',
  alternating: format === 'anthropic',
  given: messages.map(({ id, role, content }) => ({ clientId: id ?? null, role, text: textOf(content) })),
});

interface Shape {
  readonly format: PostContext['format'];
  readonly sections: readonly SectionName[];
  /** The ledger has older pending messages than were read. */
  readonly more: boolean;
  /** What the summary was made of. */
  readonly covers: Covered | null;
}

/** A context as the API shows it. */
function contextView(
  assembled: AssembledContext,
  { format, sections, more, covers }: Shape,
): Omit<ContextResult, 'took_ms' | 'receipt_id' | 'degraded'> {
  const { citations, pending, tokens } = assembled;
  return {
    ...prompt(assembled, format),
    tokens,
    sections: Object.fromEntries(sections.map((name) => [name, sectionView(assembled.sections[name])])),
    ...(covers !== null && assembled.sections.summary.shown > 0 && { summary_covers: coveredView(covers) }),
    citations: citations.map(({ ref, section, fact }) => ({
      ref,
      section,
      memory_id: fact.memoryId,
      version: fact.version,
      said_at: isoOf(fact.saidAt),
      valid_from: isoOf(fact.validFrom),
    })),
    memory_ids: citations.map(({ fact }) => fact.memoryId),
    pending: pending.map(({ message, text, isCut }) => ({
      message_id: message.id,
      batch_id: message.batchId,
      id: message.clientId,
      role: message.role,
      name: message.name,
      content: text,
      said_at: isoOf(message.saidAt.at),
      cut: isCut,
    })),
    pending_trimmed: more || assembled.sections.pending.leftOut > 0,
  };
}

function prompt(
  { block, turns }: AssembledContext,
  format: Shape['format'],
): Pick<ContextResult, 'text' | 'system' | 'messages'> {
  switch (format) {
    case 'text':
      return { text: block };
    case 'openai':
      return { messages: [...(block === '' ? [] : [{ role: 'system' as const, content: block }]), ...turns] };
    case 'anthropic':
      return { system: block, messages: [...turns] };
  }
}

const sectionView = ({ shown, leftOut }: AssembledContext['sections'][SectionName]) => ({ shown, left_out: leftOut });
