import { defineConfig } from '@playwright/test';

/** Where the browser is, when it is not where Debian's package puts it. */
const chromium = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

export default defineConfig({
  testDir: 'tests',
  globalSetup: './tests/setup.ts',
  outputDir: 'test-results',
  reporter: [['list'], ['./tests/summary.ts']],
  // An install that waits for a slow Pod takes its time; a busy machine multiplies it.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  workers: 2,
  // Two browsers share their cores with a control plane. The summary names what
  // needed the second try.
  retries: 1,
  forbidOnly: true,
  use: {
    baseURL: process.env['HELMTRAIL_TEST_URL'],
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    screenshot: 'only-on-failure',
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: chromium,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
