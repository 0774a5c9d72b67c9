import { defineConfig } from '@playwright/test';

/** The path of the browser; the default is that of Debian's package. */
const chromium = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

export default defineConfig({
  testDir: 'tests',
  globalSetup: './tests/setup.ts',
  outputDir: 'test-results',
  reporter: [['list'], ['./tests/summary.ts']],
  // An install waits for Pods, and two browsers share the cores with a control plane.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  workers: 2,
  // A failed test is fixed, not run again.
  retries: 0,
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
