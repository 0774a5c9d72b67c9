import { useTranslation } from 'react-i18next';

/** Names the trouble that an error's code stands for; a code that is not known is trouble all the same. */
export function useProblemTitle(): (code: string) => string {
  const { t, i18n } = useTranslation('common');
  return (code) => (i18n.exists(`common:problem.${code}`) ? t(`problem.${code}` as 'problem.internal') : t('problem.internal'));
}
