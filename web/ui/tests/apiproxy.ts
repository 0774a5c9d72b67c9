import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { apiServer } from './cluster';

/** A proxy to the API server that answers single requests with a conflict. */
export class ApiProxy {
  #api = apiServer();
  #server: Server;
  #conflicts: { method: string; path: string }[] = [];

  private constructor(readonly kubeconfig: string) {
    this.#server = createServer((asked, answer) => {
      this.#handle(asked, answer);
    });
  }

  /** Starts a proxy and writes a kubeconfig that uses it. */
  static async start(kubeconfig: string): Promise<ApiProxy> {
    const proxy = new ApiProxy(kubeconfig);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    const server = `http://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`;
    const named = { name: 'proxied' };
    await writeFile(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'proxied',
        contexts: [{ ...named, context: { cluster: 'proxied', user: 'proxied' } }],
        clusters: [{ ...named, cluster: { server } }],
        users: [{ ...named, user: {} }],
      }),
    );
    return proxy;
  }

  /** Answers the next request of a method to a path with this suffix with a conflict. */
  refuse(method: string, path: string): void {
    this.#conflicts.push({ method, path });
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    this.#api.agent.destroy();
  }

  #handle(asked: IncomingMessage, answer: ServerResponse): void {
    const { pathname } = new URL(asked.url ?? '/', this.#api.url);
    const at = this.#conflicts.findIndex(({ method, path }) => method === asked.method && pathname.endsWith(path));
    if (at >= 0) {
      this.#conflicts.splice(at, 1);
      answer.writeHead(409, { 'Content-Type': 'application/json' }).end(
        JSON.stringify({
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          reason: 'Conflict',
          code: 409,
          message:
            'Operation cannot be fulfilled on resourcequotas "team": the object has been modified; please apply your changes to the latest version and try again',
        }),
      );
      return;
    }
    const onward = request(
      new URL(asked.url ?? '/', this.#api.url),
      // Each watch holds a connection.
      { method: asked.method, headers: { ...asked.headers, host: this.#api.url.host }, agent: this.#api.agent },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        answer.flushHeaders();
        response.pipe(answer);
      },
    );
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    asked.pipe(onward);
  }
}
