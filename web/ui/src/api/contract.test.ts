import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { catalogue as en } from '../i18n/en';
import { server } from '../i18n/zh';
import { EVENT_TYPES } from '../session/events';
import type { Cause } from '../session/events';
import type { ErrorCode, Schemas } from './client';

interface Schema {
  enum?: string[];
  properties?: Record<string, Schema>;
  discriminator?: { mapping: Record<string, string> };
}

const { schemas } = (parse(readFileSync(path.join(import.meta.dirname, '../../../../docs/openapi.yaml'), 'utf8')) as { components: { schemas: Record<string, Schema> } }).components;

/** Returns the values of an enum of docs/openapi.yaml. Throws if there are none. */
function words<Word extends string>(schema?: Schema): Word[] {
  if (!schema?.enum?.length) {
    throw new Error('no enum of this name in docs/openapi.yaml');
  }
  return schema.enum as Word[];
}

const errorCodes = words<ErrorCode>(schemas['Error']?.properties?.['code']);

test('the pages listen for every event type of docs/openapi.yaml, and for no other', () => {
  expect([...EVENT_TYPES].sort()).toEqual(Object.keys(schemas['Event']?.discriminator?.mapping ?? {}).sort());
});

test('every error code of docs/openapi.yaml has a title, and no title is left over', () => {
  // The others belong to the pages: no answer at all, and sentences below a title.
  const own = ['unreachable', 'unreachableBody', 'unreachableClusterBody', 'stale', 'retried'];
  expect(Object.keys(en.common.problem).sort()).toEqual([...errorCodes, ...own].sort());
});

test('every error code has a sentence in Chinese', () => {
  const sentences = errorCodes.map((code) => server.error({ code, details: {} }, (time) => time));
  expect(sentences.filter((sentence) => !/\p{Script=Han}/u.test(sentence))).toEqual([]);
});

test('every problem of a cause has a sentence in Chinese', () => {
  const object = { kind: 'Pod', name: 'web' };
  const unsaid = words<NonNullable<Cause['problem']>>(schemas['Problem']).filter((problem) => !server.cause({ object, problem, reason: '' })?.includes('Pod web'));
  expect(unsaid).toEqual([]);
});

test('every anomaly of a revision has a sentence in Chinese', () => {
  const codes = words<Schemas['Anomaly']['code']>(schemas['Anomaly']?.properties?.['code']);
  expect(codes.filter((code) => !server.anomaly(code))).toEqual([]);
});

test('every code of a note and of another attempt has a sentence in Chinese', () => {
  expect(words<Schemas['NoteCode']>(schemas['NoteCode']).filter((code) => !server.note({ code }))).toEqual([]);
  expect(words<Schemas['RetryCode']>(schemas['RetryCode']).filter((code) => !server.retry(code))).toEqual([]);
});
