import type { EngineDeps } from '../deps.ts';
import type { EngineError } from '../errors.ts';

/** Doubles with every try; lanes that failed together come back apart. What the provider asked for goes first. */
export function retryDelay(
  { settings, tools }: Pick<EngineDeps, 'settings' | 'tools'>,
  attempts: number,
  { retryAfterMs }: Pick<EngineError, 'retryAfterMs'>,
): number {
  const doubled = Math.min(settings.retryDelayMs * 2 ** attempts, settings.retryDelayMaxMs);
  const spread = Number.parseInt(tools.hash(tools.id('con')).slice(0, 4), 16) / 0xffff;
  return Math.max(retryAfterMs ?? 0, Math.round(doubled * (0.5 + spread / 2)));
}
