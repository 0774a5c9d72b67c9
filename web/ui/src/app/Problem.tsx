import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter, PageSection, Stack, StackItem } from '@patternfly/react-core';
import { useEffect, useEffectEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, isPassing } from '../api/client';
import { ErrorWords } from './ErrorWords';
import { MissingRight } from './MissingRight';
import { useProblemTitle } from './useProblemTitle';

/** Trouble that may pass by itself is looked at again this often. */
const RETRY_MS = 10_000;

interface ProblemProps {
  error: Error;
  onRetry?: () => void;
  /** Something else follows below when it is not. */
  isFilled?: boolean;
  /** Ways onward. */
  children?: ReactNode;
}

/**
 * A whole page, or a page's body, that could not be shown: what is wrong, and
 * what to do about it. It tries again by itself where
 * that may help.
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
