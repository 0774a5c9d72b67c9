import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { parse } from 'yaml';

interface Kubeconfig {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
}

const bytes = (base64: string) => Buffer.from(base64, 'base64');

/** The dev cluster's API server and an agent with an administrator's credentials. */
export function apiServer(): { url: URL; agent: Agent } {
  const { clusters, users } = parse(readFileSync(process.env['KUBECONFIG'] ?? '', 'utf8')) as Kubeconfig;
  const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
  const { 'client-certificate-data': cert, 'client-key-data': key } = users[0].user;
  return { url: new URL(server), agent: new Agent({ ca: bytes(ca), cert: bytes(cert), key: bytes(key), keepAlive: true }) };
}

let api: ReturnType<typeof apiServer> | undefined;

/** Sends a request to the API server as an administrator and returns the response. Throws if it is refused. */
export function kube<Answer = unknown>(method: string, path: string, body?: unknown): Promise<Answer> {
  api ??= apiServer();
  const { url, agent } = api;
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, agent, headers: { 'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if ((response.statusCode ?? 500) >= 300) {
          reject(new Error(`${method} ${path}: ${text}`));
        } else {
          resolve(JSON.parse(text) as Answer);
        }
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Creates a namespace. */
export const makeNamespace = (name: string) => kube('POST', '/api/v1/namespaces', { metadata: { name } });

/** Creates the Secret of a release's first revision, uncompressed, which Helm accepts. */
export function makeRelease(namespace: string, name: string, status = 'deployed') {
  const times = { first_deployed: '2026-11-01T10:00:00Z', last_deployed: '2026-11-01T10:00:00Z' };
  const record = {
    ...{ name, namespace, version: 1, manifest: '', config: {} },
    info: { status, description: 'Install complete', ...times },
    chart: { metadata: { name: 'web', version: '1.0.0', appVersion: '2026.1' } },
  };
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return kube('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    metadata: { name: `sh.helm.release.v1.${name}.v1`, labels: { owner: 'helm', name, version: '1', status } },
    type: 'helm.sh/release.v1',
    data: { release: base64(base64(JSON.stringify(record))) },
  });
}

/** Creates a service account and returns its user name and a token. */
export async function account(namespace: string, name: string): Promise<{ user: string; token: string }> {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await kube('POST', accounts, { metadata: { name } });
  const { status } = await kube<{ status: { token: string } }>('POST', `${accounts}/${name}/token`, { spec: { expirationSeconds: 3600 } });
  return { user: `system:serviceaccount:${namespace}:${name}`, token: status.token };
}

/** A rule of a role. */
export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

/** Grants a service account permissions in its own namespace. */
export async function allow(namespace: string, account: string, rules: Rule[]): Promise<void> {
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  await kube('POST', `${rbac}/roles`, { metadata: { name: account }, rules });
  await kube('POST', `${rbac}/rolebindings`, {
    metadata: { name: account },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
    subjects: [{ kind: 'ServiceAccount', namespace, name: account }],
  });
}

/** Writes a kubeconfig for an unreachable cluster called gone and returns its path. */
export async function deadKubeconfig(file: string): Promise<string> {
  const gone = { name: 'gone' };
  await writeFile(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'gone',
      contexts: [{ ...gone, context: { cluster: 'gone', user: 'gone' } }],
      clusters: [{ ...gone, cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ ...gone, user: { token: 'none' } }],
    }),
  );
  return file;
}
