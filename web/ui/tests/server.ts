import type { ChildProcess } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { end, program, READY_MS, start } from './programs';

/** A helmtrail server with its own temporary data folder. */
export class Server {
  #child: ChildProcess | null = null;
  /** Its URL without a path; a restart keeps it. */
  url = '';

  private constructor(
    private readonly folder: string,
    private readonly args: string[],
  ) {}

  /** Starts a server for the clusters of a kubeconfig and waits until it is ready. */
  static async start(kubeconfig: string, ...more: string[]): Promise<Server> {
    const folder = await mkdtemp(path.join(tmpdir(), 'helmtrail-ui-server-'));
    // Outside the checkout, whose path would appear in helm's output.
    const charts = path.join(folder, 'charts');
    await cp(process.env['HELMTRAIL_TEST_CHARTS'] ?? path.join(import.meta.dirname, 'charts'), charts, { recursive: true });
    const server = new Server(folder, [
      ...['serve', '--drain', '1s', '--kubeconfig', kubeconfig, '--helm', await program('helm4')],
      ...['--data-dir', path.join(folder, 'data')],
      ...['--chart-dir', charts],
      ...more,
    ]);
    await server.#serve('127.0.0.1:0').catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    return server;
  }

  /** Kills the server. A helm that it has started continues. */
  async kill(): Promise<void> {
    if (this.#child) {
      await end(this.#child, 'SIGKILL');
    }
  }

  /** Starts the server again at the same URL. */
  restart(): Promise<void> {
    return this.#serve(new URL(this.url).host);
  }

  /** Stops the server and removes its data. */
  async stop(): Promise<void> {
    if (this.#child) {
      await end(this.#child);
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  async #serve(listen: string): Promise<void> {
    const { child, said } = await start('helmtrail', [...this.args, '--listen', listen], /(http:\/\/[^/\s]+)/, path.join(this.folder, 'log'));
    this.#child = child;
    this.url = said;
    const deadline = Date.now() + READY_MS;
    while (!(await fetch(`${said}/readyz`).catch(() => null))?.ok) {
      if (Date.now() > deadline) {
        throw new Error(`${said}/readyz was not ready in time`);
      }
      await pause(100);
    }
  }
}
