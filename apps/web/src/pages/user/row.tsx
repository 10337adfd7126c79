import type { Memory } from '@slowwave/sdk';
import { memo, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { isOfAllApps } from '../../api.ts';
import { useWho } from '../../session.ts';
import { Moment } from '../../ui/time.tsx';
import { Changes } from '../memory/change.tsx';
import { Marks } from '../memory/marks.tsx';
import { Sources } from '../memory/sources.tsx';

interface Shown {
  readonly memory: Memory;
  /** What it said at another time: nothing of that is changed. */
  readonly isPast: boolean;
  readonly children?: ReactNode;
}

/** A memory in one line, which opens to what it came from and what can be done with it. */
export const Row = memo(function Row({ memory, isPast, children }: Shown) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <div className="row">
        <button type="button" className="line text" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {memory.memory}
        </button>
        <Marks memory={memory} />
        <span className="quiet">
          <Moment iso={memory.valid_from} />
        </span>
        <Link href={`/memories/${memory.id}`} aria-label={`History of: ${memory.memory}`}>
          History
        </Link>
      </div>
      {children}
      {isOpen && <Opened memory={memory} isPast={isPast} />}
    </li>
  );
});

function Opened({ memory, isPast }: Shown) {
  const who = useWho();
  return (
    <div className="behind beside">
      {isPast ? (
        <p className="quiet">This is an earlier state. Go back to now to change the memory.</p>
      ) : (
        <div>
          <Changes memory={memory} />
        </div>
      )}
      {isOfAllApps(who) && <Sources id={memory.id} />}
    </div>
  );
}
