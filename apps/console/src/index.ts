export { consoleRoutes } from './app.ts';
export { manageDeps } from './compose.ts';
export { mem0Routes } from './mem0/routes.ts';
export { consolePages } from './pages.ts';
