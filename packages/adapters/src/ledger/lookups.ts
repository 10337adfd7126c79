import type { LookupStore, MemoryEvent, Message, OwnedIds, Reach } from '@slowwave/engine';
import { type Access, asRead } from './access.ts';
import { type EventRow, eventFrom } from './rows/event.ts';
import { type MessageRow, messageFrom } from './rows/message.ts';
import { all, type Script } from './script.ts';

export const lookupStore = ({ read }: Access): LookupStore => ({
  histories: (of, limit) => read(historiesOf, { of, limit }),
  around: (of, reach) => read(messagesAround, { of, ...reach }),
});

interface Histories {
  readonly of: OwnedIds;
  readonly limit: number;
}

type Events = ReadonlyMap<string, readonly MemoryEvent[]>;

const historiesOf = asRead('lookups.histories', function* ({ of, limit }: Histories): Script<Events> {
  const rows = yield* all<EventRow>(SELECT_HISTORIES, { ...ownerParams(of), ids: of.ids, limit });
  return Map.groupBy(rows.map(eventFrom), ({ memoryId }) => memoryId);
});

interface Around extends Reach {
  readonly of: OwnedIds;
}

/** A message, and the id it was found around. */
type NearRow = MessageRow & { readonly asked: string };

type Messages = ReadonlyMap<string, readonly Message[]>;

const messagesAround = asRead('lookups.around', function* ({ of, ...reach }: Around): Script<Messages> {
  const rows = yield* all<NearRow>(SELECT_AROUND, { ...ownerParams(of), ids: of.ids, ...reach });
  const byAsked = Map.groupBy(rows, ({ asked }) => asked);
  return new Map([...byAsked].map(([id, near]) => [id, near.map(messageFrom)]));
});

/** The parameters that name an owner's lane. */
const ownerParams = ({ tenant, owner }: OwnedIds) => ({ tenant, kind: owner.kind, ownerId: owner.id });

const OWN_LANE = '(SELECT id FROM lanes WHERE tenant = @tenant AND owner_kind = @kind AND owner_id = @ownerId)';

const SELECT_HISTORIES = `
  SELECT * FROM (
    SELECT e.*, row_number() OVER (PARTITION BY e.memory_id ORDER BY e.revision DESC) AS place
    FROM memories m JOIN events e ON e.memory_id = m.id
    WHERE m.id IN :ids AND +m.lane = ${OWN_LANE}
  ) AS newest WHERE place <= @limit ORDER BY memory_id, revision`;

const SELECT_AROUND = `
  SELECT m.id AS asked, n.* FROM messages m
  JOIN messages n ON n.lane = m.lane AND n.seq BETWEEN m.seq - @before AND m.seq + @after
  JOIN scopes s ON s.id = n.scope
  WHERE m.id IN :ids AND +m.lane = ${OWN_LANE} AND (@appId::text IS NULL OR s.app_id = @appId)
  ORDER BY n.seq`;
