import { expect, install, logLines, newNamespace, statusTag, test } from '../tests/helmtrail';
import { timed, watchTasks } from './stopwatch';

test('a log that comes as fast as it can be sent', async ({ page, request }) => {
  await watchTasks(page);
  await page.goto(await install(request, { namespace: newNamespace(), name: 'talkative', values: { configMaps: 2000 }, options: { timeoutSeconds: 540 } }));
  await timed(page, 'live, until its end is shown', () => expect(statusTag(page)).toHaveText('Completed', { timeout: 540_000 }));
  await timed(page, 'replayed, until its end is shown', async () => {
    await page.reload();
    await expect(statusTag(page)).toHaveText('Completed');
  });
  await expect(logLines(page)).toHaveCount(500);
  const [dropped = ''] = (await page.getByRole('log').innerText()).split(' ');
  console.log(`lines: ${Number(dropped.replace(',', '')) + 500}, elements in the page: ${await page.locator('*').count()}`);
});
