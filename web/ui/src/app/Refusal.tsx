import { Alert, AlertActionLink } from '@patternfly/react-core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { pageAddress } from '../api/base';
import type { ApiError } from '../api/client';
import { ErrorWords } from './ErrorWords';
import { paths, type ReleaseRef } from './paths';
import { useProblemTitle } from './useProblemTitle';

interface RefusalProps {
  error: ApiError;
  /** The release of the request; the operation that blocks it is linked. */
  release?: ReleaseRef;
  children?: ReactNode;
}

/** Shows next to a form or button that the server refused its request. */
export function Refusal({ error, release, children }: RefusalProps) {
  const { t } = useTranslation('common');
  const problemTitle = useProblemTitle();
  const navigate = useNavigate();
  const running = error.details.sessionId;
  return (
    <Alert
      isInline
      variant="danger"
      title={problemTitle(error.code)}
      actionLinks={
        release &&
        running && (
          <AlertActionLink
            component="a"
            href={pageAddress(paths.events(release, running))}
            onClick={(event) => {
              event.preventDefault();
              void navigate(paths.events(release, running));
            }}
          >
            {t('watchRunning')}
          </AlertActionLink>
        )
      }
    >
      <ErrorWords error={error} />
      {error.code === 'unreachable_cluster' && ` ${t('problem.unreachableClusterBody')}`}
      {children}
    </Alert>
  );
}
