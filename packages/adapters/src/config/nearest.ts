/** The word that was probably meant; null if none is near. */
export function nearest(word: string, words: readonly string[]): string | null {
  const most = Math.max(1, Math.floor(word.length / LETTERS_A_SLIP));
  const ranked = words
    .map((one) => ({ one, slips: slipsBetween(word.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.slips - b.slips);
  const [best] = ranked;
  return best !== undefined && best.slips <= most ? best.one : null;
}

/** One in so many letters may be wrong. */
const LETTERS_A_SLIP = 3;

/** How many letters are missing, superfluous, wrong, or in the other order. */
function slipsBetween(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const choices = [(last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1)];
      row.push(Math.min(...choices, ...(isSwapped ? [(before[j - 2] ?? 0) + 1] : [])));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
