const MINUTE_MS = 60_000;
/** Different refusals that are kept in mind; about 2 MB. With more in a minute some are told of again. */
const KEPT_MAX = 10_000;

/** Tells what is new within a minute: who is refused and goes on trying does not fill a disk. */
export function onceAMinute(now: () => number = performance.now.bind(performance)): (what: string) => boolean {
  let since = now();
  const seen = new Set<string>();
  return (what) => {
    const at = now();
    if (at - since >= MINUTE_MS || seen.size >= KEPT_MAX) {
      seen.clear();
      since = at;
    }
    if (seen.has(what)) return false;
    seen.add(what);
    return true;
  };
}
