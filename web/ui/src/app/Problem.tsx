import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter, PageSection } from '@patternfly/react-core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client';
import { useProblemTitle } from './useProblemTitle';

interface ProblemProps {
  error: Error;
  onRetry?: () => void;
  /** Ways onward. */
  children?: ReactNode;
}

/** A whole page, or a page's body, that could not be shown, with the server's own words. */
export function Problem({ error, onRetry, children }: ProblemProps) {
  const { t } = useTranslation('common');
  const problemTitle = useProblemTitle();
  const code = error instanceof ApiError ? error.code : 'internal';
  return (
    <PageSection isFilled>
      <EmptyState titleText={problemTitle(code)} headingLevel="h1" status="danger" variant="lg">
        <EmptyStateBody>{code === 'unreachable' ? t('problem.unreachableBody') : error.message}</EmptyStateBody>
        <EmptyStateFooter>
          <EmptyStateActions>
            {onRetry && (
              <Button variant="primary" onClick={onRetry}>
                {t('retry')}
              </Button>
            )}
            {children}
          </EmptyStateActions>
        </EmptyStateFooter>
      </EmptyState>
    </PageSection>
  );
}
