import { useEffect, useState } from 'react';

/** As fast as people type a word they know. */
const PAUSE_MS = 200;

/** A value once it has not changed for a moment: what somebody types, or drags, is asked for when they pause. */
export function useLater<T>(value: T): T {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return later;
}
