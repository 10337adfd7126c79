import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `pnpm --filter @slowwave/web dev` sends calls of the API: a server that runs beside it. */
const SERVER = 'http://127.0.0.1:7070';

export default defineConfig({
  plugins: [react()],
  // Nothing inline: the policy of the pages allows only files.
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The console, and people's own page, which loads nothing of the console.
    rolldownOptions: { input: ['index.html', 'me.html'] },
  },
  server: { proxy: Object.fromEntries(['/v1', '/login', '/logout', '/docs', '/queues'].map((path) => [path, SERVER])) },
});
