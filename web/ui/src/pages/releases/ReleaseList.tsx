import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter, Pagination } from '@patternfly/react-core';
import { CubesIcon, SearchIcon } from '@patternfly/react-icons';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import type { Cluster, Release } from '../../api/releases';
import { readFilter, select, writeFilter, type Filter, type Sort } from './filter';
import { ReleaseTable } from './ReleaseTable';
import { ReleaseToolbar } from './ReleaseToolbar';

const PAGE = 50;

interface ReleaseListProps {
  releases: readonly Release[];
  clusters: readonly Cluster[];
  /** The cluster of the releases; undefined for all clusters. */
  cluster?: string;
  namespace?: string;
}

/** A list of releases with filter, sorting and paging. */
export function ReleaseList({ releases, clusters, cluster, namespace }: ReleaseListProps) {
  const { t } = useTranslation('releases');
  const [search, setSearch] = useSearchParams();
  const [sort, setSort] = useState<Sort>({ key: cluster === undefined ? 'cluster' : namespace === undefined ? 'namespace' : 'name', descending: false });
  const [page, setPage] = useState(1);
  const [perPage, setPerPage] = useState(PAGE);
  const filter = readFilter(search);
  const setFilter = (next: Filter) => {
    setPage(1);
    setSearch((before) => writeFilter(before, next), { replace: true });
  };
  const clear = () => {
    setFilter({ text: '', statuses: [] });
  };
  const found = select(releases, filter, sort);
  // The last page may disappear with its releases.
  const current = Math.min(page, Math.max(1, Math.ceil(found.length / perPage)));

  return (
    <>
      <ReleaseToolbar releases={releases} clusters={clusters} cluster={cluster} found={found.length} filter={filter} onFilter={setFilter} onClear={clear} />
      {found.length > 0 ? (
        <ReleaseTable
          releases={found.slice((current - 1) * perPage, current * perPage)}
          showCluster={cluster === undefined}
          showNamespace={namespace === undefined}
          sort={sort}
          onSort={setSort}
        />
      ) : releases.length > 0 ? (
        <EmptyState titleText={t('empty.filteredTitle')} headingLevel="h2" icon={SearchIcon}>
          <EmptyStateFooter>
            <EmptyStateActions>
              <Button variant="link" onClick={clear}>
                {t('filter.clear')}
              </Button>
            </EmptyStateActions>
          </EmptyStateFooter>
        </EmptyState>
      ) : (
        <EmptyState titleText={t('empty.title')} headingLevel="h2" icon={CubesIcon}>
          <EmptyStateBody>{t('empty.body')}</EmptyStateBody>
        </EmptyState>
      )}
      {found.length > PAGE && (
        <Pagination
          variant="bottom"
          itemCount={found.length}
          page={current}
          perPage={perPage}
          perPageOptions={[50, 100, 500].map((value) => ({ title: String(value), value }))}
          onSetPage={(_, next) => {
            setPage(next);
          }}
          onPerPageSelect={(_, next) => {
            setPerPage(next);
            setPage(1);
          }}
        />
      )}
    </>
  );
}
