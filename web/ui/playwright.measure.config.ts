import { defineConfig } from '@playwright/test';
import tests from './playwright.config';

/** Measures what docs/benchmarks.md says of the pages, with the browser and the server of the tests. */
export default defineConfig(tests, {
  testDir: 'measure',
  workers: 1,
  timeout: 600_000,
  reporter: 'line',
  use: { trace: 'off' },
});
