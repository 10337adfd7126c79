import type { ContextResult, PostContext } from '@slowwave/contracts';
import { type AssembledContext, isoOf, type SectionName } from '@slowwave/engine';

interface Shape {
  readonly format: PostContext['format'];
  readonly sections: readonly SectionName[];
  /** The ledger has older pending messages than were read. */
  readonly more: boolean;
}

/** A context as the API shows it. */
export function contextView(
  assembled: AssembledContext,
  { format, sections, more }: Shape,
): Omit<ContextResult, 'took_ms' | 'degraded'> {
  const { citations, pending, tokens } = assembled;
  return {
    ...prompt(assembled, format),
    tokens,
    sections: Object.fromEntries(sections.map((name) => [name, sectionView(assembled.sections[name])])),
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
