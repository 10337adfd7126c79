export { createMcpHandler } from '@modelcontextprotocol/server';
export { type Connection, type Ids, ToolError } from './connection.ts';
export { memoryServer } from './server.ts';
