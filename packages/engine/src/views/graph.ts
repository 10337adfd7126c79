import type { EntityView, RelationView, StatementView } from '@slowwave/contracts';
import type { SeenRelation } from '../graph/read/seen.ts';
import { type Entity, type KeptRelation, relationText, type Statement } from '../graph/words.ts';
import { isoOf } from '../text/dates.ts';
import type { Owner } from '../words.ts';
import { isoOrNull } from './failures.ts';

/** The ids of an owner in the API's words. */
const ownerView = ({ kind, id }: Owner) => ({
  user_id: kind === 'user' ? id : null,
  agent_id: kind === 'agent' ? id : null,
  run_id: kind === 'run' ? id : null,
});

export const entityView = (entity: Entity): EntityView => ({
  id: entity.id,
  ...ownerView(entity.owner),
  name: entity.name,
  kind: entity.kind,
  self: entity.self,
  aliases: [...entity.aliases],
  merged_into: entity.mergedInto,
  created_at: isoOf(entity.createdAt),
});

/** What a relation says, wherever it is shown. */
export const relationCore = (relation: SeenRelation) => ({
  id: relation.id,
  source: { id: relation.source, name: relation.sourceName },
  relationship: relation.relationship,
  destination: { id: relation.destination, name: relation.destinationName },
  text: relationText(relation),
  valid_from: isoOf(relation.validFrom),
  invalid_at: isoOrNull(relation.invalidAt),
  memory_ids: [...relation.memoryIds],
});

export const relationView = (relation: KeptRelation): RelationView => ({
  ...relationCore(relation),
  ...ownerView(relation.owner),
  said_at: isoOf(relation.saidAt.at),
  confirmations: relation.confirmations,
  quote: relation.quote,
  message_ids: [...relation.messageIds],
});

export const statementView = (statement: Statement, counts: boolean): StatementView => ({
  id: statement.id,
  kind: statement.kind,
  counts,
  source: statement.source,
  ...saidBy(statement),
  quote: statement.quote,
  actor: statement.consolidationId === null ? 'api' : 'study',
  consolidation_id: statement.consolidationId,
  message_ids: [...statement.messageIds],
  memory_ids: [...statement.memoryIds],
  said_at: isoOf(statement.saidAt.at),
  recorded_at: isoOf(statement.recordedAt),
});

type Own = Pick<StatementView, 'relationship' | 'destination' | 'name' | 'valid_from' | 'until' | 'reason'>;

const NONE: Own = { relationship: null, destination: null, name: null, valid_from: null, until: null, reason: null };

/** What only some kinds of statements have. */
function saidBy(statement: Statement): Own {
  switch (statement.kind) {
    case 'holds':
      return {
        ...NONE,
        ...endsOf(statement),
        valid_from: isoOf(statement.validFrom),
        until: isoOrNull(statement.until),
      };
    case 'ended':
      return { ...NONE, ...endsOf(statement), until: isoOf(statement.at), reason: statement.reason };
    case 'denied':
      return { ...NONE, ...endsOf(statement) };
    case 'same':
      return { ...NONE, destination: statement.destination, reason: statement.reason };
    case 'apart':
      return NONE;
    case 'named':
      return { ...NONE, name: statement.name };
  }
}

const endsOf = ({ relationship, destination }: { relationship: string; destination: string }) => ({
  relationship,
  destination,
});
