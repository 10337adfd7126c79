import { slotsOfEach } from '@slowwave/adapters/limits';
import type { ConsoleDeps } from './deps.ts';

/**
 * Of one tenant, in a process. What a preview uses is known when its models have answered: many that begin together would all
 * find the same room in a budget.
 */
const AT_ONCE = 4;

type Preview = ConsoleDeps['preview'];

/** Previews of a tenant, a few at a time. The others wait in line, each as long as somebody waits for it. */
export function fewPreviews(preview: Preview): Preview {
  const inPlace = slotsOfEach(AT_ONCE);
  return (batch, cancel) => inPlace(batch.tenant, cancel, () => preview(batch, cancel));
}
