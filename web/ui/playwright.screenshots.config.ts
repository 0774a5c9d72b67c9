import { defineConfig } from '@playwright/test';
import tests from './playwright.config';

/** Takes the screenshots of docs/screenshots with the browser and server of the tests. */
export default defineConfig(tests, {
  testDir: 'screenshots',
  globalSetup: ['./screenshots/fonts.ts', './tests/setup.ts'],
  workers: 1,
  timeout: 180_000,
});
