import type { FastifyRequest } from 'fastify';

/** `Authorization: Bearer <key>` or `Token <key>`, or `X-API-Key: <key>`. */
export function keyIn(headers: FastifyRequest['headers']): string | null {
  const [, value] = /^(?:bearer|token) +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  const other = headers['x-api-key'];
  return value ?? (typeof other === 'string' && other !== '' ? other : null);
}
