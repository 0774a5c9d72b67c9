import { completed, expect, install, logLines, newNamespace, statusTag, test } from '../tests/helmtrail';
import { timed, watchTasks } from './stopwatch';

test('a log that comes as fast as it can be sent', async ({ page, request }) => {
  const watched = await install(request, { namespace: newNamespace(), name: 'talkative', values: { configMaps: 3000 }, options: { timeoutSeconds: 540 } });
  await completed(request, watched, 540_000);
  await watchTasks(page);
  await timed(page, 'replayed, until its end is shown', async () => {
    await page.goto(watched);
    await expect(statusTag(page)).toHaveText('Completed');
  });
  await expect(logLines(page)).toHaveCount(500);
  const [dropped = ''] = (await page.getByRole('log').innerText()).split(' ');
  console.log(`lines: ${Number(dropped.replace(',', '')) + 500}, elements in the page: ${await page.locator('*').count()}`);
});
