import { Alert } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client';
import { ErrorWords } from './ErrorWords';
import { useProblemTitle } from './useProblemTitle';

/** Warns that the data shown may be out of date because it cannot be read at the moment. */
export function Stale({ error }: { error: Error }) {
  const { t } = useTranslation('common');
  const problemTitle = useProblemTitle();
  return (
    <Alert isInline variant="warning" title={t('colon', { before: problemTitle(error instanceof ApiError ? error.code : 'internal'), after: t('problem.stale') })}>
      <ErrorWords error={error} />
    </Alert>
  );
}
