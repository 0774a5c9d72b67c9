import { expect, install, logLines, statusTag, test } from '../tests/helmtrail';
import { shoot } from './camera';

const shop = 'shop';

test('events: running, completed, failed', async ({ page, request }) => {
  await page.goto(
    await install(request, {
      namespace: shop,
      name: 'storefront',
      values: { replicas: 3, delay: '15s', smokeTest: { enabled: true } },
      options: { timeoutSeconds: 60 },
    }),
  );
  await expect(statusTag(page)).toHaveText('Connected');
  await expect(logLines(page).nth(6)).toBeVisible();
  await expect(page.getByRole('row').filter({ hasText: 'Deployment' })).toContainText('0/3');
  await shoot(page, 'events');
  await expect(statusTag(page)).toHaveText('Completed');
  await shoot(page, 'events-completed');

  await page.goto(
    await install(request, {
      namespace: shop,
      name: 'checkout',
      values: { image: { tag: 'doesnotexist' } },
      options: { timeoutSeconds: 8 },
    }),
  );
  await expect(statusTag(page)).toHaveText('Failed', { timeout: 60_000 });
  await shoot(page, 'events-failed');
});

test('the releases', async ({ page }) => {
  await page.goto('/helm/releases');
  await expect(page.getByText('storefront')).toBeVisible();
  await shoot(page, 'releases');
});
