import { Alert, Content, EmptyState, EmptyStateBody, Flex, PageSection, Skeleton, Stack, StackItem, Title } from '@patternfly/react-core';
import { CubesIcon } from '@patternfly/react-icons';
import { useTranslation } from 'react-i18next';
import { Link, Navigate, useParams } from 'react-router';
import { ApiError, isPassing } from '../../api/client';
import { useAllReleases, useClusters, useReleases, type Cluster } from '../../api/releases';
import { ButtonLink } from '../../app/ButtonLink';
import { ErrorWords } from '../../app/ErrorWords';
import { paths } from '../../app/paths';
import { Problem } from '../../app/Problem';
import { Stale } from '../../app/Stale';
import { useProblemTitle } from '../../app/useProblemTitle';
import { ReleaseList } from './ReleaseList';

/** The live list of a cluster's releases. Without a cluster in the URL, those of all clusters or of the only one. */
export function ReleasesPage() {
  const { t } = useTranslation('releases');
  const { cluster, namespace } = useParams();
  const clusters = useClusters();
  const [first, second] = clusters.data ?? [];
  if (cluster !== undefined) {
    // Each URL has a list of its own, without the previous filter and page.
    return <ClusterReleases key={`${cluster}/${namespace ?? ''}`} id={cluster} namespace={namespace} clusters={clusters.data ?? []} lost={clusters.error} />;
  }
  if (first && second) {
    return <AllReleases clusters={clusters.data ?? []} />;
  }
  if (first) {
    return <Navigate to={paths.releases(first.id)} replace />;
  }
  if (clusters.error) {
    return <Problem error={clusters.error} onRetry={() => void clusters.refetch()} />;
  }
  if (clusters.isPending) {
    return <Loading />;
  }
  return (
    <PageSection isFilled>
      <EmptyState titleText={t('empty.noClusters')} headingLevel="h1" icon={CubesIcon}>
        <EmptyStateBody>{t('empty.noClustersBody')}</EmptyStateBody>
      </EmptyState>
    </PageSection>
  );
}

interface ClusterReleasesProps {
  id: string;
  namespace?: string;
  clusters: Cluster[];
  /** The latest error of the server, if any. The list itself is not polled. */
  lost: Error | null;
}

function ClusterReleases({ id, namespace, clusters, lost }: ClusterReleasesProps) {
  const { t } = useTranslation(['releases', 'common']);
  const { data, error, refetch, unlive } = useReleases(id, namespace);
  const stale = error ?? lost;
  const cluster = clusters.find((c) => c.id === id);
  // Before the first sync an empty list does not mean that there are no releases.
  const shown = data && (data.items.length > 0 || cluster?.synced !== false) ? data.items : null;
  const title = namespace === undefined ? t('title') : t('titleIn', { namespace });
  if (error && (!data || !isPassing(error))) {
    return (
      <>
        <title>{`${title} – helmtrail`}</title>
        <Problem error={error} onRetry={() => void refetch()}>
          <ButtonLink variant="link" to={paths.releases()}>
            {t(clusters.length > 1 ? 'allClusters' : 'common:backToReleases')}
          </ButtonLink>
        </Problem>
      </>
    );
  }
  return (
    <>
      <title>{`${title} – helmtrail`}</title>
      <PageSection>
        <Stack hasGutter>
          <StackItem>
            <Flex justifyContent={{ default: 'justifyContentSpaceBetween' }}>
              <Title headingLevel="h1">{title}</Title>
              <ButtonLink variant="primary" to={paths.install(id, namespace)}>
                {t('install')}
              </ButtonLink>
            </Flex>
            {namespace !== undefined && (
              <Content component="small">
                <Link to={paths.releases(id)}>{t('allNamespaces')}</Link>
              </Content>
            )}
          </StackItem>
          {cluster && !cluster.reachable && (
            <Alert isInline variant="warning" title={t('clusterProblem')}>
              {cluster.problem}
            </Alert>
          )}
          {cluster?.reachable && !cluster.synced && <Alert isInline variant="info" title={t('syncing')} />}
          {unlive && (
            <Alert isInline variant="info" title={t('live.off')}>
              {t('live.offBody')} <ErrorWords error={unlive} />
            </Alert>
          )}
          {stale && <Stale error={stale} />}
        </Stack>
      </PageSection>
      <PageSection isFilled aria-label={title}>
        {shown ? <ReleaseList releases={shown} clusters={clusters} cluster={id} namespace={namespace} /> : <Rows />}
      </PageSection>
    </>
  );
}

function AllReleases({ clusters }: { clusters: readonly Cluster[] }) {
  const { t } = useTranslation(['releases', 'common']);
  const problemTitle = useProblemTitle();
  const lists = useAllReleases(clusters);
  const known = lists.some(({ releases, cluster }) => releases && cluster.synced);
  const settled = lists.every(({ releases, error }) => releases ?? error);
  return (
    <>
      <title>{`${t('titleAll')} – helmtrail`}</title>
      <PageSection>
        <Stack hasGutter>
          <StackItem>
            <Title headingLevel="h1">{t('titleAll')}</Title>
          </StackItem>
          {lists.map(
            ({ cluster: { id, problem }, error }) =>
              error && (
                <StackItem key={id}>
                  <Alert isInline variant="warning" title={t('common:colon', { before: id, after: problemTitle(error instanceof ApiError ? error.code : 'internal') })}>
                    {problem ?? <ErrorWords error={error} />}
                  </Alert>
                </StackItem>
              ),
          )}
        </Stack>
      </PageSection>
      <PageSection isFilled aria-label={t('titleAll')}>
        {known || settled ? (
          <ReleaseList releases={lists.flatMap(({ releases }) => releases ?? [])} clusters={clusters} />
        ) : (
          <Rows />
        )}
      </PageSection>
    </>
  );
}

function Loading() {
  return (
    <PageSection isFilled>
      <Rows />
    </PageSection>
  );
}

/** A placeholder for the list. */
function Rows() {
  const { t } = useTranslation('common');
  return (
    <Stack hasGutter role="status" aria-label={t('loading')}>
      {Array.from({ length: 6 }, (_, i) => (
        <StackItem key={i}>
          <Skeleton height="2.5rem" />
        </StackItem>
      ))}
    </Stack>
  );
}
