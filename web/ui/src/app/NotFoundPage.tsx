import { EmptyState, EmptyStateActions, EmptyStateFooter, PageSection } from '@patternfly/react-core';
import { SearchIcon } from '@patternfly/react-icons';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from './ButtonLink';
import { paths } from './paths';

export function NotFoundPage() {
  const { t } = useTranslation('common');
  return (
    <PageSection isFilled>
      <title>{`${t('noSuchPage')} – helmtrail`}</title>
      <EmptyState titleText={t('noSuchPage')} headingLevel="h1" icon={SearchIcon} variant="lg">
        <EmptyStateFooter>
          <EmptyStateActions>
            <ButtonLink variant="primary" to={paths.releases()}>
              {t('backToReleases')}
            </ButtonLink>
          </EmptyStateActions>
        </EmptyStateFooter>
      </EmptyState>
    </PageSection>
  );
}
