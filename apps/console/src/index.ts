export { consoleRoutes } from './app.ts';
export { manageDeps } from './manage-deps.ts';
export { mem0Routes } from './mem0/routes.ts';
