/** Nobody's input is at fault, and only a person can mend it: all work waits, and looks again this often. */
export const MISCONFIGURED = {
  code: 'model_misconfigured',
  retryable: true,
  countsAsTry: false,
  retryAfterMs: 30_000,
} as const;

/** What makes room for longer prompts. */
export const ROOM_ADVICE =
  'give it a context window of 16,384 tokens (Ollama: num_ctx; llama.cpp: --ctx-size; vLLM: --max-model-len), or lower SLOWWAVE_PART_TOKENS';
