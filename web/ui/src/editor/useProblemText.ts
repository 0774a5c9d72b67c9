import { useTranslation } from 'react-i18next';
import type { editor } from '../i18n/en/editor';
import type { Problem } from './check';

type Rule = keyof typeof editor.rules;

/** A record, so that it does not compile without every rule of the catalogue. */
const known: Record<Rule, true> = { mapping: true, type: true, enum: true, const: true, required: true, minimum: true, maximum: true, pattern: true, false: true };

type Type = keyof typeof editor.types;

const types: Record<Type, true> = { array: true, boolean: true, integer: true, null: true, number: true, object: true, string: true };

const isType = (type: string): type is Type => Object.hasOwn(types, type);

const isKnown = (rule: string): rule is Rule => Object.hasOwn(known, rule);

/** Describes a problem of the values; an unknown rule in the words of the validator or parser. */
export function useProblemText(): (problem: Problem) => string {
  const { t } = useTranslation('editor');
  return ({ rule, path = '', allowed = '', message }) => {
    if (!isKnown(rule)) {
      return message;
    }
    switch (rule) {
      case 'type':
        allowed = allowed
          .split(', ')
          .map((type) => (isType(type) ? t(`types.${type}`) : type))
          .join(t('or'));
        break;
      case 'required':
        allowed = allowed
          .split(', ')
          .map((key) => (path ? `${path}.${key}` : key))
          .join(', ');
        break;
    }
    return t(`rules.${rule}`, { path: path || t('top'), allowed });
  };
}
