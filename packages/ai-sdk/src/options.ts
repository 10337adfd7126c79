import type { ChatMemoryOptions, Whose } from '@slowwave/sdk';

export type MiddlewareOptions = ChatMemoryOptions & Whose;

/** What one call of a model is to be remembered under, and whether. */
export interface CallSettings extends Whose {
  readonly context?: false | undefined;
  readonly post?: false | undefined;
}

const IDS: readonly string[] = ['userId', 'agentId', 'runId', 'appId'] satisfies (keyof Whose)[];
const OFF: readonly string[] = ['context', 'post'];

/** `providerOptions.slowwave` of a call. Throws a TypeError for what it cannot mean. */
export function callSettingsIn(given: Readonly<Record<string, unknown>>): CallSettings {
  for (const [name, value] of Object.entries(given)) {
    const isId = IDS.includes(name) && (value === undefined || typeof value === 'string');
    const isOff = OFF.includes(name) && (value === undefined || value === false);
    if (!(isId || isOff)) {
      const expected = 'userId, agentId, runId or appId as a text, or context or post as false';
      throw new TypeError(`providerOptions.slowwave: expected ${expected}, got ${name}: ${JSON.stringify(value)}`);
    }
  }
  return given;
}
