import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { Route, Switch } from 'wouter';
import { isSignedOut, isSubject, queries, SessionContext, signInAddress, useSession } from './api.ts';
import { Frame } from './ui/frame.tsx';
import { Loading, Problem } from './ui/reading.tsx';
import './style.css';

/** A page is loaded with its file when somebody first goes there. */
const Overview = lazy(async () => ({ default: (await import('./pages/overview.tsx')).Overview }));
const GraphPage = lazy(async () => ({ default: (await import('./pages/graph.tsx')).GraphPage }));
const Canaries = lazy(async () => ({ default: (await import('./pages/canaries.tsx')).Canaries }));
const CanaryPage = lazy(async () => ({ default: (await import('./pages/canaries.tsx')).CanaryPage }));
const Cells = lazy(async () => ({ default: (await import('./pages/cells.tsx')).Cells }));
const Consolidations = lazy(async () => ({ default: (await import('./pages/consolidations.tsx')).Consolidations }));
const ConsolidationPage = lazy(async () => ({
  default: (await import('./pages/consolidation.tsx')).ConsolidationPage,
}));
const Costs = lazy(async () => ({ default: (await import('./pages/costs.tsx')).Costs }));
const MemoryPage = lazy(async () => ({ default: (await import('./pages/memory.tsx')).MemoryPage }));
const Nights = lazy(async () => ({ default: (await import('./pages/nights.tsx')).Nights }));
const Playground = lazy(async () => ({ default: (await import('./pages/playground.tsx')).Playground }));
const ReplayPage = lazy(async () => ({ default: (await import('./pages/replay.tsx')).ReplayPage }));
const Reviews = lazy(async () => ({ default: (await import('./pages/reviews.tsx')).Reviews }));
const AssessPage = lazy(async () => ({ default: (await import('./pages/assess.tsx')).AssessPage }));
const Suites = lazy(async () => ({ default: (await import('./pages/suites.tsx')).Suites }));
const SuitePage = lazy(async () => ({ default: (await import('./pages/suites.tsx')).SuitePage }));
const SuiteRunPage = lazy(async () => ({ default: (await import('./pages/suites.tsx')).SuiteRunPage }));
const UserPage = lazy(async () => ({ default: (await import('./pages/user.tsx')).UserPage }));
const Settings = lazy(async () => ({ default: (await import('./pages/settings.tsx')).Settings }));
const Users = lazy(async () => ({ default: (await import('./pages/users.tsx')).Users }));
const Work = lazy(async () => ({ default: (await import('./pages/work.tsx')).Work }));

function App() {
  const session = useSession();
  if (isSignedOut(session.error)) {
    location.assign(signInAddress());
    return <Loading />;
  }
  if (session.data === undefined)
    return session.error === null ? <Loading /> : <Problem error={session.error} retry={() => session.refetch()} />;
  if (isSubject(session.data)) {
    location.assign('/me');
    return <Loading />;
  }
  return (
    <SessionContext value={session.data}>
      <Frame>
        <Suspense fallback={<Loading />}>
          <Switch>
            <Route path="/" component={Overview} />
            <Route path="/users" component={Users} />
            <Route path="/users/*" component={UserPage} />
            <Route path="/memories/:id" component={MemoryPage} />
            <Route path="/graph" component={GraphPage} />
            <Route path="/consolidations" component={Consolidations} />
            <Route path="/consolidations/:id" component={ConsolidationPage} />
            <Route path="/work" component={Work} />
            <Route path="/work/replays/:id" component={ReplayPage} />
            <Route path="/suites" component={Suites} />
            <Route path="/suites/:name" component={SuitePage} />
            <Route path="/suites/:name/:id" component={SuiteRunPage} />
            <Route path="/suites/:name/:id/assess" component={AssessPage} />
            <Route path="/cells" component={Cells} />
            <Route path="/costs" component={Costs} />
            <Route path="/nights" component={Nights} />
            <Route path="/reviews" component={Reviews} />
            <Route path="/canaries" component={Canaries} />
            <Route path="/canaries/:id" component={CanaryPage} />
            <Route path="/playground" component={Playground} />
            <Route path="/settings/:page?" component={Settings} />
            <Route>
              <h1>Page not found</h1>
              <p>The address may be misspelt, or the page may have moved.</p>
            </Route>
          </Switch>
        </Suspense>
      </Frame>
    </SessionContext>
  );
}

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
