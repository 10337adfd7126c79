import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { StrictMode, useEffect, useRef } from 'react';
import { createRoot } from 'react-dom/client';
import { Memories, SHOWN } from './memories.tsx';
import '../style.css';
import { queries } from '../api.ts';
import { Action, Confirm, Opens } from '../ui/forms.tsx';
import { ProfileCard, saveExport } from '../ui/person.tsx';
import { Answer, Loading } from '../ui/reading.tsx';
import {
  begin,
  type Coming,
  leaveErased,
  type Own,
  OwnContext,
  plainly,
  timeOf,
  useComing,
  useOwn,
  type Why,
} from './coming.ts';

/** Everything that is remembered about one person, for that person. */
function OwnPage() {
  const coming = useComing();
  const main = useRef<HTMLElement>(null);
  const { kind } = coming;
  // Those who hear the page are told that it has become another one.
  useEffect(() => {
    if (kind === 'away' || kind === 'erased') main.current?.focus();
  }, [kind]);
  return (
    <main ref={main} tabIndex={-1} className="narrow">
      <h1>What is remembered about you</h1>
      <Shown coming={coming} />
    </main>
  );
}

function Shown({ coming }: { readonly coming: Coming }) {
  switch (coming.kind) {
    case 'coming':
      return <Loading what="Opening your page …" />;
    case 'here':
      return <Here own={coming.own} />;
    case 'away':
      return <Away why={coming.why} />;
    case 'erased':
      return (
        <div className="card" role="status">
          <h2>Everything about you is being erased</h2>
          <p>It can no longer be found, and will be permanently deleted shortly.</p>
          <p>You can close this page. Your link no longer works.</p>
        </div>
      );
  }
}

function Here({ own }: { readonly own: Own }) {
  return (
    <OwnContext value={own}>
      <p>
        This is what is remembered from your conversations, so that you do not have to repeat yourself. You can see
        where each memory comes from, correct it, or delete it.
        {own.mayChange && (
          <>
            {' '}
            Further down you can <a href={`#${CHOICES}`}>pause, download or erase everything</a>.
          </>
        )}
      </p>
      <p className="quiet">
        This page is for <span className="text">{own.userId}</span>.
      </p>
      <ProfileCard
        title="Your profile: included in every conversation"
        api={own.api}
        userId={own.userId}
        mayChange={own.mayChange}
        shown={SHOWN}
        plainly={plainly}
      />
      <Memories />
      {own.mayChange && <Choices />}
    </OwnContext>
  );
}

/** What happened, and what to do. */
const WHYS: Readonly<Record<Why, readonly [what: string, then: string]>> = {
  no_link: [
    'You need a link to see this page',
    'The app or service that remembers things about you can give you one. Each link works once: if you reloaded the page, please ask for a new one.',
  ],
  used: [
    'This link has already been used',
    'Each link works once. Please ask for a new one where you got this one. If you did not open it, tell them: someone else may have opened it.',
  ],
  ended: [
    'This link no longer works',
    'It has expired or was revoked, or the page was open for too long. Please ask for a new one where you got this one.',
  ],
  not_one_person: [
    'This page is for one person',
    'You are signed in with access to more than one person. To see what a person sees, create a link for them (POST /v1/users/{id}/links) and open it.',
  ],
  unreachable: ['This page cannot be reached right now', 'Please try again in a few minutes.'],
};

function Away({ why }: { readonly why: Why }) {
  const [what, then] = WHYS[why];
  return (
    <div className="card" role="alert">
      <h2>{what}</h2>
      <p>{then}</p>
      {why === 'no_link' && window.self === window.top && (
        <p>
          If you were given a key, <a href="/login?next=%2Fme">sign in with it</a>.
        </p>
      )}
    </div>
  );
}

/** Where that is on the page. */
const CHOICES = 'choices';

/** What somebody may decide about all of it. */
function Choices() {
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
  return (
    <section className="card" aria-label="Erase">
      <h2>Erase everything</h2>
      <p>
        Permanently removes everything that is stored about you. This also ends a pause: what you say afterwards is
        remembered again, unless you pause again.
      </p>
      <Opens
        kind="danger"
        window={(close) => (
          <Confirm
            title="Erase everything about you?"
            submit="Erase everything"
            word="erase"
            close={close}
            run={() => plainly(api.users.erase(userId))}
            done={leaveErased}
          >
            <p>
              All your messages and everything that was remembered from them will be permanently removed. If you want a
              copy, download it first.
            </p>
          </Confirm>
        )}
      >
        Erase everything …
      </Opens>
    </section>
  );
}

// Outside of what is drawn, which may be drawn twice: a link opens once.
begin();
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <OwnPage />
      </QueryClientProvider>
    </StrictMode>,
  );
}
