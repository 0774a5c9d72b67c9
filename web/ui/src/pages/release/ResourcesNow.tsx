import { Skeleton, Stack, StackItem } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { useResources } from '../../api/release';
import type { ReleaseRef } from '../../app/paths';
import { Refusal } from '../../app/Refusal';
import { ApiError } from '../../api/client';
import { Causes } from '../../resources/Causes';
import { ResourcesSection } from '../../resources/ResourcesSection';
import { resourceKey } from '../../session/events';

/** The current state of the newest revision's objects, and why some are not ready. */
export function ResourcesNow({ release }: { release: ReleaseRef }) {
  const { t } = useTranslation('release');
  const { data, error } = useResources(release);
  if (!data) {
    return error instanceof ApiError ? <Refusal error={error} /> : <Skeleton height="12rem" />;
  }
  return (
    <Stack hasGutter>
      {data.summary.causes.length > 0 && (
        <StackItem>
          <Causes causes={data.summary.causes} />
        </StackItem>
      )}
      <StackItem>
        <ResourcesSection
          resources={new Map(data.resources.map((resource) => [resourceKey(resource), resource]))}
          summary={data.summary}
          namespace={release.namespace}
          empty={t('noResources')}
        />
      </StackItem>
    </Stack>
  );
}
