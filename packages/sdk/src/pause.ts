/** The first pause between two tries, in ms; each further one is twice as long, up to a limit. */
const FIRST_MS = 200;
const LONGEST_MS = 20_000;
/** A server may ask for a longer one, which is followed up to here. */
const ASKED_MAX_MS = 60_000;

interface Pause {
  /** What was answered, if anything was. */
  readonly answer: Response | null;
  readonly signal?: AbortSignal | undefined;
}

/** Waits before the next try: as long as the server says, else ever longer, and never all callers equally long. */
export async function pauseBefore(tried: number, { answer, signal }: Pause): Promise<void> {
  const asked = answer === null ? null : askedMs(answer.headers.get('retry-after'));
  const own = Math.min(LONGEST_MS, FIRST_MS * 2 ** tried);
  await sleep(asked ?? own * (0.5 + Math.random() / 2), signal);
}

/** Seconds, or a date. */
function askedMs(header: string | null): number | null {
  if (header === null) return null;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1_000;
  return Number.isNaN(ms) ? null : Math.min(ASKED_MAX_MS, Math.max(0, ms));
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
