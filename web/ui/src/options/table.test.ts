import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { hasOption, OPTIONS, type Option } from './table';

const option = (since?: Option['since']) => ({ since }) as Option;

test('an option is there from the helm on that brought it', () => {
  expect(hasOption(option(), 'v3.13.0')).toBe(true);
  expect(hasOption(option('3.17'), 'v3.16.4')).toBe(false);
  expect(hasOption(option('3.17'), 'v3.17.0')).toBe(true);
  expect(hasOption(option('3.17'), 'v4.0.1')).toBe(true);
  expect(hasOption(option('4.0'), 'v3.22.0')).toBe(false);
  expect(hasOption(option('4.0'), '4.3.2')).toBe(true);
  expect(hasOption(option('4.0'), undefined)).toBe(true);
});

test('the forms say of each option what docs/options.md says', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../../docs/options.md'), 'utf8');
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  for (const { name, operations, since } of OPTIONS) {
    for (const operation of operations) {
      const row = rows.find(([, field, , of]) => field === `\`${name}\`` && (of === 'all' || of?.split(', ').includes(operation)));
      const helm3 = row?.[4];
      const first = helm3 === 'no' ? '4.0' : /\((3\.\d+)\)$/.exec(helm3 ?? '')?.[1];
      expect({ name, operation, since: first }, 'in the docs').toEqual({ name, operation, since });
    }
  }
});
