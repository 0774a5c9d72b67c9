import { expect, test } from 'vitest';
import { catalogue as en } from './en';
import { catalogue as zh } from './zh';

type Tree = { readonly [key: string]: string | Tree };

function flatten(tree: Tree, prefix = ''): [string, string][] {
  return Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string' ? [[prefix + key, value]] : flatten(value, `${prefix}${key}.`),
  );
}

const english = flatten(en);
const chinese = new Map(flatten(zh));
const placeholders = (text: string) => [...text.matchAll(/{{(\w+)}}/g)].map((match) => match[1]).sort();

test('the Chinese catalogue has exactly the English keys', () => {
  const wanted = english.map(([key]) => key).filter((key) => !key.endsWith('_one'));
  expect([...chinese.keys()].sort()).toEqual(wanted.sort());
});

test('a translation has the same placeholders', () => {
  for (const [key, text] of english) {
    const translated = chinese.get(key);
    if (translated !== undefined) {
      expect({ key, values: placeholders(translated) }).toEqual({ key, values: placeholders(text) });
    }
  }
});

test('no text is empty', () => {
  expect([...english, ...chinese].filter(([, text]) => text.trim() === '')).toEqual([]);
});
