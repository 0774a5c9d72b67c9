import type { Page } from '@playwright/test';

declare global {
  interface Window {
    /** How long each task took that kept the page from answering for more than 50 ms, in milliseconds. */
    longTasks: number[];
  }
}

/** Has a page note its long tasks, from its next load on. */
export const watchTasks = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => {
      window.longTasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)));
    }).observe({ entryTypes: ['longtask'] });
  });

/** Prints how long something took, and for how long at most the page answered nobody meanwhile. */
export async function timed(page: Page, what: string, act: () => Promise<unknown>): Promise<void> {
  await page.evaluate(() => 'longTasks' in window && window.longTasks.splice(0));
  const began = performance.now();
  await act();
  const took = Math.round(performance.now() - began);
  const longest = await page.evaluate(() => Math.max(0, ...window.longTasks.splice(0)));
  console.log(`${what}: ${took} ms, longest pause ${longest === 0 ? 'under 50' : longest} ms`);
}
