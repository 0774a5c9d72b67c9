import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client';
import { formatMoment } from '../i18n/format';
import { useServerWords } from '../i18n/serverWords';

/** What went wrong: the server's own message or, in another language, its translation. The message is quoted where it says more. */
export function ErrorWords({ error }: { error: Error }) {
  const { t, i18n } = useTranslation('common');
  const words = useServerWords();
  if (!(error instanceof ApiError)) {
    return error.message;
  }
  if (error.code === 'unreachable') {
    return t('problem.unreachableBody');
  }
  if (!words) {
    return error.message;
  }
  const moment = (time: string) => formatMoment(Date.parse(time), i18n.language);
  return (
    <>
      {words.error(error, moment)}
      {words.quotes(error.code) && (
        <>
          {' '}
          {words.quoted}：<q lang="en">{error.message}</q>
        </>
      )}
    </>
  );
}
