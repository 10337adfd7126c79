import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useWho } from '../session.ts';

interface Way {
  readonly id: string;
  readonly children: ReactNode;
  /** What stands there for a key for one user or app, which may not see it. */
  readonly otherwise?: ReactNode;
}

/** The way to what a consolidation decided. */
export function Decision({ id, children, otherwise = null }: Way) {
  const { user_id: user, app_id: app } = useWho();
  return user === null && app === null ? <Link href={`/consolidations/${id}`}>{children}</Link> : otherwise;
}
