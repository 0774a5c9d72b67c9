import { expect, HELD, install, letReady, logLines, newNamespace, statusTag, test } from './helmtrail';

/** helm writes at least one line for each object. */
const MANY = 600;

// New output scrolled readers back to the bottom, and long logs fell behind:
// https://github.com/screwdriver-cd/screwdriver/issues/1720
test('the log keeps the newest 500 lines, holds its scroll position, and jumps to the end on request', async ({ page, request }) => {
  const namespace = newNamespace();
  await page.goto(await install(request, { namespace, name: 'talkative', values: { ...HELD, configMaps: MANY } }));
  const panel = page.getByRole('log');
  const jump = page.getByRole('button', { name: /^Jump to end/ });
  const gap = () => panel.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight);

  // It follows the end.
  await expect(panel).toContainText(/[\d,]+ earlier lines are not shown/);
  await expect(logLines(page)).toHaveCount(500);
  expect(await gap()).toBeLessThan(2);
  await expect(jump).toHaveCount(0);

  // After scrolling up, position and selection stay while new lines arrive.
  await panel.hover();
  await page.mouse.wheel(0, -2000);
  await expect(jump).toBeVisible();
  const read = await panel.evaluate((e) => {
    const top = e.getBoundingClientRect().top;
    const line = [...e.querySelectorAll('[data-type]')].find((l) => l.getBoundingClientRect().top >= top);
    if (line) {
      window.getSelection()?.selectAllChildren(line);
    }
    return { top: e.scrollTop, text: window.getSelection()?.toString() };
  });
  expect(read.text).not.toBe('');
  await letReady(namespace, 'talkative');
  await expect(statusTag(page)).toHaveText('Completed', { timeout: 60_000 });
  await expect(jump).toHaveAccessibleName(/\d+ new lines?$/);
  expect(await panel.evaluate((e) => ({ top: e.scrollTop, text: window.getSelection()?.toString() }))).toEqual(read);

  await jump.click();
  await expect(jump).toHaveCount(0);
  await expect.poll(gap).toBeLessThan(2);
  await expect(logLines(page).last()).toHaveAttribute('data-type', 'COMPLETED');
  await expect(logLines(page)).toHaveCount(500);
});

test('scrolling back to the end follows it again', async ({ page, request }) => {
  await page.goto(await install(request, { namespace: newNamespace(), name: 'talkative', values: { configMaps: 100 } }));
  await expect(statusTag(page)).toHaveText('Completed');
  const panel = page.getByRole('log');
  const jump = page.getByRole('button', { name: /^Jump to end/ });
  await panel.hover();
  await page.mouse.wheel(0, -400);
  await expect(jump).toBeVisible();
  await page.mouse.wheel(0, 4000);
  await expect(jump).toHaveCount(0);
});
