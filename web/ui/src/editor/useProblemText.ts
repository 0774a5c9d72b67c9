import { useTranslation } from 'react-i18next';
import type { editor } from '../i18n/en/editor';
import type { Problem } from './check';

type Rule = keyof typeof editor.rules;

/** A record, so that a rule that the catalogue has and this list lacks does not compile. */
const known: Record<Rule, true> = { mapping: true, type: true, enum: true, const: true, required: true, minimum: true, maximum: true, pattern: true, false: true };

const isKnown = (rule: string): rule is Rule => Object.hasOwn(known, rule);

/** Says what is wrong with values; what there are no words for, in the validator's or the parser's own. */
export function useProblemText(): (problem: Problem) => string {
  const { t } = useTranslation('editor');
  return ({ rule, allowed, message }) => (isKnown(rule) ? t(`rules.${rule}`, { allowed: allowed ?? '' }) : message);
}
