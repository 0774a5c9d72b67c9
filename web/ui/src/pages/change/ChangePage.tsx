import { PageSection, Skeleton, Stack, StackItem, Tab, TabContentBody, Tabs, TabTitleText, Title } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { useParams, useSearchParams } from 'react-router';
import { useRelease } from '../../api/release';
import { useClusters } from '../../api/releases';
import { ButtonLink } from '../../app/ButtonLink';
import { paths } from '../../app/paths';
import { Problem } from '../../app/Problem';
import { ReleaseTrail } from '../../app/ReleaseTrail';
import { RollbackForm } from './RollbackForm';
import { UpgradeForm } from './UpgradeForm';

/** The upgrade form or, if the URL names a revision (`to`), the rollback form. */
export function ChangePage() {
  const { t } = useTranslation(['change', 'common']);
  const { cluster = '', namespace = '', name = '' } = useParams();
  const [search, setSearch] = useSearchParams();
  const release = { cluster, namespace, name };
  const { data, error, refetch } = useRelease(release);
  const helmVersion = useClusters().data?.find(({ id }) => id === cluster)?.helmVersion;
  const to = search.get('to');
  const title = t('title', { name });
  if (error && !data) {
    return (
      <Problem error={error} onRetry={() => void refetch()}>
        <ButtonLink variant="link" to={paths.releases(cluster)}>
          {t('common:backToReleases')}
        </ButtonLink>
      </Problem>
    );
  }
  return (
    <>
      <title>{`${title} – helmtrail`}</title>
      <PageSection>
        <Stack hasGutter>
          <StackItem>
            <ReleaseTrail release={release} here={t('here')} />
          </StackItem>
          <StackItem>
            <Title headingLevel="h1" style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Title>
          </StackItem>
        </Stack>
      </PageSection>
      <PageSection isFilled aria-label={title}>
        {data ? (
          <Tabs
            activeKey={to === null ? 'upgrade' : 'rollback'}
            mountOnEnter
            unmountOnExit
            aria-label={title}
            onSelect={(_, tab) => {
              setSearch(tab === 'rollback' ? { to: String(Math.max(1, data.revision - 1)) } : {}, { replace: true });
            }}
          >
            <Tab eventKey="upgrade" title={<TabTitleText>{t('upgrade')}</TabTitleText>}>
              {/* The form starts from the newest revision at the time when the page was opened. */}
              <TabContentBody hasPadding>
                <UpgradeForm release={data} helmVersion={helmVersion} />
              </TabContentBody>
            </Tab>
            <Tab eventKey="rollback" title={<TabTitleText>{t('rollback')}</TabTitleText>}>
              <TabContentBody hasPadding>
                <RollbackForm
                  release={data}
                  helmVersion={helmVersion}
                  to={Number(to)}
                  onTo={(revision) => {
                    setSearch({ to: String(revision) }, { replace: true });
                  }}
                />
              </TabContentBody>
            </Tab>
          </Tabs>
        ) : (
          <Skeleton height="24rem" />
        )}
      </PageSection>
    </>
  );
}
