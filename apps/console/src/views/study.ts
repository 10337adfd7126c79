import type { StudyView as StudyBody } from '@slowwave/contracts';
import { failureView, type GraphPlan, isoOf, isoOrNull, type Statement, type StudyView } from '@slowwave/engine';
import type { z } from 'zod';

export const studyView = (study: StudyView): z.infer<typeof StudyBody> => ({
  consolidation_id: study.consolidationId,
  state: study.state,
  attempts: study.attempts,
  error: failureView(study.failure),
  requested_at: isoOf(study.requestedAt),
  applied_at: isoOrNull(study.appliedAt),
  plan: study.plan && planView(study.plan),
});

const planView = ({ entities, statements, proposals, remarks, prompts, usage }: GraphPlan) => ({
  entities: entities.map(({ id, name, kind }) => ({ id, name, kind })),
  statements: statements.map(statementView),
  proposals: proposals.map((proposal) => ({ ...proposal })),
  remarks: remarks.map((remark) => ({ ...remark })),
  prompts: prompts.map((prompt) => ({ ...prompt })),
  usage,
});

const statementView = (statement: Statement) => ({
  id: statement.id,
  kind: statement.kind,
  source: statement.source,
  relationship: 'relationship' in statement ? statement.relationship : null,
  destination: 'destination' in statement ? statement.destination : null,
  name: 'name' in statement ? statement.name : null,
  said_at: isoOf(statement.saidAt.at),
  quote: statement.quote,
  message_ids: [...statement.messageIds],
});
