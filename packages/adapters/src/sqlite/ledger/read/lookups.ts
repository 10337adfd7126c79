import type { LookupStore } from '@slowwave/engine';
import { aroundFrom, historiesFrom, type NearRow, ownerParams } from '../../../ledger/lookups.ts';
import type { EventRow } from '../../../ledger/rows/event.ts';
import type { Access } from '../access.ts';

export function lookupStore({ read }: Access): LookupStore {
  return {
    histories: (of, limit) => {
      const params = { ...ownerParams(of), ids: JSON.stringify(of.ids), limit };
      return read((sql) => historiesFrom(sql.all<EventRow>(SELECT_HISTORIES, params)));
    },
    around: (of, reach) => {
      const params = { ...ownerParams(of), ids: JSON.stringify([...new Set(of.ids)]), ...reach };
      return read((sql) => aroundFrom(sql.all<NearRow>(SELECT_AROUND, params)));
    },
  };
}

const OWN_LANE = '(SELECT id FROM lanes WHERE tenant = @tenant AND owner_kind = @kind AND owner_id = @ownerId)';

/** The + keeps SQLite from looking through the whole lane. */
const SELECT_HISTORIES = `
  SELECT * FROM (
    SELECT e.*, row_number() OVER (PARTITION BY e.memory_id ORDER BY e.revision DESC) AS place
    FROM memories m JOIN events e ON e.memory_id = m.id
    WHERE m.id IN (SELECT value FROM json_each(@ids)) AND +m.lane = ${OWN_LANE}
  ) WHERE place <= @limit ORDER BY memory_id, revision`;

const SELECT_AROUND = `
  SELECT i.value AS asked, n.* FROM json_each(@ids) i
  JOIN messages m ON m.id = i.value AND +m.lane = ${OWN_LANE}
  JOIN messages n ON n.lane = m.lane AND n.seq BETWEEN m.seq - @before AND m.seq + @after
  JOIN scopes s ON s.id = n.scope
  WHERE @appId IS NULL OR s.app_id = @appId
  ORDER BY n.seq`;
