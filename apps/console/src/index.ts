export { consoleRoutes } from './app.ts';
export { manageDeps } from './manage-deps.ts';
