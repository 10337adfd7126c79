/**
 * Remembers what was made of the last texts that something was made of: at most `max`, and of none that is longer. What is
 * made has to follow from the text alone.
 */
export function remembering<T>({ max, length }: { readonly max: number; readonly length: number }) {
  const known = new Map<string, T>();
  return (text: string, make: () => T): T => {
    if (text.length > length) return make();
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= max) {
      const [oldest = ''] = known.keys();
      known.delete(oldest);
    }
    const made = make();
    known.set(text, made);
    return made;
  };
}
