import type { Page } from '@playwright/test';

declare global {
  interface Window {
    /** The durations in milliseconds of tasks that blocked the page for more than 50 ms. */
    longTasks: number[];
  }
}

/** Records long tasks from the next page load on. */
export const watchTasks = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => {
      window.longTasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)));
    }).observe({ entryTypes: ['longtask'] });
  });

/** Prints how long an action took and the longest time for which it blocked the page. */
export async function timed(page: Page, what: string, act: () => Promise<unknown>): Promise<void> {
  await page.evaluate(() => 'longTasks' in window && window.longTasks.splice(0));
  const began = performance.now();
  await act();
  const took = Math.round(performance.now() - began);
  const longest = await page.evaluate(() => Math.max(0, ...window.longTasks.splice(0)));
  console.log(`${what}: ${took} ms, longest pause ${longest === 0 ? 'under 50' : longest} ms`);
}
