import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { choose, hasOption, OPTIONS, type Option, type OptionName } from './table';

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

test('what helm refuses beside a choice goes, and what it needs comes', () => {
  const chosen = (helm: string, ...choices: [OptionName, string | boolean | undefined][]) =>
    choices.reduce((options, [name, value]) => {
      const found = OPTIONS.find((each) => each.name === name);
      return found ? choose(options, found, value, helm) : options;
    }, {});
  expect(chosen('v4.3.2', ['reuseValues', true], ['resetValues', true])).toEqual({ resetValues: true });
  expect(chosen('v4.3.2', ['forceReplace', true])).toEqual({ forceReplace: true, serverSide: 'false' });
  expect(chosen('v4.3.2', ['forceReplace', true], ['forceReplace', undefined])).toEqual({});
  expect(chosen('v4.3.2', ['forceReplace', true], ['forceConflicts', true])).toEqual({ forceConflicts: true });
  expect(chosen('v4.3.2', ['forceReplace', true], ['serverSide', 'true'])).toEqual({ serverSide: 'true' });
  expect(chosen('v4.3.2', ['forceConflicts', true], ['serverSide', 'false'])).toEqual({ serverSide: 'false' });
  expect(chosen('v3.22.0', ['forceReplace', true])).toEqual({ forceReplace: true });
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
