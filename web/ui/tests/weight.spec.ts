import { expect, install, newNamespace, statusTag, test } from './helmtrail';

/** The maximum size of the scripts of the events page, compressed. */
const SCRIPT_MAX = 400_000;

test('the events page comes with less than 400 KB of script, compressed', async ({ page, request }) => {
  const scripts: Promise<number>[] = [];
  const loaded: Promise<string>[] = [];
  page.on('response', (response) => {
    if (new URL(response.url()).pathname.endsWith('.js')) {
      loaded.push(response.text());
      scripts.push(
        response
          .finished()
          .then(() => response.request().sizes())
          .then(({ responseBodySize }) => responseBodySize),
      );
    }
  });
  await page.goto(await install(request, { namespace: newNamespace(), name: 'light' }));
  await expect(statusTag(page)).toHaveText('Completed');
  const bytes = (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0);
  test.info().annotations.push({ type: 'script', description: `${bytes} bytes in ${scripts.length} files` });
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(SCRIPT_MAX);

  // The code of editors and differences is loaded on first use.
  const late = async () => {
    const texts = await Promise.all(loaded);
    return ['cm-content', 'data-sign'].map((sign) => texts.some((text) => text.includes(sign)));
  };
  expect(await late()).toEqual([false, false]);
  await page.getByRole('link', { name: 'View Release' }).click();
  await page.getByRole('link', { name: 'Upgrade or roll back' }).click();
  await expect.poll(late).toEqual([true, true]);
});
