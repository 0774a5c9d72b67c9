import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The folder with devcluster, helmtrail and helm4. */
const bin = path.resolve(process.env['HELMTRAIL_TEST_BIN'] ?? path.join(import.meta.dirname, '../../../bin'));

/** A cluster takes seconds to be ready; a busy machine takes longer. */
const READY_MS = 120_000;

/**
 * Starts what the tests look at, the real thing: a dev cluster (or takes the
 * one of $HELMTRAIL_TEST_KUBECONFIG) and a helmtrail that watches it. Returns
 * what stops them.
 */
export default async function setup(): Promise<() => Promise<void>> {
  for (const name of ['devcluster', 'helmtrail', 'helm4']) {
    await access(path.join(bin, name)).catch(() => {
      throw new Error(`${path.join(bin, name)} is missing: run make build, or set HELMTRAIL_TEST_BIN`);
    });
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'helmtrail-ui-'));
  const started: ChildProcess[] = [];
  const stop = async () => {
    for (const child of started.reverse()) {
      await end(child);
    }
    await rm(folder, { recursive: true, force: true });
  };
  const start = (name: string, args: string[], ready: RegExp) => {
    const child = spawn(path.join(bin, name), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    started.push(child);
    return awaitOutput(child, ready, path.join(folder, `${name}.log`));
  };
  try {
    let kubeconfig = process.env['HELMTRAIL_TEST_KUBECONFIG'];
    kubeconfig ??= await start('devcluster', ['up', '--dir', path.join(folder, 'cluster')], /^ready (.+)$/m);
    const url = await start(
      'helmtrail',
      [
        ['serve', '--listen', '127.0.0.1:0', '--drain', '1s'],
        ['--kubeconfig', kubeconfig],
        ['--helm', path.join(bin, 'helm4')],
        ['--data-dir', path.join(folder, 'data')],
        ['--chart-dir', path.resolve(process.env['HELMTRAIL_TEST_CHARTS'] ?? path.join(import.meta.dirname, 'charts'))],
      ].flat(),
      /(http:\/\/[^/\s]+)/,
    );
    process.env['HELMTRAIL_TEST_URL'] = url;
    process.env['HELMTRAIL_TEST_HELM'] = path.join(bin, 'helm4');
    process.env['KUBECONFIG'] = kubeconfig;
    await untilReady(url);
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

/** Waits until the process says it is ready; what it says goes to a file too. */
function awaitOutput(child: ChildProcess, ready: RegExp, logFile: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const log = createWriteStream(logFile);
    let said = '';
    const timer = setTimeout(() => {
      reject(new Error(`${child.spawnfile} was not ready in time; it said:\n${said}`));
    }, READY_MS);
    const listen = (chunk: Buffer) => {
      log.write(chunk);
      said = (said + chunk.toString()).slice(-10_000);
      const found = ready.exec(said)?.[1];
      if (found) {
        clearTimeout(timer);
        resolve(found);
      }
    };
    child.stdout?.on('data', listen);
    child.stderr?.on('data', listen);
    child.on('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`${child.spawnfile} ended with ${code}; it said:\n${said}`));
    });
  });
}

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline) {
    const response = await fetch(`${url}/readyz`).catch(() => null);
    if (response?.ok) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url}/readyz was not ready in time`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}
