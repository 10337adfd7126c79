const ASCII_PER_TOKEN = 4; // English text; every other character counts as a token of its own

/** About how many tokens a text has. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let i = 0; i < text.length; i += 1) tokens += tokensOf(text.charCodeAt(i));
  return Math.ceil(tokens);
}

/** The beginning of a text, up to about so many tokens. */
export function firstTokens(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let tokens = 0;
  for (let i = 0; i < text.length; i += 1) {
    tokens += tokensOf(text.charCodeAt(i));
    if (tokens > limit) return text.slice(0, i);
  }
  return text;
}

function tokensOf(charCode: number): number {
  return charCode < 0x80 ? 1 / ASCII_PER_TOKEN : 1;
}
