import type { TrailStore } from '@slowwave/engine';
import type { Access } from './access.ts';
import { listTrail } from './read/trail.ts';

export function trailStore({ read, write }: Access): TrailStore {
  return {
    append: (entries) => write('appendTrail', { entries }),
    list: (tenant, filter, page) => read((sql) => listTrail(sql, { tenant, filter, page })),
    forgetOwner: (erasureId, limit) => write('forgetOwnerInTrail', { erasureId, limit }),
    drop: (before, limit) => write('dropOldTrail', { before, limit }),
  };
}
