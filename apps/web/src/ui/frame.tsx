import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import type { Right } from '../api.ts';
import { may } from '../api.ts';
import { useWho } from '../session.ts';

interface Section {
  readonly path: string;
  readonly name: string;
  readonly right: Right;
}

const SECTIONS: readonly Section[] = [
  { path: '/', name: 'Overview', right: 'search' },
  { path: '/users', name: 'Users', right: 'search' },
  { path: '/graph', name: 'Graph', right: 'search' },
  { path: '/consolidations', name: 'Consolidations', right: 'manage' },
  { path: '/work', name: 'Work', right: 'ingest' },
  { path: '/reviews', name: 'Reviews', right: 'manage' },
  { path: '/playground', name: 'Playground', right: 'ingest' },
  { path: '/settings', name: 'Settings', right: 'manage' },
];

/** Pages that are not of the console itself. */
const ELSEWHERE: readonly Section[] = [
  { path: '/queues', name: 'Queues', right: 'operator' },
  { path: '/docs/', name: 'API', right: 'search' },
];

/** What stands around each page: where somebody is, where they can go, and who they are. */
export function Frame({ children }: { readonly children: ReactNode }) {
  const who = useWho();
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  // A new page begins at its top, also for those who hear it.
  useEffect(() => {
    if (path !== '') main.current?.focus();
    window.scrollTo(0, 0);
  }, [path]);
  const offered = ({ right }: Section) => may(who, right);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="bar">
        <Link href="/" className="brand">
          Slowwave
        </Link>
        <nav aria-label="Console">
          {SECTIONS.filter(offered).map(({ path: to, name }) => (
            <Link key={to} href={to} aria-current={isWithin(path, to) ? 'page' : undefined}>
              {name}
            </Link>
          ))}
          {ELSEWHERE.filter(offered).map(({ path: to, name }) => (
            <a key={to} href={to}>
              {name}
            </a>
          ))}
        </nav>
        <Identity />
      </header>
      {who.keyless && (
        <p className="notice">
          This server has no keys: whoever uses this machine can read and change everything.{' '}
          <Link href="/settings/keys">Create a key</Link> before you put it on a network.
        </p>
      )}
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

const isWithin = (path: string, section: string): boolean =>
  section === '/' ? path === '/' : path === section || path.startsWith(`${section}/`);

function Identity() {
  const { keyless, tenant, user_id: user, app_id: app, operator } = useWho();
  if (keyless) return null;
  const bound = [user !== null && `user ${user}`, app !== null && `app ${app}`].filter((text) => text !== false);
  return (
    <form method="post" action="/logout" className="identity">
      <span>{[operator ? 'operator' : tenant, ...bound].join(' · ')}</span>
      <button type="submit">Sign out</button>
    </form>
  );
}
