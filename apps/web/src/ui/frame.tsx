import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { isGone, isOfAllApps, may, mayChange, type Session, useCells, useWho } from '../api.ts';

interface Section {
  readonly path: string;
  readonly name: string;
  /** Whether a key can use any of it. */
  readonly isOffered: (who: Session) => boolean;
}

const SECTIONS: readonly Section[] = [
  { path: '/', name: 'Overview', isOffered: mayChange },
  { path: '/users', name: 'Users', isOffered: (who) => may(who, 'search') },
  { path: '/graph', name: 'Graph', isOffered: (who) => may(who, 'search') && isOfAllApps(who) },
  { path: '/consolidations', name: 'Consolidations', isOffered: (who) => may(who, 'manage') && isOfAllApps(who) },
  { path: '/work', name: 'Work', isOffered: (who) => may(who, 'ingest') && isOfAllApps(who) },
  { path: '/suites', name: 'Suites', isOffered: (who) => may(who, 'admin') },
  { path: '/reviews', name: 'Reviews', isOffered: (who) => may(who, 'manage') && isOfAllApps(who) },
  { path: '/nights', name: 'Nights', isOffered: (who) => may(who, 'manage') && isOfAllApps(who) },
  { path: '/canaries', name: 'Canaries', isOffered: (who) => may(who, 'admin') && isOfAllApps(who) },
  { path: '/playground', name: 'Playground', isOffered: (who) => may(who, 'ingest') && may(who, 'search') },
  { path: '/costs', name: 'Costs', isOffered: mayChange },
  { path: '/settings', name: 'Settings', isOffered: mayChange },
];

/** Where there are cells, and whether all answer. */
const CELLS_EVERY_MS = 15_000;
const CELLS: Section = { path: '/cells', name: 'Cells', isOffered: (who) => may(who, 'operator') };

/** Pages that are not of the console itself. */
const ELSEWHERE: readonly Section[] = [
  { path: '/queues', name: 'Queues', isOffered: (who) => may(who, 'operator') },
  { path: '/docs/', name: 'API', isOffered: () => true },
];

/** The first page that a key can use, other than the overview; null: it is for programs alone. */
export const firstOffered = (who: Session): string | null =>
  SECTIONS.find(({ path, isOffered }) => path !== '/' && isOffered(who))?.path ?? null;

/** What stands around each page: where somebody is, where they can go, and who they are. */
export function Frame({ children }: { readonly children: ReactNode }) {
  const who = useWho();
  const [path] = useLocation();
  const cells = useCells(who, CELLS_EVERY_MS);
  const all = cells.data?.cells ?? [];
  const silent = all.filter((cell) => !(cell.answers || isGone(cell))).map(({ name }) => name);
  const main = useRef<HTMLElement>(null);
  // A new page has a name in the browser's tabs and history, and begins at its top, also for those who hear it.
  useEffect(() => {
    const section = [...SECTIONS, CELLS].find(({ path: of }) => isWithin(path, of));
    document.title = section === undefined ? 'Slowwave' : `${section.name} · Slowwave`;
    if (path !== '') main.current?.focus();
    window.scrollTo(0, 0);
  }, [path]);
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <Link href="/" className="brand">
          Slowwave
        </Link>
        <nav aria-label="Console">
          {[...SECTIONS, ...(all.length > 0 ? [CELLS] : [])]
            .filter(({ isOffered }) => isOffered(who))
            .map(({ path: to, name }) => (
              <Link key={to} href={to} aria-current={isWithin(path, to) ? 'page' : undefined}>
                {name}
              </Link>
            ))}
          {ELSEWHERE.filter(({ isOffered }) => isOffered(who)).map(({ path: to, name }) => (
            <a key={to} href={to}>
              {name}
            </a>
          ))}
        </nav>
        <Identity />
      </header>
      {who.keyless && (
        <p className="notice">
          This server has no keys: anyone on this machine can read and change everything.{' '}
          <Link href="/settings/keys">Create a key</Link> before you expose it to a network.
        </p>
      )}
      {silent.length > 0 && (
        <p className="notice">
          {silent.length === 1 ? 'A cell does not respond' : 'Some cells do not respond'}: {silent.join(', ')}. Lists
          and figures do not include their users.
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
