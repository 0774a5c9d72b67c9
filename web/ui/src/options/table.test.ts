import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { HELM_OPTIONS } from './generated';
import { choose, flagOf, hasOption, NOT_IN_FORMS, OPTIONS, type Option, type OptionName } from './table';

const option = (since?: Option['since']) => ({ since }) as Option;

test('an option is available from its first Helm version on', () => {
  expect(hasOption(option(), 'v3.13.0')).toBe(true);
  expect(hasOption(option('3.17'), 'v3.16.4')).toBe(false);
  expect(hasOption(option('3.17'), 'v3.17.0')).toBe(true);
  expect(hasOption(option('3.17'), 'v4.0.1')).toBe(true);
  expect(hasOption(option('4.0'), 'v3.22.0')).toBe(false);
  expect(hasOption(option('4.0'), '4.3.2')).toBe(true);
  expect(hasOption(option('4.0'), undefined)).toBe(true);
});

test('choosing an option unsets what Helm refuses with it and sets what it needs', () => {
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

test('operations, versions and flags of the options are those of docs/options.md', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../../docs/options.md'), 'utf8');
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  for (const option of OPTIONS) {
    const { name, operations, since } = option;
    for (const operation of operations) {
      const row = rows.find(([, field, , of]) => field === `\`${name}\`` && (of === 'all' || of?.split(', ').includes(operation)));
      const helm3 = row?.[4];
      const first = helm3 === 'no' ? '4.0' : /\((3\.\d+)\)$/.exec(helm3 ?? '')?.[1];
      expect({ name, operation, since: first }, 'in the docs').toEqual({ name, operation, since });
      const flagIn = (cell = '') => /^`(--[a-z0-9-]+)`/.exec(cell)?.[1];
      const flags = [flagOf(option, 'v3.22.0'), flagOf(option, 'v4.3.2')];
      expect({ name, operation, flags: [flagIn(helm3) ?? flagIn(row?.[5]), flagIn(row?.[5])] }, 'in the docs').toEqual({ name, operation, flags });
    }
  }
});

test('every option of Helm is in the forms or left out on purpose', () => {
  const known = [...OPTIONS.map(({ name }) => name as string), ...NOT_IN_FORMS].sort();
  expect(known).toEqual([...new Set<string>(HELM_OPTIONS.map(({ name }) => name))].sort());
});
