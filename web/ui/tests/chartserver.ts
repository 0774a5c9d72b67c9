import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server as HTTPServer } from 'node:http';
import { createServer as createTLSServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** Reads a key or certificate of the dev cluster, which are valid for this machine. */
const pki = (file: string) => readFile(path.join(path.dirname(process.env['KUBECONFIG'] ?? ''), 'pki', file));

/** The path of the authority that has signed an https:// server's certificate. */
export const authorityFile = () => path.join(path.dirname(process.env['KUBECONFIG'] ?? ''), 'pki', 'ca.crt');

/** What a chart server serves, and to whom. */
interface Charts {
  /** The chart's name, its version and its archive. */
  name: string;
  version: string;
  archive: Buffer;
  tls?: boolean;
  login?: { username: string; password: string };
}

/**
 * Serves one chart: as a repository at /charts and, for pulling, as an OCI registry
 * in team/.
 */
export class ChartServer {
  private constructor(
    private readonly server: HTTPServer,
    /** Its host and port. */
    readonly host: string,
  ) {}

  static async start(charts: Charts): Promise<ChartServer> {
    const listener = answering(charts);
    const server = charts.tls
      ? createTLSServer({ key: await pki('kube-apiserver.key'), cert: await pki('kube-apiserver.crt') }, listener)
      : createServer(listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ChartServer(server, `127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

function answering({ name, version, archive, login }: Charts): RequestListener {
  const blobs = new Map<string, Buffer>();
  const store = (mediaType: string, data: Buffer) => {
    const digest = `sha256:${createHash('sha256').update(data).digest('hex')}`;
    blobs.set(digest, data);
    return { mediaType, digest, size: data.length };
  };
  const manifest = store(
    MANIFEST,
    Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: store('application/vnd.cncf.helm.config.v1+json', Buffer.from(JSON.stringify({ apiVersion: 'v2', name, version }))),
        layers: [store('application/vnd.cncf.helm.chart.content.v1.tar+gzip', archive)],
      }),
    ),
  );
  const index = `apiVersion: v1\nentries:\n  ${name}:\n  - {apiVersion: v2, name: ${name}, version: ${version}, urls: [${name}-${version}.tgz]}\n`;
  const files: Record<string, string | Buffer> = {
    '/charts/index.yaml': index,
    [`/charts/${name}-${version}.tgz`]: archive,
    '/v2/': '',
    [`/v2/team/${name}/tags/list`]: JSON.stringify({ name: `team/${name}`, tags: [version] }),
  };
  const oci = new RegExp(`^/v2/team/${name}/(manifests|blobs)/(.+)$`);
  return (asked, answer) => {
    if (login && !knows(asked, login)) {
      answer.writeHead(401, { 'WWW-Authenticate': 'Basic realm="charts"' }).end();
      return;
    }
    const [, kind, reference = ''] = oci.exec(asked.url ?? '') ?? [];
    const digest = reference === version ? manifest.digest : reference;
    const found = kind ? blobs.get(digest) : files[asked.url ?? ''];
    if (found === undefined) {
      answer.writeHead(404).end();
      return;
    }
    answer.writeHead(200, {
      'Content-Length': Buffer.byteLength(found),
      ...(kind && { 'Content-Type': kind === 'manifests' ? MANIFEST : 'application/octet-stream', 'Docker-Content-Digest': digest }),
    });
    answer.end(asked.method === 'HEAD' ? undefined : found);
  };
}

const knows = ({ headers }: IncomingMessage, { username, password }: NonNullable<Charts['login']>) =>
  headers.authorization === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
