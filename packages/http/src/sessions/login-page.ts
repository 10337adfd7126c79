/** The page that asks for a key. It loads nothing, and has no script. */
export function loginPage({ next, refusal }: { next: string; refusal: string | null }): string {
  const told = refusal === null ? '' : `<p role="alert">${escaped(refusal)}</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Slowwave: sign in</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; display: grid; place-items: center; min-height: 100vh; margin: 0; background: #f4f5f7; color: #1d2330; }
  form { background: #fff; padding: 2rem; border-radius: 8px; box-shadow: 0 1px 4px #0002; width: min(22rem, 80vw); }
  h1 { font-size: 1.25rem; margin: 0 0 1rem; }
  label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
  input { padding: .5rem; margin: .25rem 0 1rem; border: 1px solid #b8bfca; border-radius: 4px; }
  button { padding: .5rem; border: 0; border-radius: 4px; background: #2b4c9b; color: #fff; cursor: pointer; }
  [role=alert] { color: #a11; margin: 0 0 1rem; }
</style>
</head>
<body>
<form method="post" action="/login">
  <h1>Slowwave</h1>
  ${told}
  <input type="hidden" name="next" value="${escaped(next)}">
  <label for="key">Key</label>
  <input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
  <button>Sign in</button>
</form>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
