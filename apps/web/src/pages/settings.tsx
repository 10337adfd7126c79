import { Link, useParams } from 'wouter';
import { may, mayChange, type Right, useWho } from '../api.ts';
import { Empty } from '../ui/reading.tsx';
import { Audit, Keys } from './settings/access.tsx';
import { Health } from './settings/health.tsx';
import { Rules } from './settings/rules.tsx';
import { Webhooks } from './settings/webhooks.tsx';

interface Page {
  readonly path: string;
  readonly name: string;
  readonly right: Right;
  readonly show: () => React.ReactNode;
}

const PAGES: readonly Page[] = [
  { path: '', name: 'What is remembered', right: 'manage', show: () => <Rules of="remember" /> },
  { path: 'review', name: 'Review', right: 'manage', show: () => <Rules of="review" /> },
  { path: 'due', name: 'Timing', right: 'manage', show: () => <Rules of="due" /> },
  { path: 'retention', name: 'Retention', right: 'manage', show: () => <Rules of="retention" /> },
  { path: 'budgets', name: 'Budgets and prices', right: 'manage', show: () => <Rules of="budgets" /> },
  { path: 'keys', name: 'Keys', right: 'admin', show: () => <Keys /> },
  { path: 'webhooks', name: 'Webhooks', right: 'manage', show: () => <Webhooks /> },
  { path: 'audit', name: 'Audit log', right: 'admin', show: () => <Audit /> },
  { path: 'models', name: 'Models', right: 'operator', show: () => <Health of="models" /> },
  { path: 'health', name: 'Health and backup', right: 'operator', show: () => <Health of="doctor" /> },
];

/** What holds for everybody of a tenant, who may come in, and how the installation is doing. */
export function Settings() {
  const { page = '' } = useParams<{ page?: string }>();
  const who = useWho();
  if (!PAGES.some(({ path }) => path === page)) return <h1>Page not found</h1>;
  const offered = mayChange(who) ? PAGES.filter(({ right }) => may(who, right)) : [];
  const shown = offered.find(({ path }) => path === page);
  return (
    <>
      <h1>Settings</h1>
      <nav className="row tabs" aria-label="Settings">
        {offered.map(({ path, name }) => (
          <Link key={path} href={`/settings${path && `/${path}`}`} aria-current={path === page ? 'page' : undefined}>
            {name}
          </Link>
        ))}
      </nav>
      {shown === undefined ? <Empty>Your key has no access to this page.</Empty> : shown.show()}
    </>
  );
}
