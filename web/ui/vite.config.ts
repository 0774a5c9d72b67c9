import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

/** The server that `npm run dev` asks for everything that is not a page. */
const backend = process.env['HELMTRAIL_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig(({ command }) => ({
  // What is built finds its files beside itself: the server says, in index.html alone, where that is.
  base: command === 'build' ? './' : '/helm/',
  plugins: [react()],
  build: {
    outDir: 'dist/pages',
    emptyOutDir: true,
    // The pages' policy allows no data: addresses and no inline scripts.
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
