import { Link } from 'wouter';

interface Ids {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
}

/** Whose something is: the first of user, agent and run. */
export function Owner({ of: { user_id: user, agent_id: agent, run_id: run } }: { readonly of: Ids }) {
  if (user !== null) return <Link href={`/users/${encodeURIComponent(user)}`}>{user}</Link>;
  return (
    <>
      <span className="quiet">{agent === null ? 'run' : 'agent'}</span> {agent ?? run}
    </>
  );
}
