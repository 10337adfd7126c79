import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Action } from '../ui/action.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { saveExport } from '../ui/export.ts';
import { Answer } from '../ui/states.tsx';
import { leaveErased, useOwn } from './coming.ts';
import { plainly, timeOf } from './plainly.ts';

/** Where that is on the page. */
export const CHOICES = 'choices';

/** What somebody may decide about all of it. */
export function Choices() {
  return (
    <section id={CHOICES} tabIndex={-1} aria-label="Everything about you">
      <Pause />
      <Download />
      <Erase />
    </section>
  );
}

const PAUSE = ['own', 'pause'] as const;

function Pause() {
  const { api, userId } = useOwn();
  const pause = useQuery({
    queryKey: PAUSE,
    queryFn: ({ signal }) => plainly(api.users.paused(userId, { signal })),
  });
  return (
    <section className="card" aria-label="Pause">
      <h2>Pause</h2>
      <Answer of={pause}>
        {({ paused_at: since }) =>
          since === null ? (
            <>
              <p>
                While memory is paused, nothing you say is remembered, now or later. What is already remembered stays.
                What you said just before the pause may still be added.
              </p>
              <Action run={() => plainly(api.users.pause(userId))} touches={[PAUSE]}>
                Pause remembering
              </Action>
            </>
          ) : (
            <>
              <p role="status">
                <strong>Paused</strong> since {timeOf(since)}. Nothing you say is remembered.
              </p>
              <Action kind="main" run={() => plainly(api.users.resume(userId))} touches={[PAUSE]}>
                Resume remembering
              </Action>
            </>
          )
        }
      </Answer>
    </section>
  );
}

function Download() {
  const { api, userId } = useOwn();
  return (
    <section className="card" aria-label="Download">
      <h2>Download</h2>
      <p>
        Save everything that is stored about you in a file: your messages, what was remembered from them, and every
        change.
      </p>
      <Action run={() => plainly(saveExport(api.users.export(userId), 'what-is-remembered'))}>
        Download everything
      </Action>
    </section>
  );
}

function Erase() {
  const { api, userId } = useOwn();
  const [asking, setAsking] = useState(false);
  return (
    <section className="card" aria-label="Erase">
      <h2>Erase everything</h2>
      <p>
        Permanently removes everything that is stored about you. This also ends a pause: what you say afterwards is
        remembered again, unless you pause again.
      </p>
      <button type="button" className="danger" onClick={() => setAsking(true)}>
        Erase everything …
      </button>
      {asking && (
        <Confirm
          title="Erase everything about you?"
          submit="Erase everything"
          word="erase"
          close={() => setAsking(false)}
          run={() => plainly(api.users.erase(userId))}
          done={leaveErased}
        >
          <p>
            All your messages and everything that was remembered from them will be permanently removed. If you want a
            copy, download it first.
          </p>
        </Confirm>
      )}
    </section>
  );
}
