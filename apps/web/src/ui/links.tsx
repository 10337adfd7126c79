import type { Memory } from '@slowwave/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { mayChange } from '../api.ts';
import { ownerOf, pathOf } from '../owner.ts';
import { useWho } from '../session.ts';

/** Whose something is: the first of user, agent and run. */
export function Owner({ of }: { readonly of: Pick<Memory, 'user_id' | 'agent_id' | 'run_id'> }) {
  const owner = ownerOf(of);
  return (
    <>
      {owner.kind !== 'user' && <span className="quiet">{owner.kind} </span>}
      <Link href={pathOf(owner)}>{owner.id}</Link>
    </>
  );
}

interface Way {
  readonly id: string;
  readonly children: ReactNode;
  /** What stands there for a key that may not see decisions. */
  readonly otherwise?: ReactNode;
}

/** The way to what a consolidation decided. */
export const Decision = ({ id, children, otherwise = null }: Way) =>
  mayChange(useWho()) ? <Link href={`/consolidations/${id}`}>{children}</Link> : otherwise;
