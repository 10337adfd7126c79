import type { Memory } from '@slowwave/sdk';

const TRUST: Readonly<Partial<Record<Memory['trust'], string>>> = {
  imported: 'entered manually',
  agent: 'said by the agent',
  tool: 'from a tool',
  inferred: 'inferred',
  external: 'from external content',
};

const RATINGS = { positive: 'rated good', negative: 'rated bad', very_negative: 'rated very bad' } as const;

/** What is special about a memory; nothing for one that the user simply said. */
export function Marks({ memory }: { readonly memory: Memory }) {
  const {
    trust,
    pinned = false,
    immutable,
    flagged,
    feedback = null,
    confirmations,
    conclusion,
    skill,
    task,
    expires_at: expires,
  } = memory;
  return (
    <>
      {pinned && <span className="tag good">pinned</span>}
      {immutable && <span className="tag">immutable</span>}
      {flagged && <span className="tag bad">from a suspicious message</span>}
      {conclusion !== undefined && <span className="tag wait">conclusion, certainty {conclusion.certainty}</span>}
      {skill !== undefined && (
        <span className="tag good">
          skill: worked {skill.successes} {skill.successes === 1 ? 'time' : 'times'}
        </span>
      )}
      {task !== undefined && <span className="tag">result of run {task.run_id}</span>}
      {TRUST[trust] !== undefined && <span className="tag">{TRUST[trust]}</span>}
      {feedback !== null && (
        <span className={feedback === 'positive' ? 'tag good' : 'tag bad'}>{RATINGS[feedback]}</span>
      )}
      {confirmations > 0 && <span className="tag">said {confirmations + 1} times</span>}
      {expires !== null && <span className="tag wait">expires {expires.slice(0, 10)}</span>}
    </>
  );
}
