import { EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter, PageSection } from '@patternfly/react-core';
import { SearchIcon } from '@patternfly/react-icons';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../../app/ButtonLink';
import { paths, type ReleaseRef } from '../../app/paths';

/** Shown if no session is running, or if the URL names an unknown session. */
export function NoSession({ release: { cluster, namespace, name } }: { release: ReleaseRef }) {
  const { t } = useTranslation(['events', 'common']);
  return (
    <PageSection isFilled>
      <EmptyState titleText={t('noSession.title')} headingLevel="h1" icon={SearchIcon} variant="lg">
        <EmptyStateBody>{t('noSession.body', { name })}</EmptyStateBody>
        <EmptyStateFooter>
          <EmptyStateActions>
            <ButtonLink variant="primary" to={paths.release({ cluster, namespace, name })}>
              {t('viewRelease')}
            </ButtonLink>
            <ButtonLink variant="link" to={paths.releases(cluster)}>
              {t('common:backToReleases')}
            </ButtonLink>
          </EmptyStateActions>
        </EmptyStateFooter>
      </EmptyState>
    </PageSection>
  );
}
