import { Alert } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client';
import { ErrorWords } from './ErrorWords';
import { useProblemTitle } from './useProblemTitle';

/** Says that what is shown may be old, since it cannot be read anew at the moment. */
export function Stale({ error }: { error: Error }) {
  const { t } = useTranslation('common');
  const problemTitle = useProblemTitle();
  return (
    <Alert isInline variant="warning" title={`${problemTitle(error instanceof ApiError ? error.code : 'internal')}: ${t('problem.stale')}`}>
      <ErrorWords error={error} />
    </Alert>
  );
}
