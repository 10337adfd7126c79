import type { TrailStore } from '@slowwave/engine';
import type { Access } from './access.ts';
import { listTrail } from './read/trail.ts';
import { appendTrail, dropOldTrail, forgetOwnerInTrail } from './write/trail.ts';

export function trailStore({ read, write }: Access): TrailStore {
  return {
    append: (entries) => write((sql) => appendTrail(sql, entries)),
    list: (tenant, filter, page) => read((sql) => listTrail(sql, { tenant, filter, page })),
    forgetOwner: (erasureId, limit) => write((sql) => forgetOwnerInTrail(sql, erasureId, limit)),
    drop: (before, limit) => write((sql) => dropOldTrail(sql, before, limit)),
  };
}
