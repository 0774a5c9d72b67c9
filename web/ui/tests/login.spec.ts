import type { Page } from '@playwright/test';
import { expectAccessible } from './axe';
import { account, allow, deadKubeconfig, kube, makeNamespace } from './cluster';
import { CHART, expect, HELD, helm, install, letReady, newNamespace, statusTag, test } from './helmtrail';
import { Server } from './server';

const SEE = { apiGroups: ['helmtrail.dev'], resources: ['releases'], verbs: ['get', 'list'] };
const ALL = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };

/** An expired token with an invalid signature. */
const EXPIRED = ['{}', '{"exp":1700000000}', '{}'].map((part) => Buffer.from(part).toString('base64url')).join('.');

let server: Server;
/** The namespace in which the tests' users have permissions. */
const namespace = newNamespace();
let operator: { user: string; token: string };
let reader: typeof operator;

test.beforeAll(async () => {
  const dead = await deadKubeconfig(test.info().outputPath('gone'));
  server = await Server.start(process.env['KUBECONFIG'] ?? '', '--auth', 'kubernetes', '--base-path', '/helmtrail', '--cluster', `gone=${dead}`);
  await makeNamespace(namespace);
  operator = await account(namespace, 'operator');
  reader = await account(namespace, 'reader');
  await allow(namespace, 'operator', [ALL]);
  await allow(namespace, 'reader', [SEE]);
  await helm('install', 'shop', CHART, '--namespace', namespace);
});

test.afterAll(() => server.stop());

/** Returns the URL of a page. */
const at = (path: string) => `${server.url}/helmtrail/helm${path}`;

async function logIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  const answered = page.waitForResponse('**/login');
  await page.getByRole('button', { name: 'Log in' }).click();
  await (await answered).finished();
}

const who = (page: Page) => page.getByRole('button', { name: /^Logged in as/ });

test('a login leads back, an install is watched below the base path, and a logout works', async ({ page, context, playwright }) => {
  const strays: string[] = [];
  page.on('request', (sent) => {
    if (!sent.url().startsWith(`${server.url}/helmtrail/`)) {
      strays.push(sent.url());
    }
  });
  await page.goto(at(`/releases/dev/${namespace}?q=shop`));
  await expect(page.getByRole('heading', { level: 1, name: 'Log in' })).toBeVisible();
  await expect(page).toHaveTitle('Log in – helmtrail');
  await expectAccessible(page);
  await expect(page.getByLabel('Cluster').locator('option')).toHaveText(['dev', 'gone']);

  // A rejected token comes with a reason.
  await logIn(page, 'nonsense');
  await expect(page.getByRole('heading', { name: 'The token was rejected' })).toBeVisible();
  await expect(page.getByText('Cluster dev does not accept the token')).toBeVisible();
  await logIn(page, EXPIRED);
  await expect(page.getByText('The token expired on November 14, 2023')).toBeVisible();
  await expectAccessible(page);

  await logIn(page, operator.token);
  await expect(page.getByRole('heading', { name: `Releases in ${namespace}` })).toBeVisible();
  await expect(page).toHaveURL(at(`/releases/dev/${namespace}?q=shop`));
  await expect(who(page)).toHaveAccessibleName(`Logged in as ${operator.user}`);

  // Scripts cannot read the token.
  expect(await page.evaluate(() => document.cookie + JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]))).not.toContain(operator.token.slice(0, 20));
  const [cookie] = await context.cookies(at('/'));
  expect(cookie).toMatchObject({ value: operator.token, httpOnly: true, sameSite: 'Strict', path: '/helmtrail/' });

  const api = await playwright.request.newContext({ baseURL: server.url, extraHTTPHeaders: { Authorization: `Bearer ${operator.token}` } });
  await install(api, { namespace, name: 'shop-2', values: HELD, options: { createNamespace: false } });
  await api.dispose();
  await page.getByRole('link', { name: 'Watch the operation running on shop-2' }).click();
  await expect(statusTag(page)).toHaveText('Connected');
  await expect(page.getByText(operator.user).last()).toBeVisible();
  await expect(page.locator('link[rel="icon"]')).toHaveAttribute('href', '/helmtrail/helm/tab-running.svg');
  await page.reload();
  await letReady(namespace, 'shop-2');
  await expect(statusTag(page)).toHaveText('Completed');
  await page.goto(at(`/releases/dev/${namespace}/shop?tab=trail`));
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as NDJSON' }).click()]);
  expect(download.suggestedFilename()).toBe('shop-trail.ndjson');
  expect(strays).toEqual([]);

  await who(page).click();
  await expectAccessible(page);
  await page.getByRole('menuitem', { name: 'Log out of dev' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Log in' })).toBeVisible();
  expect(await context.cookies(at('/'))).toEqual([]);
  await page.goto(at('/releases'));
  await expect(page.getByRole('heading', { level: 1, name: 'Log in' })).toBeVisible();
});

test('a login after an expired session leads back to the same page', async ({ page, context }) => {
  await page.goto(at(`/login?to=${encodeURIComponent(`/releases/dev/${namespace}/shop?tab=revisions`)}`));
  await logIn(page, operator.token);
  const tab = page.getByRole('tab', { name: 'Revisions', selected: true });
  await expect(tab).toBeVisible();
  await context.clearCookies();
  await expect(page.getByRole('heading', { level: 1, name: 'Log in' })).toBeVisible();
  await logIn(page, operator.token);
  await expect(tab).toBeVisible();

  // A form keeps its input.
  await page.goto(at(`/install/dev/${namespace}`));
  await page.getByRole('textbox', { name: 'Release name' }).fill('half-done');
  await context.clearCookies();
  await expect(page.getByRole('heading', { name: 'You are logged out' })).toBeVisible({ timeout: 30_000 });
  const opening = context.waitForEvent('page');
  await page.getByRole('link', { name: 'Log in (new tab)' }).click();
  const other = await opening;
  await logIn(other, operator.token);
  await expect(other.getByRole('heading', { name: 'Releases', exact: true })).toBeVisible();
  await other.close();
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
  await expect(page.getByRole('heading', { name: 'You are logged out' })).toHaveCount(0);
  await expect(page.getByRole('textbox', { name: 'Release name' })).toHaveValue('half-done');
});

test('a link to the login page leads to no other site', async ({ page }) => {
  await page.goto(at('/login?to=//example.com/'));
  await logIn(page, operator.token);
  await expect(page.getByRole('heading', { name: 'Releases', exact: true })).toBeVisible();
  expect(new URL(page.url()).origin).toBe(server.url);
});

// Without the permission to list everything, such pages showed nothing:
// https://github.com/komodorio/helm-dashboard/issues/62
test('a missing permission is named, with a way to get it', async ({ page }) => {
  await page.goto(at('/login'));
  await logIn(page, reader.token);
  await page.goto(at('/releases/dev/kube-system'));
  await expect(page.getByRole('heading', { level: 1, name: "You don't have permission" })).toBeVisible();
  await expect(page.getByText(`${reader.user} may not list releases.helmtrail.dev in namespace kube-system`)).toBeVisible();
  await expect(page.getByRole('term')).toHaveText(['Verb', 'Resource', 'Namespace', 'User']);
  await expect(page.getByRole('definition')).toHaveText(['list', 'releases.helmtrail.dev', 'kube-system', reader.user]);
  await expect(page.getByText(`kubectl create rolebinding helmtrail-reader -n kube-system --clusterrole=helmtrail-reader --user=${reader.user}`)).toBeVisible();
  await expectAccessible(page);

  // A user with read access only is told so when trying a change.
  await page.goto(at(`/releases/dev/${namespace}/shop`));
  await page.getByRole('button', { name: 'Uninstall shop' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Uninstall' }).click();
  await expect(page.getByRole('dialog').getByText(`${reader.user} may not delete secrets in namespace ${namespace}`)).toBeVisible();
  await expectAccessible(page);
});

test('a withdrawn permission removes the data from open pages', async ({ page, context }) => {
  const leaver = await account(namespace, 'leaver');
  await allow(namespace, 'leaver', [SEE]);
  await page.goto(at('/login'));
  await logIn(page, leaver.token);
  const [list, release] = [await context.newPage(), await context.newPage()];
  await list.goto(at(`/releases/dev/${namespace}`));
  await expect(list.getByRole('link', { name: 'shop', exact: true })).toBeVisible();
  await release.goto(at(`/releases/dev/${namespace}/shop`));
  await expect(release.getByRole('tab', { name: 'Resources' })).toBeVisible();
  await kube('DELETE', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/leaver`);
  for (const shown of [list, release]) {
    await expect(shown.getByRole('heading', { level: 1, name: "You don't have permission" })).toBeVisible();
    await expect(shown.getByText('web 1.0.0')).toHaveCount(0);
  }
});

test('an unreachable cluster says so after a login, and what to do', async ({ page }) => {
  await page.goto(at('/releases/gone'));
  await expect(page.getByLabel('Cluster')).toHaveValue('gone');
  await logIn(page, operator.token);
  await expect(page.getByRole('heading', { name: 'Cannot reach the cluster' })).toBeVisible();
  await expect(page.getByText('Check that the API server is running')).toBeVisible();
  await expectAccessible(page);
});

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' });

  test('the login page and a missing permission are translated', async ({ page }) => {
    await page.goto(at('/releases/dev/kube-system'));
    await expect(page.getByRole('heading', { level: 1, name: '登录' })).toBeVisible();
    await page.getByLabel('令牌').fill(reader.token);
    await page.getByRole('button', { name: '登录' }).click();
    await expect(page.getByRole('heading', { level: 1, name: '您没有权限' })).toBeVisible();
    await expect(page.getByRole('term')).toHaveText(['操作 (verb)', '资源', '名称空间', '用户']);
    await expect(page.getByText('缺少权限：在名称空间 kube-system 中对 releases.helmtrail.dev 执行 list。')).toBeVisible();
    await expect(page.locator('q[lang="en"]')).toContainText(`${reader.user} may not list`);
  });
});
