import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter, PageSection, Stack, StackItem } from '@patternfly/react-core';
import { useEffect, useEffectEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, isPassing } from '../api/client';
import { ErrorWords } from './ErrorWords';
import { MissingRight } from './MissingRight';
import { useProblemTitle } from './useProblemTitle';

/** How often a request that failed for a passing reason is retried. */
const RETRY_MS = 10_000;

interface ProblemProps {
  error: Error;
  onRetry?: () => void;
  /** False if something else follows below. */
  isFilled?: boolean;
  /** Further actions. */
  children?: ReactNode;
}

/**
 * Replaces a page or its body that could not be loaded: it shows the error and
 * what to do about it, and retries by itself where that may help.
 */
export function Problem({ error, onRetry, isFilled = true, children }: ProblemProps) {
  const { t } = useTranslation('common');
  const problemTitle = useProblemTitle();
  const code = error instanceof ApiError ? error.code : 'internal';
  const retried = isPassing(error) && onRetry !== undefined;
  const retry = useEffectEvent(() => onRetry?.());
  useEffect(() => {
    if (!retried) {
      return;
    }
    const timer = setInterval(() => retry(), RETRY_MS);
    return () => {
      clearInterval(timer);
    };
  }, [retried]);
  return (
    <PageSection isFilled={isFilled}>
      <EmptyState titleText={problemTitle(code)} headingLevel="h1" status="danger" variant="lg">
        <EmptyStateBody>
          <Stack hasGutter style={{ overflowWrap: 'anywhere' }}>
            <StackItem>
              <ErrorWords error={error} />
            </StackItem>
            {code === 'unreachable_cluster' && <StackItem>{t('problem.unreachableClusterBody')}</StackItem>}
            {code === 'forbidden' && error instanceof ApiError && (
              <StackItem>
                <MissingRight error={error} />
              </StackItem>
            )}
            {retried && <StackItem>{t('problem.retried')}</StackItem>}
          </Stack>
        </EmptyStateBody>
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
