import { Alert, EmptyState, Spinner, Stack, StackItem, Title } from '@patternfly/react-core';
import { useEffect, useId, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiError } from '../api/client';
import type { Preview } from '../api/preview';
import type { ReleaseRef } from '../app/paths';
import { Refusal } from '../app/Refusal';
import { PreviewObjects } from './PreviewObjects';

interface PreviewSectionProps {
  release: ReleaseRef;
  /** The state of the dry run. */
  run: { isPending: boolean; error: ApiError | null; data?: Preview };
  /** Whether the form has changed since the dry run. */
  stale: boolean;
  /** Content above the objects. */
  children?: (preview: Preview) => ReactNode;
}

/** The preview of an operation below its form. It scrolls into view when it is ready. */
export function PreviewSection({ release, run, stale, children }: PreviewSectionProps) {
  const { t } = useTranslation('preview');
  const section = useRef<HTMLElement>(null);
  const heading = useId();
  const { isPending, error, data } = run;
  const asked = isPending || error !== null || data !== undefined;
  useEffect(() => {
    if (asked && !isPending) {
      section.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [asked, isPending]);
  if (!asked) {
    return null;
  }
  return (
    <section ref={section} aria-labelledby={heading} aria-busy={isPending}>
      <Stack hasGutter>
        <StackItem>
          <Title headingLevel="h2" id={heading}>
            {t('title')}
          </Title>
        </StackItem>
        {isPending && <EmptyState variant="sm" titleText={t('running')} headingLevel="h3" icon={Spinner} />}
        {!isPending && error && <Refusal error={error} release={release} />}
        {!isPending && data && (
          <>
            {stale && <Alert isInline variant="info" title={t('stale')} />}
            {data.manifest === null ? (
              <Failed preview={data} />
            ) : (
              <>
                {children?.(data)}
                <PreviewObjects key={data.session.id} preview={data} manifest={data.manifest} />
              </>
            )}
          </>
        )}
      </Stack>
    </section>
  );
}

/** Helm's error message. */
function Failed({ preview: { session } }: { preview: Preview }) {
  const { t } = useTranslation('preview');
  return (
    <Alert isInline variant="danger" title={t('failed')}>
      <span style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{session.end?.message ?? session.state}</span>
    </Alert>
  );
}
