import { expectAccessible } from './axe';
import { ApiProxy } from './apiproxy';
import { Cable } from './cable';
import { expect, HELD, install, letReady, logLines, newNamespace, statusTag, test } from './helmtrail';
import { Server } from './server';

test('a retry appears in status, timeline and log', async ({ page, playwright }) => {
  const proxy = await ApiProxy.start(test.info().outputPath('proxied'));
  const server = await Server.start(proxy.kubeconfig);
  const api = await playwright.request.newContext({ baseURL: server.url });
  try {
    const namespace = newNamespace();
    for (let i = 0; i < 3; i++) {
      proxy.refuse('POST', `/namespaces/${namespace}/secrets`);
    }
    await page.goto(server.url + (await install(api, { namespace, name: 'raced', options: { retries: 3 } })));
    await page.locator('.pf-v6-c-progress').filter({ hasText: 'waiting for the next attempt' }).waitFor();
    await expect(statusTag(page)).toHaveText('Completed');
    const timeline = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem');
    await expect(timeline).toContainText([
      'Install started',
      /Attempt 2 of 4 in 1s: .*another writer.* Hooks will run again\./,
      /Attempt 3 of 4 in 2s/,
      /Attempt 4 of 4 in 4s/,
      'Revision 1: Pending install',
      'Revision 1: Pending install → Deployed',
      'Completed',
    ]);
    await expect(logLines(page, 'RETRYING')).toHaveCount(3);
    await expectAccessible(page);
  } finally {
    await api.dispose();
    await server.stop();
    proxy.stop();
  }
});

test('a connection that stays lost is reported, and reconnects on request', async ({ page, request }) => {
  const cable = await Cable.lay();
  try {
    await page.clock.install();
    const namespace = newNamespace();
    const watched = await install(request, { namespace, name: 'demo', values: HELD });
    await page.goto(cable.url + watched);
    await expect(logLines(page, 'LOG').first()).toBeVisible();
    cable.pullOut();
    await expect(statusTag(page)).toHaveText('Connecting');
    await page.clock.fastForward(50_000);
    await expect(statusTag(page)).toHaveText('Connecting');
    await page.clock.fastForward(11_000);
    await expect(statusTag(page)).toHaveText('Failed (connection lost)');
    await expect(page).toHaveTitle('Failed (connection lost): Install demo – helmtrail');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(statusTag(page)).toHaveText('Connecting');
    cable.putBack();
    await letReady(namespace, 'demo');
    await expect(statusTag(page)).toHaveText('Completed');
    const texts = await logLines(page).allTextContents();
    expect(texts.filter((text) => text.includes('Install of demo started'))).toHaveLength(1);
    await page.reload();
    await expect(statusTag(page)).toHaveText('Completed');
    expect(await logLines(page).allTextContents()).toEqual(texts);
  } finally {
    cable.remove();
  }
});

test('a killed and restarted helmtrail loses nothing on the page', async ({ page, playwright }) => {
  const server = await Server.start(process.env['KUBECONFIG'] ?? '');
  const api = await playwright.request.newContext({ baseURL: server.url });
  try {
    const namespace = newNamespace();
    await page.goto(server.url + (await install(api, { namespace, name: 'demo', values: HELD })));
    await expect(logLines(page, 'LOG').first()).toBeVisible();
    await server.kill();
    await expect(statusTag(page)).toHaveText('Connecting');
    await server.restart();
    await letReady(namespace, 'demo');
    await expect(statusTag(page)).toHaveText('Completed', { timeout: 60_000 });
    const texts = await logLines(page).allTextContents();
    expect(texts.filter((text) => text.includes('Install of demo started'))).toHaveLength(1);
    await page.reload();
    await expect(statusTag(page)).toHaveText('Completed');
    expect(await logLines(page).allTextContents()).toEqual(texts);
  } finally {
    await api.dispose();
    await server.stop();
  }
});
