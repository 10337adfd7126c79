import type { Memory, User } from '@slowwave/sdk';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { mayChange, useWho } from './api.ts';

/** Whom memories belong to. */
export type Owner = Pick<User, 'kind' | 'id'>;

const KINDS: readonly string[] = ['user', 'agent', 'run'] satisfies Owner['kind'][];
const isKind = (text: string | undefined): text is Owner['kind'] => text !== undefined && KINDS.includes(text);

export const pathOf = ({ kind, id }: Owner): string => `/users/${kind}/${encodeURIComponent(id)}`;

/** Whose page it is; null: nobody's. */
export function useOwner(): Owner | null {
  useLocation();
  // From the address itself: an id may have slashes and percent signs in it.
  const [, , kind, id = ''] = location.pathname.split('/');
  return isKind(kind) && id !== '' ? { kind, id: decodeURIComponent(id) } : null;
}

export type Ids = { readonly [Name in `${Owner['kind'] | 'app'}_id`]?: string };

/** The ids by which an owner is asked about; a key for one app names that too. */
export function useIds({ kind, id }: Owner): Ids {
  const { app_id } = useWho();
  return { [`${kind}_id`]: id, ...(app_id !== null && { app_id }) };
}

/** The first of the ids that is given. */
export const ownerOf = ({ user_id, agent_id, run_id }: Pick<Memory, 'user_id' | 'agent_id' | 'run_id'>): Owner =>
  user_id !== null
    ? { kind: 'user', id: user_id }
    : agent_id !== null
      ? { kind: 'agent', id: agent_id }
      : { kind: 'run', id: run_id ?? '' };

/** Everything that is shown of an owner, of all owners, and of one memory: what a change of a memory touches. */
export const touchedBy = (memoryId: string) => [['owner'], ['users'], ['memory', memoryId]];

/** Whose something is: the first of user, agent and run. */
export function OwnerLink({ of }: { readonly of: Pick<Memory, 'user_id' | 'agent_id' | 'run_id'> }) {
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
