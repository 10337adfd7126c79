export { searchRoutes } from './app.ts';
export { type OpenSearch, openSearch } from './compose.ts';
export { mcpRoutes } from './mcp/route.ts';
