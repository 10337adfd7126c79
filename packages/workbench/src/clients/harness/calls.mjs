/** What was called, and what came of it: printed as one line of JSON, as every harness does. */
export function callsOf(version) {
  const calls = [];
  const tries = async (call, made, holds = () => true) => {
    try {
      const answer = await made();
      const error = `unexpected answer ${JSON.stringify(answer)}`.slice(0, LENGTH);
      calls.push(holds(answer) ? { call } : { call, error });
      return answer;
    } catch (error) {
      calls.push({ call, error: `${error.name}: ${error.message}`.slice(0, LENGTH) });
      return undefined;
    }
  };
  return { tries, print: () => process.stdout.write(`\n${JSON.stringify({ version, calls })}\n`) };
}

const LENGTH = 400;

/** Asks again until something is there: what was said is remembered a moment later. */
export async function soon(ask, holds) {
  for (let tries = 0; tries < 60; tries += 1) {
    const answer = await ask();
    if (holds(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return ask();
}

export const { env } = process;
export const at = { host: env.MEM0_HOST, apiKey: env.MEM0_API_KEY };
