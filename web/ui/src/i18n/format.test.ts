import { expect, test } from 'vitest';
import { preferredLanguage } from '.';
import { formatAgo, formatDuration } from './format';

test.each([
  [0, 'en', '0s'],
  [0.999, 'en', '0s'],
  [12.9, 'en', '12s'],
  [72, 'en', '1m 12s'],
  [300, 'en', '5m'],
  [3605, 'en', '1h 5s'],
  [-1, 'en', '0s'],
  [72, 'zh', '1分钟12秒'],
])('%d seconds in %s are %s', (seconds, language, expected) => {
  expect(formatDuration(seconds, language)).toBe(expected);
});

test.each([
  [0, 'en', 'now'],
  [-5, 'en', 'now'],
  [9, 'en', 'now'],
  [19, 'en', '10 seconds ago'],
  [60, 'en', '1 minute ago'],
  [3 * 3600, 'en', '3 hours ago'],
  [86_400, 'en', 'yesterday'],
  [3 * 3600, 'zh', '3小时前'],
])('%d seconds ago in %s is %s', (seconds, language, expected) => {
  expect(formatAgo(1_000_000_000, 1_000_000_000 + seconds * 1000, language)).toBe(expected);
});

test.each([
  [['zh-CN', 'en'], 'zh'],
  [['zh-Hant-TW'], 'zh'],
  [['de', 'fr', 'en-GB', 'zh'], 'en'],
  [['de'], 'en'],
  [['', 'ZH'], 'zh'],
  [[], 'en'],
])('a preference for %j gives %s', (preferences, expected) => {
  expect(preferredLanguage(preferences)).toBe(expected);
});
