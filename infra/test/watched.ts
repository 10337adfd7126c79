/** A value that remembers which of its fields were looked at. */
export interface Watched<T> {
  readonly value: T;
  /** The paths of fields nobody looked at. */
  unseen(): string[];
}

/** What a validator never looks at, its schema does not know: for schemas that let unknown fields pass. */
export function watched<T extends object>(target: T): Watched<T> {
  const children = new Map<PropertyKey, Watched<object>>();
  const seen = new Set<PropertyKey>();
  const value = new Proxy(target, {
    get: (object, key) => {
      seen.add(key);
      const child: unknown = Reflect.get(object, key);
      if (typeof child !== 'object' || child === null) return child;
      const known = children.get(key) ?? watched(child);
      children.set(key, known);
      return known.value;
    },
    // Who asks for the names of all fields takes any, as in labels.
    ownKeys: (object) => {
      const keys = Reflect.ownKeys(object);
      for (const key of keys) seen.add(key);
      return keys;
    },
  });
  const unseen = (): string[] =>
    Object.keys(target).flatMap((key) => {
      if (!seen.has(key)) return [key];
      return (children.get(key)?.unseen() ?? []).map((path) => `${key}.${path}`);
    });
  return { value, unseen };
}
