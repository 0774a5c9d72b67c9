import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

/** The server to which `npm run dev` forwards everything but pages. */
const backend = process.env['HELMTRAIL_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig(({ command }) => ({
  // Built files refer to each other relatively; only index.html contains the server's base path.
  base: command === 'build' ? './' : '/helm/',
  plugins: [react()],
  build: {
    outDir: 'dist/pages',
    emptyOutDir: true,
    // The pages' Content Security Policy allows no data: URLs and no inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { '^/(?!helm/)': backend },
  },
  test: {
    include: ['src/**/*.test.ts'],
  },
}));
