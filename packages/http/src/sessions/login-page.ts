interface Shown {
  readonly next: string;
  readonly refusal: string | null;
  /** Somebody has signed in here already. */
  readonly signedIn: boolean;
}

/** The page that asks for a key, and lets go of it. It loads nothing, and has no script. */
export function loginPage(shown: Shown): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Slowwave: sign in</title>
<style>
  :root { --back: #f4f5f7; --card: #fff; --ink: #1d2330; --line: #8a93a3; --act: #2b4c9b; --wrong: #a11; }
  @media (prefers-color-scheme: dark) {
    :root { --back: #14171d; --card: #20252e; --ink: #e6e9ef; --line: #76808f; --act: #3d63bf; --wrong: #ff8f8f; }
  }
  body { font: 16px/1.5 system-ui, sans-serif; display: grid; place-items: center; min-height: 100vh; margin: 0; background: var(--back); color: var(--ink); }
  main { background: var(--card); padding: 2rem; border-radius: 8px; box-shadow: 0 1px 4px #0003; width: min(22rem, 80vw); box-sizing: border-box; }
  h1 { font-size: 1.25rem; margin: 0 0 1rem; }
  p { margin: 0 0 1rem; }
  a { color: inherit; }
  label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
  input { padding: .5rem; margin: .25rem 0 1rem; border: 1px solid var(--line); border-radius: 4px; background: var(--card); color: var(--ink); }
  button { padding: .5rem; border: 0; border-radius: 4px; background: var(--act); color: #fff; cursor: pointer; }
  form + form { margin-top: 1.5rem; }
  .quiet { background: none; border: 1px solid var(--line); color: var(--ink); }
  [role=alert] { color: var(--wrong); }
</style>
</head>
<body>
<main>
  <h1>Slowwave</h1>${shown.signedIn ? SIGNED_IN : ''}
${form(shown)}${shown.signedIn ? SIGN_OUT : ''}
</main>
</body>
</html>
`;
}

const SIGNED_IN = `
  <p>You are signed in: <a href="/queues">queues</a>, <a href="/docs/">API</a>.</p>`;

const SIGN_OUT = `
  <form method="post" action="/logout"><button class="quiet">Sign out</button></form>`;

function form({ next, refusal, signedIn }: Shown): string {
  const told = refusal === null ? '' : `\n    <p role="alert">${escaped(refusal)}</p>`;
  return `  <form method="post" action="/login">${told}
    <input type="hidden" name="next" value="${escaped(next)}">
    <label for="key">${signedIn ? 'Another key' : 'Key'}</label>
    <input id="key" name="key" type="password" autocomplete="current-password" required${signedIn ? '' : ' autofocus'}>
    <button>Sign in</button>
  </form>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
