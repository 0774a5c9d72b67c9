import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Fails without Chinese fonts: every page has a word of Chinese. */
export default async function fonts(): Promise<void> {
  const { stdout } = await promisify(execFile)('fc-list', [':lang=zh-cn', 'family']);
  if (stdout.trim() === '') {
    throw new Error('The pictures show Chinese, for which this machine has no font: install one (Debian, Ubuntu: apt-get install fonts-wqy-zenhei).');
  }
}
