import { expectAccessible } from './axe';
import { Cable } from './cable';
import type { Schemas } from '../src/api/client';
import { CHART, clusterId, color, completed, expect, HELD, helm, install, letReady, logLines, newNamespace, sessionState, statusTag, test } from './helmtrail';

test('an install is watched from its start to its end', async ({ page, request }) => {
  const namespace = newNamespace();
  await page.goto(await install(request, { namespace, name: 'demo', values: HELD, options: { timeoutSeconds: 300 } }));

  await expect(statusTag(page)).toHaveText('Connected');
  await expect(page).toHaveTitle('Connected: Install demo – helmtrail');
  const progress = page.getByRole('progressbar');
  await expect(progress).toHaveAttribute('aria-valuetext', /of 5m$/);
  const deployment = page.getByRole('row').filter({ hasText: 'Deployment' });
  await expect(deployment).toContainText('0/1');
  await expect(logLines(page, 'LOG').first()).toBeVisible();
  const before = await progress.getAttribute('aria-valuetext');
  await expect(progress).not.toHaveAttribute('aria-valuetext', before ?? '');

  await letReady(namespace, 'demo');
  await expect(statusTag(page)).toHaveText('Completed');
  await expect(page).toHaveTitle('Completed: Install demo – helmtrail');
  await expect(deployment).toContainText('1/1');
  await expect(progress).toHaveAttribute('aria-valuetext', /^Took [\dms ]+$/);
  await expect(logLines(page).first()).toHaveAttribute('data-type', 'STARTED');
  await expect(logLines(page, 'RELEASE_STATUS')).toContainText([/Revision 1: Pending install/, /Revision 1: Pending install → Deployed/]);
  await expect(logLines(page).last()).toHaveAttribute('data-type', 'COMPLETED');

  await page.getByRole('button', { name: 'Notes' }).click();
  await expect(page.getByText('Thank you for installing demo.')).toBeVisible();

  await page.getByRole('link', { name: 'View Release' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'demo' })).toBeVisible();
});

test('a failed install shows the error in red, and why', async ({ page, request }) => {
  await page.goto(
    await install(request, { namespace: newNamespace(), name: 'broken', values: { tag: 'doesnotexist' }, options: { timeoutSeconds: 30 } }),
  );

  // The cause appears at the top.
  await expect(page.getByRole('heading', { name: 'This will not recover by itself' })).toBeVisible();

  // While it waits, pointer and keyboard users find the reason behind the icon.
  const why = page.getByRole('row').filter({ hasText: 'Deployment' }).getByRole('button', { name: /^Why/ });
  await expect(why).toBeVisible();
  await why.hover();
  await expect(page.getByRole('tooltip')).toContainText('Available: 0/1');
  await page.mouse.move(0, 0);
  await expect(page.getByRole('tooltip')).toHaveCount(0);
  await why.focus();
  await expect(page.getByRole('tooltip')).toContainText('Available: 0/1');

  await expect(statusTag(page)).toHaveText('Failed', { timeout: 90_000 });
  await expect(page).toHaveTitle('Failed: Install broken – helmtrail');
  const last = logLines(page).last();
  await expect(last).toHaveAttribute('data-type', 'FAILED');
  await expect(last).toContainText(/context deadline exceeded|not ready/);
  expect(await color(last.locator('span'))).toBe('rgb(245, 110, 110)');
  expect(await color(logLines(page, 'LOG').first().locator('span'))).toBe('rgb(146, 197, 249)');
  const alert = page.getByRole('heading', { name: 'Failed to install broken' });
  await expect(alert).toBeVisible();
  await expect(page.getByText('Helm exited with code 1')).toBeVisible();
  await page.getByRole('link', { name: 'Back to Releases' }).click();
  await expect(page.getByRole('heading', { name: 'Releases', exact: true })).toBeVisible();
});

test('past 90 % of the timeout the bar turns yellow, and at 100 % it names the phase', async ({ page, request }) => {
  // helm's timeout applies to each of its two waits, which together take longer.
  await page.goto(
    await install(request, {
      namespace: newNamespace(),
      name: 'late',
      values: { delay: '12s', hookDuration: '14s' },
      options: { timeoutSeconds: 20, deadlineSeconds: 120 },
    }),
  );
  const progress = page.locator('.pf-v6-c-progress');
  await expect(progress).toContainText('of 20s');
  await expect(progress).not.toHaveClass(/pf-m-warning/);
  await expect(progress).toHaveClass(/pf-m-warning/);
  await expect(progress).toContainText(/Timeout exceeded: Helm is (running|waiting for resources)/);
  await expect(statusTag(page)).toHaveText('Completed');
  await expect(progress).toHaveClass(/pf-m-success/);
});

test('a reload during the operation loses and repeats nothing', async ({ page, request }) => {
  const namespace = newNamespace();
  await page.goto(await install(request, { namespace, name: 'demo', values: HELD }));
  await expect(logLines(page, 'LOG').first()).toBeVisible();
  await page.reload();
  await expect(statusTag(page)).toHaveText('Connected');
  await letReady(namespace, 'demo');
  await expect(statusTag(page)).toHaveText('Completed');
  const texts = await logLines(page).allTextContents();
  await page.reload();
  await expect(statusTag(page)).toHaveText('Completed');
  expect(await logLines(page).allTextContents()).toEqual(texts);
  expect(texts.filter((text) => text.includes('Install of demo started'))).toHaveLength(1);
});

test('a lost connection resumes where it broke', async ({ page, request }) => {
  const cable = await Cable.lay();
  try {
    const namespace = newNamespace();
    const watched = await install(request, { namespace, name: 'demo', values: HELD });
    await page.goto(cable.url + watched);
    await expect(logLines(page, 'LOG').first()).toBeVisible();
    cable.pullOut();
    await expect(statusTag(page)).toHaveText('Connecting');
    const elapsed = await page.getByRole('progressbar').getAttribute('aria-valuetext');
    await expect(page.getByRole('progressbar')).not.toHaveAttribute('aria-valuetext', elapsed ?? '');
    cable.putBack();
    await expect(statusTag(page)).toHaveText('Connected');
    await letReady(namespace, 'demo');
    await expect(statusTag(page)).toHaveText('Completed');
    const texts = await logLines(page).allTextContents();
    await page.reload();
    await expect(statusTag(page)).toHaveText('Completed');
    expect(await logLines(page).allTextContents()).toEqual(texts);
  } finally {
    cable.remove();
  }
});

test('a connection that is lost before the end shows the end after reconnecting', async ({ page, request }) => {
  const cable = await Cable.lay();
  try {
    const namespace = newNamespace();
    const watched = await install(request, { namespace, name: 'demo', values: HELD });
    await page.goto(cable.url + watched);
    await expect(logLines(page, 'LOG').first()).toBeVisible();
    cable.pullOut();
    await expect(statusTag(page)).toHaveText('Connecting');
    await letReady(namespace, 'demo');
    await expect.poll(() => sessionState(request, watched)).toBe('completed');
    cable.putBack();
    await expect(statusTag(page)).toHaveText('Completed');
    await expect(logLines(page).last()).toHaveAttribute('data-type', 'COMPLETED');
  } finally {
    cable.remove();
  }
});

test('without an id the running session is shown, and its id appears in the URL', async ({ page, request }) => {
  const namespace = newNamespace();
  const watched = await install(request, { namespace, name: 'demo', values: HELD });
  const [address = '', id] = watched.split('?sessionId=');
  await page.goto(address);
  await expect(statusTag(page)).toHaveText('Connected');
  await expect(page).toHaveURL(new RegExp(`sessionId=${id}$`));
  await letReady(namespace, 'demo');
  await expect(statusTag(page)).toHaveText('Completed');
  await page.reload();
  await expect(statusTag(page)).toHaveText('Completed');

  await page.goto(address);
  await expect(page.getByRole('heading', { name: 'No active session found. The operation may have completed.' })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'View Release' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'demo' })).toBeVisible();
});

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' });

  test('a session is translated', async ({ page, request }) => {
    const namespace = newNamespace();
    const watched = await install(request, { namespace, name: 'demo', values: HELD });
    await page.goto(watched);
    await expect(page.locator('html')).toHaveAttribute('lang', 'zh');
    await expect(statusTag(page)).toHaveText('已连接');
    await expect(page.getByRole('heading', { name: '安装 demo' })).toBeVisible();
    await letReady(namespace, 'demo');
    await expect(statusTag(page)).toHaveText('已完成');
    await expect(logLines(page).last()).toContainText('已完成');
    await page.goto(watched.split('?')[0] ?? '');
    await expect(page.getByRole('heading', { name: '未找到活跃的会话，操作可能已完成。' })).toBeVisible();
  });

  test('a cause and a status are translated', async ({ page, request }) => {
    await page.goto(await install(request, { namespace: newNamespace(), name: 'broken', values: { tag: 'doesnotexist' }, options: { timeoutSeconds: 30 } }));
    const cause = page.locator('.pf-v6-c-alert').filter({ hasText: '无法自行恢复' });
    await expect(cause).toContainText(/Pod broken-\S+ 的容器 web 无法拉取镜像 web:doesnotexist：.*not found/);
    await expect(page.getByRole('row').filter({ hasText: 'Deployment' })).toContainText('进行中');
    await expect(page.getByRole('row').filter({ hasText: 'Pod' })).toContainText('ImagePull');
    await expect(statusTag(page)).toHaveText('失败');
    await expect(logLines(page, 'RESOURCE_STATUS').last()).toContainText('无法拉取镜像');
  });

  test('the user can select English permanently', async ({ page }) => {
    await page.goto('/helm/releases');
    await expect(page.getByRole('textbox', { name: '按名称、名称空间或 Chart 筛选' })).toBeVisible();
    await page.getByRole('button', { name: 'English' }).click();
    const filter = page.getByRole('textbox', { name: 'Filter by name, namespace or chart' });
    await expect(filter).toBeVisible();
    await page.reload();
    await expect(filter).toBeVisible();
  });
});

test('the pages follow the system’s theme, and the log is always dark', async ({ page, request }) => {
  await page.goto(await install(request, { namespace: newNamespace(), name: 'demo' }));
  const panel = page.getByRole('log').locator('..');
  const background = (selector: 'page' | 'panel') =>
    (selector === 'page' ? page.locator('.pf-v6-c-page__main-section').first() : panel).evaluate((e) => getComputedStyle(e).backgroundColor);
  await expect(statusTag(page)).toHaveText('Completed');
  expect(await background('page')).toBe('rgb(255, 255, 255)');
  expect(await background('panel')).toBe('rgb(21, 21, 21)');
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(() => background('page')).not.toBe('rgb(255, 255, 255)');
  expect(await background('panel')).toBe('rgb(21, 21, 21)');
});

test('a narrow screen scrolls in one direction only', async ({ page, request }) => {
  test.slow(); // It opens a dozen pages.
  await page.setViewportSize({ width: 400, height: 800 });
  const cluster = await clusterId(request);
  const namespace = newNamespace();
  const name = 'a.release.with-dots-and-a-name-of-nearly-fifty-three';
  const watched = await install(request, { namespace, name, chart: 'settings' });
  await completed(request, watched);
  // A word wider than the window.
  const data = { chart: { ref: 'settings' }, values: { text: 'x'.repeat(300), lines: 1 } };
  const upgraded = await request.put(`/${cluster}/namespaces/${namespace}/releases/${name}`, { data });
  await completed(request, ((await upgraded.json()) as Schemas['Accepted']).page);
  const release = `${cluster}/${namespace}/${name}`;
  for (const [address, sign] of [
    [watched, page.getByText('COMPLETED in')],
    [`/helm/events/${release}`, page.getByRole('heading', { name: /^No active session/ })],
    [`/helm/releases/${cluster}/${namespace}`, page.getByRole('link', { name })],
    ...['resources', 'revisions', 'sessions', 'notes', 'trail', 'drift'].map((tab) => [`/helm/releases/${release}?tab=${tab}`, page.getByRole('tab', { selected: true })] as const),
    [`/helm/install/${cluster}/${namespace}`, page.getByRole('textbox', { name: 'Values (YAML)' })],
    [`/helm/upgrade-rollback/${release}`, page.getByRole('textbox', { name: /^Values \(YAML\), starting from/ })],
    [`/helm/upgrade-rollback/${release}?to=1`, page.getByRole('grid', { name: 'Values' })],
    [`/helm/compare/${release}`, page.getByRole('button', { name: 'Unified', pressed: true })],
    [`/helm/releases/nowhere`, page.getByRole('heading', { name: 'Not found' })],
  ] as const) {
    await page.goto(address);
    await expect(sign).toBeVisible();
    expect(await page.locator('#main').evaluate((e) => e.scrollWidth - e.clientWidth), address).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), address).toBeLessThanOrEqual(0);
  }
});

test('an operation outside helmtrail is shown as such', async ({ page, request }) => {
  const namespace = newNamespace();
  const cluster = await clusterId(request);
  await page.goto(`/helm/releases/${cluster}/${namespace}`);
  const byHand = helm('install', 'by-hand', CHART, '--namespace', namespace, '--create-namespace', '--set', `delay=${HELD.delay}`, '--wait');
  await page.getByRole('link', { name: 'Watch the operation running on by-hand' }).click();
  await expect(page.getByRole('heading', { name: 'This operation was started outside helmtrail' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Cancel Operation', exact: true })).toHaveCount(0);
  await expect(page.getByRole('row').filter({ hasText: 'Deployment' })).toBeVisible();
  await letReady(namespace, 'by-hand');
  await byHand;
  await expect(statusTag(page)).toHaveText('Completed', { timeout: 40_000 });
  await expect(page.getByRole('list', { name: 'Timeline' })).toContainText('Revision 1: Pending install → Deployed');
});
