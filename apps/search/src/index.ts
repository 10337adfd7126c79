export { searchRoutes } from './app.ts';
export { embedQuery } from './embed-query.ts';
export { indexState } from './index-state.ts';
