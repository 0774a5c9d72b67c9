import { useTranslation } from 'react-i18next';

/** Returns the title of an error code; an unknown code has the title of an internal error. */
export function useProblemTitle(): (code: string) => string {
  const { t, i18n } = useTranslation('common');
  return (code) => (i18n.exists(`common:problem.${code}`) ? t(`problem.${code}` as 'problem.internal') : t('problem.internal'));
}
