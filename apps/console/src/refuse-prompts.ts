import { type CustomCall, promptMistake, type TenantSettings } from '@slowwave/engine';
import { problem } from '@slowwave/http';

/** Prompts of a tenant's own that cannot be used are told as mistakes of the body. */
export function refuseUnusable(prompts: TenantSettings['prompts']): void {
  const calls: readonly CustomCall[] = ['extract', 'decide'];
  const errors = calls.flatMap((call) => {
    const text = prompts[call];
    const message = text === null ? null : promptMistake(call, text);
    return message === null ? [] : [{ path: `prompts.${call}`, message }];
  });
  const [first] = errors;
  if (first === undefined) return;
  throw problem('invalid_request', `the body is not valid: ${first.path}: ${first.message}`, { errors });
}
