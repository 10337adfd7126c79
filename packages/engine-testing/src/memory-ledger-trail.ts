import {
  forgetSubject,
  outcomeOf,
  type TrailEntry,
  type TrailFilter,
  type TrailStore,
  withoutErased,
} from '@slowwave/engine';
import { pageOf } from './memory-ledger-page.ts';
import { rowOf, type State } from './memory-ledger-state.ts';

export function memoryTrail({ trail, erasures }: State): TrailStore {
  const erased = () =>
    [...erasures.values()].map(({ id, ownerHash, erasedAt }) => ({ erasureId: id, ownerHash, erasedAt }));
  return {
    append: async (entries) => {
      for (const { ownerHash: _, ...entry } of withoutErased(entries, erased())) {
        if (!trail.has(entry.id)) trail.set(entry.id, entry);
      }
    },
    list: async (tenant, filter, page) => {
      const rows = [...trail.values()].filter((entry) => entry.tenant === tenant && isMeant(entry, filter));
      return pageOf(rows, ({ at, id }) => ({ order: at, id }), page);
    },
    forgetOwner: async (erasureId, limit) => {
      const { tenant, owner, departed } = rowOf(erasures, erasureId);
      const rows = [...trail.values()].filter(
        ({ tenant: of, subject }) => of === tenant && subject?.kind === owner?.kind && subject?.id === owner?.id,
      );
      const some = owner === null ? [] : rows.slice(0, limit);
      for (const entry of some) {
        if (departed) trail.delete(entry.id);
        else trail.set(entry.id, forgetSubject(entry, erasureId));
      }
      return some.length;
    },
    drop: async (before, limit) => {
      const old = [...trail.values()].filter(({ at }) => at < before).slice(0, limit);
      for (const { id } of old) trail.delete(id);
      return old.length;
    },
  };
}

function isMeant(entry: TrailEntry, { by, subject, action, outcome, since, until }: TrailFilter): boolean {
  return (
    (by === undefined || entry.by === by) &&
    (subject === undefined || entry.subject?.id === subject) &&
    (action === undefined || entry.action === action) &&
    (outcome === undefined || outcomeOf(entry.status) === outcome) &&
    (since === undefined || entry.at >= since) &&
    (until === undefined || entry.at < until)
  );
}
