/** A reservation says itself what it holds: nothing has to be remembered between reserving and settling. */
export const reservationId = (second: number, tokens: number): string => `${second}~${tokens}`;

export function reservedIn(id: string): { readonly second: number; readonly tokens: number } | null {
  const found = /^(\d+)~(\d+)$/u.exec(id);
  return found === null ? null : { second: Number(found[1]), tokens: Number(found[2]) };
}
