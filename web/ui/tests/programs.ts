import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';

/** The folder of devcluster, helmtrail and helm4. */
const bin = path.resolve(process.env['HELMTRAIL_TEST_BIN'] ?? path.join(import.meta.dirname, '../../../bin'));

/** The maximum time until a program is ready. */
export const READY_MS = 120_000;

/** Returns the path of a program. Throws if it was not built. */
export async function program(name: string): Promise<string> {
  const file = path.join(bin, name);
  await access(file).catch(() => {
    throw new Error(`${file} is missing: run make build, or set HELMTRAIL_TEST_BIN`);
  });
  return file;
}

/** A running program and the match of its ready message. */
export interface Started {
  child: ChildProcess;
  said: string;
}

/** Starts a program and waits for its ready message. Its output goes to a file. */
export async function start(name: string, args: string[], ready: RegExp, logFile: string): Promise<Started> {
  const child = spawn(await program(name), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  return new Promise((resolve, reject) => {
    const log = createWriteStream(logFile, { flags: 'a' });
    let said = '';
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${name} was not ready in time; it said:\n${said}`));
    }, READY_MS);
    const listen = (chunk: Buffer) => {
      log.write(chunk);
      said = (said + chunk.toString()).slice(-10_000);
      const found = ready.exec(said)?.[1];
      if (found) {
        clearTimeout(timer);
        resolve({ child, said: found });
      }
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.on('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`${name} ended with ${code}; it said:\n${said}`));
    });
  });
}

/** Stops a program and waits for its exit. */
export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}
