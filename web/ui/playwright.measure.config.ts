import { defineConfig } from '@playwright/test';
import tests from './playwright.config';

/** Measures the figures of docs/benchmarks.md for the pages, with the browser and server of the tests. */
export default defineConfig(tests, {
  testDir: 'measure',
  workers: 1,
  timeout: 600_000,
  reporter: 'line',
  use: { trace: 'off' },
});
