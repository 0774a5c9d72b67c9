import { expect, test as base, type APIRequestContext, type Locator, type Page } from '@playwright/test';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Schemas } from '../src/api/client';
import { kube } from './cluster';

export { expect };

/** The chart that the tests install. Its values control the behaviour of its Pods. */
export const CHART = path.join(import.meta.dirname, 'charts', 'web');

/** A test with a page that must not throw or violate its Content Security Policy. */
export const test = base.extend<{ soundPage: undefined }>({
  soundPage: [
    async ({ page }, use) => {
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error' && message.text().includes('Content Security Policy')) {
          complaints.push(`${message.text()} (${message.location().url}:${message.location().lineNumber}:${message.location().columnNumber})`);
        }
      });
      await use(undefined);
      expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
});

/** Returns the name of an unused namespace. */
export const newNamespace = () => `ui-${randomUUID().slice(0, 8)}`;

/** Returns the id of the only cluster. */
export async function clusterId(request: APIRequestContext): Promise<string> {
  const { items } = (await (await request.get('/clusters')).json()) as Schemas['ClusterList'];
  const [first] = items;
  if (!first) {
    throw new Error('the server watches no cluster');
  }
  return first.id;
}

export interface Install {
  namespace: string;
  name: string;
  /** A chart of the folder charts; the default is web. */
  chart?: string;
  values?: Record<string, unknown>;
  options?: Schemas['Options'];
}

/** Submits an install that waits and returns the path of its events page. */
export async function install(request: APIRequestContext, { namespace, name, chart = 'web', values, options }: Install): Promise<string> {
  const response = await request.post(`/${await clusterId(request)}/namespaces/${namespace}/releases`, {
    data: { name, chart: { ref: chart }, values, options: { createNamespace: true, wait: true, ...options } },
  });
  expect(response.status(), await response.text()).toBe(202);
  return ((await response.json()) as Schemas['Accepted']).page;
}

/** The values of a release whose Pods become ready only when the test calls `letReady`. */
export const HELD = { delay: '1h' } as const;

/** Lets the Pods of a held release become ready, so that an operation that waits for them completes. Waits until Helm has created the Deployment. */
export async function letReady(namespace: string, name: string): Promise<void> {
  await expect(() =>
    kube('PATCH', `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`, {
      spec: { template: { metadata: { annotations: { 'devcluster.helmtrail.dev/delay': null } } } },
    }),
  ).toPass();
}

/** Returns the state of the session of an events page. */
export async function sessionState(request: APIRequestContext, page: string): Promise<Schemas['SessionState']> {
  const [, cluster, namespace, name, id] = /^\/helm\/events\/(.+)\/(.+)\/(.+)\?sessionId=(.+)$/.exec(page) ?? [];
  const response = await request.get(`/${cluster}/namespaces/${namespace}/releases/${name}/sessions/${id}`);
  return ((await response.json()) as Schemas['Session']).state;
}

/** Waits until the session of an events page has completed. */
export const completed = (request: APIRequestContext, page: string) =>
  expect.poll(() => sessionState(request, page), { timeout: 60_000 }).toBe('completed');

const run = promisify(execFile);

/** Runs helm directly, as in a terminal. */
export async function helm(...args: string[]): Promise<void> {
  await run(process.env['HELMTRAIL_TEST_HELM'] ?? 'helm', args);
}

/** The page's status tag. */
export const statusTag = (page: Page): Locator => page.locator('[data-status]');

/** The rows of the releases page's table. */
export const releaseRows = (page: Page): Locator => page.getByRole('grid', { name: 'Releases' }).locator('tbody tr');

/** The lines of the log, of one type if it is given. */
export const logLines = (page: Page, type?: Schemas['Event']['type']): Locator =>
  page.getByRole('log').locator(type ? `[data-type="${type}"]` : '[data-type]');

/** The color in which an element's text is drawn. */
export const color = (locator: Locator): Promise<string> => locator.evaluate((element) => getComputedStyle(element).color);
