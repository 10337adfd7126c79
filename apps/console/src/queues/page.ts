/** The board's page asks another host for a font; whoever opens it must not be told on there. */
export function withoutForeignLinks(page: unknown): unknown {
  if (typeof page !== 'string' && !Buffer.isBuffer(page)) return page;
  return page.toString().replaceAll(/<link\b[^>]*\bhref="(?:https?:)?\/\/[^>]*>/gi, '');
}
