import { useEffect, useRef } from 'react';
import { ProfileCard } from '../ui/profile.tsx';
import { Loading } from '../ui/states.tsx';
import { SHOWN } from './changing.tsx';
import { CHOICES, Choices } from './choices.tsx';
import { type Coming, type Own, OwnContext, useComing, type Why } from './coming.ts';
import { Memories } from './memories.tsx';
import { plainly } from './plainly.ts';

/** Everything that is remembered about one person, for that person. */
export function OwnPage() {
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
