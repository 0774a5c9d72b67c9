import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { end, program, start } from './programs';
import { Server } from './server';

/**
 * Starts a dev cluster, or uses the one of $HELMTRAIL_TEST_KUBECONFIG, and a
 * helmtrail server for it. Returns a function that stops them.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'helmtrail-ui-'));
  let cluster: ChildProcess | null = null;
  let server: Server | null = null;
  const stop = async () => {
    await server?.stop();
    if (cluster) {
      await end(cluster);
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    let kubeconfig = process.env['HELMTRAIL_TEST_KUBECONFIG'];
    if (!kubeconfig) {
      const up = await start('devcluster', ['up', '--dir', path.join(folder, 'cluster')], /^ready (.+)$/m, path.join(folder, 'devcluster.log'));
      cluster = up.child;
      kubeconfig = up.said;
    }
    server = await Server.start(kubeconfig);
    process.env['HELMTRAIL_TEST_URL'] = server.url;
    process.env['HELMTRAIL_TEST_HELM'] = await program('helm4');
    process.env['KUBECONFIG'] = kubeconfig;
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}
