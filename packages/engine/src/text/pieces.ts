/** Longest piece, in UTF-16 units: a page without a full stop is cut at a space, or anywhere. */
const PIECE_MAX = 1_000;

/** A text in sentences and lines, in order, nothing left out. Takes linear time. */
export function piecesOf(text: string): string[] {
  const sentences = text.match(/[^.!?。！？\n]*[.!?。！？\n]+[”"'’」』)\]]*\s*|[^.!?。！？\n]+$/gu) ?? [];
  return sentences.flatMap(cutLong);
}

function cutLong(sentence: string): string[] {
  const cuts: string[] = [];
  let from = 0;
  while (sentence.length - from > PIECE_MAX) {
    const end = borderBefore(sentence, from);
    cuts.push(sentence.slice(from, end));
    from = end;
  }
  return [...cuts, sentence.slice(from)];
}

/** Behind the last space that fits; where there is none, not through the middle of a character. */
function borderBefore(sentence: string, from: number): number {
  const space = sentence.lastIndexOf(' ', from + PIECE_MAX - 1);
  if (space > from) return space + 1;
  const end = from + PIECE_MAX;
  const half = /[\uDC00-\uDFFF]/u.test(sentence.charAt(end));
  return half ? end - 1 : end;
}
